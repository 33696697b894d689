"""What a function reads besides its arguments, found in its bytecode: globals, closures, modules and their attributes.

A graph is right only while these are what they were when it was captured, so each becomes a Watch. What the
code does to its surroundings (a global or attribute assigned, something printed) cannot be in a graph:
NotCapturable, with the line.
"""
import builtins
import dis
import functools
import inspect
import linecache
import random
import sys
import types
from collections import deque

import numpy as np

from ..autograd.meta import tracks
from ..core.device import device as device_class
from ..core.dtype import dtype as dtype_class
from ..nn import Module
from ..optim import Optimizer
from ..tensor import Tensor, stride_of
from .capture import DoneAround, NotCapturable, is_plain
from .module_guards import ModulesWatch

PLAIN = (int, float, complex, str, bytes, bool, type(None), dtype_class, device_class, type(Ellipsis), range,
         slice)
DRAWING = (random.Random, np.random.Generator, np.random.RandomState)
BYTES_OF_ARRAY = 1 << 12                    # up to so many are compared before each call
SPEAKING = {"print", "input", "open", "exec", "eval", "breakpoint"}
OWN = __name__.partition(".")[0]
LIBRARIES = {OWN, "numpy", "numba", "math", "builtins", *sys.stdlib_module_names} - {"__main__"}


class Watch:
    """One thing to compare before a graph runs again: `now()` must be what it was.

    Args:
        place: what it is, in the user's words, such as "the global scale".
        now: a function that returns a value that compares with ==.
    """

    def __init__(self, place, now):
        self.place, self.now = place, now
        self.then = now()

    def holds(self):
        return self.now() == self.then

    def what_changed(self):
        return self.place


class WatchOfMany(Watch):
    """The same for a list, compared at one go; `places` says what each item is."""

    def __init__(self, place, places, now):
        super().__init__(place, now)
        self.places = places

    def what_changed(self):
        now = self.now()
        return next((p for p, a, b in zip(self.places, now, self.then) if a != b), self.place)


class Environment:
    """The surroundings of one function. `watches`; `tensors`: {id: tensor}; `modules`: those that were met."""

    def __init__(self):
        self.watches, self.tensors, self.modules = [], {}, []
        self.met = set()                    # ids of what was visited, which `kept` keeps alive
        self.kept = []
        self.has_changed = False            # whether the function changes what it reads
        self.containers = []                # (list or dict, what it held)

    def holds(self):
        return all(watch.holds() for watch in self.watches)

    def first_change(self):
        """The place of the first thing that is not what it was, None if all is."""
        return next((watch.what_changed() for watch in self.watches if not watch.holds()), None)

    def watch(self, place, now):
        self.watches.append(Watch(place, now))

    def put_back(self):
        """Give lists, dicts and objects what they held: a capture that comes to nothing must leave no trace."""
        for container, content in self.containers:
            if type(container) is list:
                container[:] = content
            elif isinstance(container, np.ndarray):
                container[...] = content
            elif isinstance(container, (set, deque)):
                container.clear()
                getattr(container, "update", getattr(container, "extend", None))(content)
            elif list(map(id, container.values())) != list(map(id, content.values())):
                container.clear()
                container.update(content)

    def is_new(self, thing):
        if id(thing) in self.met:
            return False
        self.met.add(id(thing))
        self.kept.append(thing)
        return True

    # ---- values --------------------------------------------------------------------------------------------

    def visit(self, value, place, read):
        """Watch a value that the function reads. `read()` reads it again."""
        if isinstance(value, PLAIN):
            self.watch(place, lambda: (type(v := read()), v))
        elif type(value) in (tuple, list):
            if type(value) is list:
                self.containers.append((value, list(value)))
            self.watch(f"the length of {place}", lambda: size_of(read()))
            for i, item in enumerate(value):
                self.visit(item, f"{place}[{i}]", lambda i=i: read()[i])
        elif isinstance(value, dict) and is_of_library(type(value)):
            self.containers.append((value, dict(value)))
            self.watch(f"the keys of {place}", lambda: list(read()))
            for key, item in value.items():
                self.visit(item, f"{place}[{key!r}]", lambda key=key: read()[key])
        elif isinstance(value, (set, frozenset, deque)):
            self.visit_many(value, place, read)
        elif not isinstance(value, types.ModuleType):
            self.visit_object(value, place, read)

    def visit_many(self, value, place, read):
        """A set or deque: what is in it, by value and by identity where it is no plain value."""
        if not isinstance(value, frozenset):
            self.containers.append((value, list(value)))
        self.watch(f"the contents of {place}",
                   lambda: (type(now := read()), [v if isinstance(v, PLAIN) else id(v) for v in now]))
        for item in value:
            if not isinstance(item, PLAIN):
                self.visit(item, f"an item of {place}", lambda item=item: item)

    def visit_numpy_array(self, array, place, read):
        """Its bytes, if they are few: nothing tells when an array is changed."""
        if array.nbytes > BYTES_OF_ARRAY or array.dtype.hasobject:
            raise NotCapturable(f"{place} is a NumPy array, of which a graph would keep the values of today: make a "
                                "tensor of it outside")
        if array.flags.writeable:
            self.containers.append((array, array.copy()))
        self.watch(f"the values of {place}", lambda: (now := read()).shape + (now.dtype.str, now.tobytes()))

    def visit_object(self, value, place, read):
        """Something with an identity: the same object must be there, and what it holds must be what it was."""
        self.watch(place, lambda: id(read()))
        if isinstance(value, Optimizer):
            raise DoneAround(f"{place} is an optimizer ({type(value).__name__}), whose step changes its "
                             "parameters by a fused kernel of its own, outside of any graph. Compile the "
                             "model or the loss, and call zero_grad, backward and step around it")
        if isinstance(value, DRAWING) or hasattr(type(value), "__next__") and is_of_library(type(value)):
            raise NotCapturable(f"{place} is a {type(value).__name__}, from which each call takes something: a graph "
                                "would take it once; pass what it gives as an argument")
        if isinstance(value, Tensor):
            self.visit_tensor(value, place)
        elif isinstance(value, np.ndarray):
            self.visit_numpy_array(value, place, read)
        elif isinstance(value, Module):
            self.visit_module(value, place)
        elif isinstance(value, functools.partial):
            self.visit(value.func, place, lambda: value.func)
            self.visit((value.args, value.keywords), place, lambda: (value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self.visit(value.__self__, place, lambda: value.__self__)
            self.visit(value.__func__, place, lambda: value.__func__)
        elif isinstance(value, types.FunctionType):
            self.visit_function(value)
        elif not isinstance(value, type) and self.is_new(value) and has_fields_of_users(value):
            self.visit_fields(value, place)

    def visit_fields(self, value, place):
        """The attributes of an object of a class of the user's, and the methods of its class."""
        if hasattr(value, "__dict__"):
            self.containers.append((value.__dict__, dict(value.__dict__)))
        for name, item in getattr(value, "__dict__", {}).items():
            self.visit(item, f"{place}.{name}", lambda name=name: value.__dict__.get(name))
        call = getattr(type(value), "__call__", None)
        if isinstance(call, types.FunctionType):
            self.visit_function(call)

    def visit_tensor(self, t, place):
        self.tensors[id(t)] = t
        if self.is_new(t):
            self.watch(f"shape, strides, dtype, device or requires_grad of {place}", lambda: facts_of(t))

    # ---- modules -------------------------------------------------------------------------------------------

    def visit_module(self, root, place):
        """A module and all in it: flags and other plain attributes, which parameters and buffers, the code of
        forward."""
        if not self.is_new(root):
            return
        found = [(f"{place}.{name}" if name else place, m) for name, m in root.named_modules()
                 if m is root or self.is_new(m)]
        self.modules += [m for _, m in found]
        parts = [*watches_of_modules(place, found), *self.watches_of_parameters(place, found)]
        self.watches.append(ModulesWatch(place, parts, [(m, plain_attributes(m)) for _, m in found]))
        for where, m in found:
            self.visit_one_module(m, where)

    def watches_of_parameters(self, place, found):
        """Which parameters and buffers there are, and what a graph took from them."""
        holders = [(where, h) for where, m in found for h in (m._parameters, m._buffers) if h]
        named = [(f"{where}.{name}", t) for where, h in holders for name, t in h.items() if t is not None]
        for name, t in named:
            if not is_plain(t):
                raise NotCapturable(f"{name} is a {type(t).__name__}, whose operators are its own")
            self.tensors[id(t)] = t
            self.is_new(t)
        names, tensors = [name for name, _ in named], [t for _, t in named]
        return [WatchOfMany(f"the parameters and buffers of {place}",
                            [f"a parameter or buffer of {w}" for w, _ in holders],
                            lambda: [list(map(id, h.values())) for _, h in holders]),
                *[WatchOfMany(f"{fact} of the parameters of {place}", [f"{fact} of {n}" for n in names],
                              lambda read=read: list(map(read, tensors))) for fact, read in FACTS.items()]]

    def visit_one_module(self, m, where):
        """What is held besides, hooks, and the code of forward."""
        fields = m.__dict__
        for name, value in fields.items():
            if not isinstance(value, PLAIN) and not name.startswith("_") and name != "forward":
                self.visit(value, f"{where}.{name}", lambda name=name: fields.get(name))
        for hook in [*m._forward_hooks.values(), *m._forward_pre_hooks.values()]:
            self.visit(hook, f"a hook of {where}", lambda hook=hook: hook)
        if m._backward_hooks or m._backward_pre_hooks:
            raise NotCapturable(f"{where} has backward hooks")
        self.visit_methods(type(m))

    def visit_methods(self, cls):
        """forward, and the methods it calls by name, of a class that is not the library's."""
        if is_of_library(cls):
            return
        pending, done = ["forward"], set()
        while pending:
            name = pending.pop()
            function = getattr(cls, name, None)
            if name in done or not isinstance(function, types.FunctionType) or is_of_library(function):
                continue
            done.add(name)
            self.visit_function(function)
            pending += function.__code__.co_names

    # ---- functions -----------------------------------------------------------------------------------------

    def visit_function(self, function):
        """What the code of a function reads and does. Functions of libraries are trusted."""
        function = getattr(function, "__wrapped_by_compile__", function)
        if is_of_library(function) or not self.is_new(function):
            return
        self.watch(f"the code of {function.__name__}", lambda: id(function.__code__))
        self.visit((function.__defaults__, function.__kwdefaults__), f"a default of {function.__name__}",
                   lambda: (function.__defaults__, function.__kwdefaults__))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if has_contents(cell):
                self.visit(cell.cell_contents, f"the variable {name} around {function.__name__}",
                           lambda cell=cell: cell.cell_contents if has_contents(cell) else None)
        self.visit_code(function.__code__, function)

    def visit_code(self, code, function):
        steps = list(dis.get_instructions(code))
        line = code.co_firstlineno
        for i, step in enumerate(steps):
            line = step.starts_line if isinstance(step.starts_line, int) and not isinstance(step.starts_line,
                                                                                            bool) \
                else line
            self.refuse_effects(step, code, function, line)
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                self.visit_global(step.argval, steps[i + 1:i + 3], function, code, line)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.visit_code(constant, function)

    def refuse_effects(self, step, code, function, line):
        """NotCapturable for what a graph would not do again."""
        where = place_of(code, line)
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise NotCapturable(f"the function assigns the global {step.argval}{where}: return it instead")
        if step.opname == "STORE_DEREF" and step.argval in function.__code__.co_freevars:
            raise NotCapturable(f"the function assigns {step.argval} of the function around it{where}: "
                                "return it instead")
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval == "zero_grad":
            raise DoneAround(f"the function calls zero_grad{where}, which sets .grad: a graph would not "
                             "do it again; call it outside of what is compiled")
        if step.opname in ("STORE_ATTR", "DELETE_ATTR"):
            raise NotCapturable(f"the function assigns the attribute {step.argval}{where}: a graph would not "
                                "do it again; do it outside of what is compiled")
        suspends = step.opname in ("YIELD_VALUE", "SEND") and code.co_name != "<genexpr>"
        kinds = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        if suspends and code.co_flags & kinds:
            raise NotCapturable(f"the function is a generator or coroutine{where}")

    def visit_global(self, name, following, function, code, line):
        scope = function.__globals__
        if name not in scope:
            if name in SPEAKING and hasattr(builtins, name):
                raise NotCapturable(f"the function calls {name}(){place_of(code, line)}: a graph would not "
                                    "do it again")
            if name == "type" and not asks_for_own_class(following):
                raise NotCapturable(f"the function calls type(){place_of(code, line)}, and what stands for a tensor "
                                    "while it is captured is of another class: use isinstance")
            return
        value = scope[name]
        if isinstance(value, types.ModuleType):
            self.visit_attribute_of_module(name, value, following, code, line)
            return
        if isinstance(value, (types.FunctionType, type)) and is_of_library(value):
            return
        self.visit(value, f"the global {name}", lambda: scope.get(name))

    def visit_attribute_of_module(self, name, module, following, code, line):
        """`config.scale`, where config is a module of the user's."""
        top = module.__name__.partition(".")[0]
        attribute = next((s.argval for s in following if s.opname in ("LOAD_ATTR", "LOAD_METHOD")), None)
        if top in ("time", "random", "datetime", "logging", "warnings") or (top, attribute) == ("numpy", "random"):
            raise NotCapturable(f"the function calls {top}.{attribute}{place_of(code, line)}: a graph would "
                                "not do it again")
        if top in LIBRARIES or attribute is None or not hasattr(module, attribute):
            return
        self.visit(getattr(module, attribute), f"{name}.{attribute}",
                   lambda: getattr(module, attribute, None))


def asks_for_own_class(following):
    """Whether the steps after `type` are those of `type(self)`."""
    return any(step.opname.startswith("LOAD_") and step.argval in ("self", "cls") for step in following[:1])


def has_fields_of_users(value):
    """Whether an object holds what the user gave it: of a class of the user's, or a bare namespace."""
    return not is_of_library(type(value)) or type(value).__name__ in ("SimpleNamespace", "Namespace")


def size_of(value):
    return type(value), len(value) if hasattr(value, "__len__") else None


def facts_of(t):
    return t._shape, stride_of(t), id(t._dtype), id(t._device), tracks(t)


FACTS = {"shape": lambda t: t._shape, "strides": stride_of, "dtype": lambda t: id(t._dtype),
         "device": lambda t: id(t._device), "requires_grad": lambda t: t._meta is not None
         and t._meta.requires_grad}


def watches_of_modules(place, found):
    """Plain attributes, children and hooks of modules."""
    readers = [(fields_reader(m), m.__dict__) for _, m in found]
    parents = [(where, m._modules) for where, m in found if m._modules]
    hooks = [(where, h) for where, m in found for h in (m._forward_hooks, m._forward_pre_hooks)]
    return [WatchOfMany(f"attributes of {place} and of what is in it",
                        [f"an attribute of {where}" for where, _ in found],
                        lambda: [read(fields) for read, fields in readers]),
            WatchOfMany(f"the submodules of {place}", [f"the submodules of {where}" for where, _ in parents],
                        lambda: [list(map(id, children.values())) for _, children in parents]),
            WatchOfMany(f"the hooks of {place}", [f"the hooks of {where}" for where, _ in hooks],
                        lambda: [len(h) for _, h in hooks])]


def plain_attributes(m):
    """The names of what a module holds that is no tensor, module or container, and that its forward may read."""
    read = names_read(type(m)) if is_of_library(type(m)) and "forward" not in m.__dict__ else None
    return [n for n, v in m.__dict__.items()
            if isinstance(v, PLAIN) and not n.startswith("_") and (read is None or n in read)]


@functools.cache
def names_read(cls):
    """The names that forward of a class of the library's, and the methods that it calls, may read of their module;
    None if the code does not tell, since the module itself is handed on."""
    names, pending = set(), ["forward"]
    while pending:
        member = inspect.getattr_static(cls, pending.pop(), None)
        function = getattr(member, "fget", member)
        if isinstance(function, types.FunctionType):
            if hands_itself_on(function.__code__):
                return None
            pending += [name for name in function.__code__.co_names if name not in names]
            names.update(function.__code__.co_names)
    return names


def hands_itself_on(code):
    """Whether a method uses its first argument for anything but `self.name`, or may read names that it makes."""
    if not code.co_argcount or code.co_cellvars or {"getattr", "vars", "super", "__dict__"} & set(code.co_names):
        return True
    own, steps = code.co_varnames[0], list(dis.get_instructions(code))
    for step, after in zip(steps, steps[1:]):
        loaded = step.argval if isinstance(step.argval, tuple) else (step.argval,)   # Python 3.13 loads two at a time
        if step.opname.startswith("LOAD_FAST") and own in loaded:
            if own in loaded[:-1] or loaded[-1] == own and after.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                return True
    return False


def fields_reader(m):
    """A function of a module's __dict__ that returns its plain attributes."""
    names = plain_attributes(m)
    return lambda fields: [fields.get(name) for name in names]


def has_contents(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def is_of_library(thing):
    """Whether a function or class comes from this library, Python's own or NumPy."""
    module = getattr(thing, "__module__", None) or ""
    return module.partition(".")[0] in LIBRARIES


def place_of(code, line):
    """" (at FILE:LINE: `code`)"."""
    text = linecache.getline(code.co_filename, line).strip()
    return f" (at {code.co_filename}:{line}" + (f": `{text}`)" if text else ")")
