"""Guards: whether a call is one that a graph was captured for.

A graph is captured for arguments of certain shapes, strides, dtypes and devices, for certain numbers and
strings, in a certain grad mode, and for surroundings (`environment.py`) as they were. The test of all of that
is written out as one function, since it runs before each call.
"""
from ..autograd.meta import tracks
from ..core import settings
from ..core.generated import function_from
from ..dispatch.state import state
from ..tensor import Tensor, storage_of, stride_of
from .capture import NotCapturable
from .environment import PLAIN


class Guards:
    """What must hold for a graph to serve a call.

    Attributes: conditions, [(text of a Python expression of `args` and `kwargs`, what it is about)]; source,
    the test.
    """

    def __init__(self, args, kwargs, environment, keeps_apart=False):
        self.environment = environment
        self.scope = {"Tensor": Tensor, "tracks": tracks, "state": state, "settings": settings,
                      "stride_of": stride_of,
                      "holds": environment.holds}
        self.conditions, self.paths, self.tensors = [], [], []
        self.global_state()
        self.container(args, "args", "the arguments")
        self.container(kwargs, "kwargs", "the keyword arguments")
        if keeps_apart:
            self.keep_apart()
        self.conditions += [(f"watch_{i}() == then_{i}", w.place) for i, w in enumerate(environment.watches)]
        for i, w in enumerate(environment.watches):
            self.scope[f"watch_{i}"], self.scope[f"then_{i}"] = w.now, w.then
        texts = " and\n            ".join([text for text, _ in self.conditions])
        self.check = function_from(f"def check(args, kwargs):\n    return ({texts})\n", "check", "guards",
                                   self.scope)
        inputs = "".join([f"{path}, " for path in self.paths])
        self.inputs = function_from(f"def inputs(args, kwargs):\n    return ({inputs})\n", "inputs",
                                    "graph inputs",
                                    self.scope)

    @property
    def source(self):
        """The text of the test."""
        return self.check.source

    def first_failure(self, args, kwargs):
        """What is not as it was, in words; None if the guards hold."""
        for text, place in self.conditions:
            if not eval(text, {**self.scope, "args": args, "kwargs": kwargs}):
                return self.environment.first_change() if text.startswith("watch_") else place
        return None

    # ---- what is tested ------------------------------------------------------------------------------------

    def add(self, text, place):
        self.conditions.append((text, place))

    def global_state(self):
        self.add(f"state.grad_enabled is {state.grad_enabled} and state.inference is {state.inference}",
                 "grad mode")
        self.add(f"state.included == {state.included} and state.excluded == {state.excluded}",
                 "a mode of the dispatcher, such as autocast")
        self.add("not state.function_modes and not state.dispatch_modes", "a mode that sees calls")
        self.scope["default_dtype"] = settings.default_dtype
        self.add("settings.default_dtype is default_dtype", "the default dtype")

    def container(self, value, path, place):
        """A tuple, list or dict, and all in it."""
        if isinstance(value, dict):
            self.add(f"list({path}) == {list(value)!r}", f"the keys of {place}") if value else \
                self.add(f"not {path}", place)
        else:
            self.add(f"len({path}) == {len(value)}", f"the number of {place}")
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            self.leaf(item, f"{path}[{key!r}]", f"{place}[{key!r}]" if path not in ("args", "kwargs") else
                      f"argument {key!r}")

    def leaf(self, value, path, place):
        if type(value) in (tuple, list, dict) or isinstance(value, tuple):
            name = self.bind(type(value))
            self.add(f"{path}.__class__ is {name}", f"the class of {place}")
            self.container(value, path, place)
        elif isinstance(value, Tensor):
            self.tensor(value, path, place)
        elif isinstance(value, PLAIN):
            name = self.bind(value)
            self.add(f"{path}.__class__ is {self.bind(type(value))} and {path} == {name}"
                     if value == value else f"{path} != {path}", f"the value of {place}")
        else:
            self.environment.visit(value, place, lambda: value)
            self.add(f"{path} is {self.bind(value)}", f"the identity of {place}")

    def tensor(self, t, path, place):
        """Metadata; an object given twice must be given twice again."""
        for i, other in enumerate(self.tensors):
            if other is t:
                self.add(f"{path} is {self.paths[i]}", f"that {place} is also another argument")
                return
        self.add(f"{path}.__class__ is {self.bind(type(t))}", f"the class of {place}")
        self.add(f"{path}._shape == {t._shape!r}", f"the shape of {place}")
        self.add(f"{path}._dtype is {self.bind(t._dtype)}", f"the dtype of {place}")
        self.add(f"stride_of({path}) == {stride_of(t)!r}", f"the strides of {place}")
        self.add(f"{path}._device == {self.bind(t._device)}", f"the device of {place}")
        self.add(f"tracks({path}) is {tracks(t)}", f"requires_grad of {place}")
        self.paths.append(path)
        self.tensors.append(t)

    def keep_apart(self):
        """The graph changes an argument: no two may share memory."""
        storages = [storage_of(t) for t in self.tensors]
        if len(set(map(id, storages))) < len(storages):
            raise NotCapturable("an argument is changed in place and shares memory with another")
        self.scope["storage_of"] = storage_of
        paths = ", ".join([f"id(storage_of({p}))" for p in self.paths])
        self.add(f"len({{{paths}}}) == {len(storages)}", "that arguments share no memory")

    def bind(self, value):
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name
