"""`__torch_function__`: classes that take calls of the public functions over, and modes that see all of them.

    torch.add(a, b)  →  does the class of an argument override?  no → the operator, as always
                                                                  yes → modes, innermost first; then the arguments'
                                                                        classes: subclasses first, else left to right

This happens above everything else: before the dispatcher, before autograd. An overriding tensor carries the key
PythonFunction, so an ordinary call pays nothing for the question; functions that are no operators are wrapped by
`overridable`. https://pytorch.org/docs/stable/notes/extending.html, torch/overrides.py.

teachtorch's `torch.add` and `Tensor.add` are one function: it is what `func` is, in both cases. Reading an attribute
(`t.shape`) asks nobody.
"""
import functools
import weakref

from ..core import observer
from ..tensor import Tensor, method, same_memory
from . import keys as K
from .modes import function_modes
from .numpy_names import TORCH_NAMES, respelt
from .operator import makers, registry
from .overriding import PLAIN, asks, disabled_torch_function, dispatching, overriding  # noqa: F401
from .state import state
from .wrong_types import explain, refuse_misfit

# ---- who takes a call over ------------------------------------------------------------------------------------------

def overloaded(arguments):
    """The arguments whose classes override, in the order in which they are asked."""
    return one_of_each_class(arguments, overriding)


def one_of_each_class(arguments, is_asked):
    """The arguments of classes for which `is_asked[class]`, one for each class: subclasses before their parents, else
    left to right."""
    found = []
    for argument in flattened(arguments):
        cls = type(argument)
        if is_asked[cls] and cls not in [type(f) for f in found]:
            before = [i for i, f in enumerate(found) if issubclass(cls, type(f))]
            found.insert(before[0] if before else len(found), argument)
    return found


def flattened(arguments):
    """The arguments, and what stands in those that are lists or tuples."""
    for argument in arguments:
        if argument.__class__ in (list, tuple):
            yield from argument
        else:
            yield argument


def has_torch_function(relevant_args):
    """Whether a mode is on or an argument's class overrides (torch.overrides.has_torch_function)."""
    if state.excluded & K.PYTHON_FUNCTION:
        return False
    if modes():
        return True
    return state.subclass_functions and any([overriding[type(a)] for a in relevant_args])


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask the modes and classes that may take `public_api(*args, **kwargs)` over, until one does.

    TypeError if all of them return NotImplemented.
    """
    candidates = overloaded(relevant_args) if state.subclass_functions else []
    types = tuple([type(c) for c in candidates])
    if modes():
        with function_modes.without_innermost() as mode:
            found = mode.__torch_function__(public_api, types, args, kwargs)
        if found is not NotImplemented:
            return found
    for candidate in candidates:
        found = type(candidate).__torch_function__(public_api, types, args, kwargs)
        if found is not NotImplemented:
            return found
    raise TypeError(multiple_dispatch_failed(public_api, candidates))


def multiple_dispatch_failed(function, candidates):
    home = getattr(function, "__module__", None) or ""
    home = "torch" if home.startswith(OPERATORS) else home
    name = f"{home}.{getattr(function, '__name__', function)}".lstrip(".")
    tried = "".join([f"\n  - tensor subclass {type(c)}" for c in candidates])
    if modes():
        tried = f"\n  - mode object {modes()[-1]}" + tried
    return (f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n{tried}"
            "\n\nFor more information, try re-running with TORCH_LOGS=not_implemented")


# ---- where calls are caught --------------------------------------------------------------------------------

OPERATORS = f"{__name__.partition('.')[0]}.ops."      # where the functions of torch are written
NUMPY_NAMES = TORCH_NAMES.keys()

_asking = weakref.WeakSet()                         # functions that find overriding arguments themselves
_wrapped = weakref.WeakKeyDictionary()              # function -> {name: the function that asks first}


def asking(function):
    """Mark a function that finds overriding arguments itself, by their keys."""
    _asking.add(function)
    return function


def asks_itself(function):
    """Whether calls of a public function can be taken over."""
    return function in _asking


def overridable(function, name, rules=""):
    """A public function that is no operator, open to overriding under the name users call it by.

    `rules`: under which name call_rules.py knows how it may be called.
    """
    if function in _asking:
        return function
    by_name = _wrapped.setdefault(function, {})
    return by_name.get(name) or by_name.setdefault(name, wrapped_to_ask(function, name, rules))


def wrapped_to_ask(function, name, rules):
    usual, fitting = (
        set(),
        set(),
    )  # classes of arguments, and the names of some, that fitted; `usual`: and override nothing

    @functools.wraps(function)
    def public(*args, **kwargs):
        try:
            classes = tuple(map(type, args))
            if kwargs:
                kwargs = kwargs if NUMPY_NAMES.isdisjoint(kwargs) else respelt(rules, kwargs)
                classes = (classes, *kwargs, *map(type, kwargs.values()))
            if classes not in usual and takes_over(classes, args, kwargs) or state.included & K.PYTHON_FUNCTION:
                return overridden(args, kwargs)
            return reported(function, name, args, kwargs) if observer.active else function(*args, **kwargs)
        except Exception as error:
            again = explain(error, name, function, rules, args, kwargs)
            if again is None:
                raise
        return public(*again[0], **again[1])

    def takes_over(classes, args, kwargs):
        """Whether an argument takes the call over. TypeError for arguments that do not fit."""
        if classes not in fitting:
            refuse_misfit(rules, args, kwargs)
            fitting.add(classes)
        is_usual = True
        for value in (*args, *kwargs.values()):
            if value.__class__ not in PLAIN and asks(value):
                return True
            if value.__class__ is list or value.__class__ is tuple:      # the next may hold others
                is_usual = False
        if is_usual:
            usual.add(classes)
        return False

    def overridden(args, kwargs):
        relevant = [*args, *kwargs.values()]
        if has_torch_function(flattened(relevant)):
            return handle_torch_function(public, relevant, *args, **kwargs)
        return reported(function, name, args, kwargs) if observer.active else function(*args, **kwargs)

    public.__name__ = name
    return asking(public)


def reported(function, name, args, kwargs):
    """Call a function that is no operator, and tell the observer before and after."""
    if state.is_device_thread:
        return function(*args, **kwargs)
    call = object()
    observer.report("function", phase="start", call=call, name=name, args=args)
    result = None
    try:
        result = function(*args, **kwargs)
        return result
    finally:
        if observer.active:
            observer.report("function", phase="end", call=call, name=name, args=args, result=result)


def function_kernel(op):
    """The kernel of an operator under the key PythonFunction. Who makes tensors by a factory was asked before."""
    is_factory = getattr(op.info, "kind", None) in ("factory", "like")

    def python_function(keys, *args):
        if not is_factory and has_torch_function(flattened(args)):
            positional, keywords = as_written(op.info.signature, args)
            return handle_torch_function(op.public, args, *positional, **keywords)
        return op.redispatch(keys & K.PYTHON_FUNCTION - 1, *args)
    return python_function


makers[K.PYTHON_FUNCTION] = function_kernel


def as_written(signature, args):
    """The arguments in their declared places as a user would have written the call: without defaults, and what has a
    default by its name."""
    required = len(signature.positional) - len(signature.defaults)
    named = dict(zip(signature.names, args))
    positional = [named.pop(name) for name in signature.positional[:required]]
    positional += named.pop(signature.rest) if signature.rest else ()
    defaults = dict(zip(signature.positional[required:], signature.defaults), **signature.keyword_defaults)
    keywords = {name: value for name, value in named.items() if name not in defaults or value is not defaults[name]}
    return positional, keywords


def in_place_of(signature, args, kwargs):
    """The reverse: a call's arguments in their declared places, defaults filled in. TypeError if they do not fit."""
    values = dict(zip(signature.positional, args))
    if signature.rest:
        values[signature.rest] = tuple(args[len(signature.positional):])
    elif len(args) > len(signature.positional):
        raise TypeError(f"expected at most {len(signature.positional)} positional arguments, got {len(args)}")
    required = len(signature.positional) - len(signature.defaults)
    defaults = dict(zip(signature.positional[required:], signature.defaults), **signature.keyword_defaults)
    values = {**defaults, **values, **kwargs}
    wrong = set(values) ^ set(signature.names)
    if wrong:
        raise TypeError(f"missing or unexpected arguments: {', '.join(sorted(wrong))}")
    return [values[name] for name in signature.names]


# ---- subclasses of Tensor ----------------------------------------------------------------------------------

def subclass_keys(cls):
    """What instances of a subclass of Tensor have in their key set beside an ordinary tensor's keys."""
    return (K.PYTHON_FUNCTION if overriding[cls] else 0) | (K.PYTHON if dispatching[cls] else 0)


@classmethod
def default_torch_function(cls, func, types, args=(), kwargs=None):
    """Run the function as if the arguments were ordinary tensors; results become instances of `cls`.

    NotImplemented if an argument is of a class that `cls` does not descend from.
    """
    if not all([issubclass(cls, t) for t in types]):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        found = func(*args, **(kwargs or {}))
    return converted(found, cls)


def converted(found, cls):
    """Results as instances of `cls`: tensors, also those in tuples and lists."""
    if isinstance(found, Tensor):
        return found if isinstance(found, cls) else as_subclass(found, cls)
    if isinstance(found, (tuple, list)):
        made = [converted(f, cls) for f in found]
        return type(found)(*made) if hasattr(found, "_fields") else type(found)(made)
    return found


def as_subclass(self, cls):
    """The same memory as an instance of `cls`, a subclass of Tensor; gradients flow through (Tensor.as_subclass)."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
    with DisableTorchFunction():
        new = registry["alias"](self) if self.requires_grad and state.grad_enabled else same_memory(self)
    return become(new, cls)


def become(new, cls):
    """Make a tensor that nobody else holds an instance of `cls`."""
    new.__class__ = cls
    new._keys = new._keys & ~(K.PYTHON_FUNCTION | K.PYTHON) | subclass_keys(cls)
    return new


method(default_torch_function, "__torch_function__")
method(as_subclass)


# ---- modes -------------------------------------------------------------------------------------------------

def modes():
    """The modes of this thread that are on, outermost first."""
    return state.function_modes


class TorchFunctionMode:
    """A context manager whose `__torch_function__` sees every call of a public function in its block, factories too.

    While a handler runs its own mode is off; further modes stay on. torch.overrides.TorchFunctionMode.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        function_modes.push(self)
        return self

    def __exit__(self, *error):
        function_modes.pop()


# ---- switching it off --------------------------------------------------------------------------------------

class DisableTorchFunctionSubclass:
    """In the block the classes of arguments are not asked; modes still are."""

    def __enter__(self):
        self.before = state.subclass_functions
        state.subclass_functions = False

    def __exit__(self, *error):
        state.subclass_functions = self.before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """In the block neither classes nor modes are asked."""

    def __enter__(self):
        super().__enter__()
        self.modes = state.function_modes
        function_modes.set(())

    def __exit__(self, *error):
        function_modes.set(self.modes)
        super().__exit__(*error)
