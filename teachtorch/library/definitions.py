"""Defining and extending operators by name: `Library`, `define`, `impl`, `register_*`."""
import traceback
import warnings

from ..dispatch import keys as K
from ..dispatch.operator import AUTOGRAD_ALIAS, COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, fallthrough, registry
from ..ops.namespaces import OpOverloadPacket
from .custom_ops import (CustomOpDef, check_name, decorator, new_operator, set_autocast, set_autograd,
                         set_kernels, types_of)
from .fallbacks import fallthrough_kernel, remove_fallback, set_fallback
from .schema import parse

KEYS = {"CPU": K.CPU, "CUDA": K.CUDA, "Sim": K.SIM, "Meta": K.META, "Autograd": AUTOGRAD_ALIAS,
        "AutogradCPU": K.AUTOGRAD,
        "CompositeExplicitAutograd": COMPOSITE_EXPLICIT, "CompositeImplicitAutograd": COMPOSITE_IMPLICIT,
        "Tracer": K.TRACER, "": COMPOSITE_IMPLICIT}
_defining = {"aten": "teachtorch.ops"}      # namespace -> where its one Library of kind DEF was made


def operator_named(op):
    """The Operator that a name, overload or CustomOpDef means. RuntimeError if there is none."""
    if isinstance(op, CustomOpDef):
        return op._op
    if isinstance(op, OpOverloadPacket):
        op = op.default
    name = op if isinstance(op, str) else op.name()
    found = registry.get(name.removesuffix(".default"))
    if found is None:
        raise RuntimeError(f"operator {name} does not exist")
    return found


def define(qualname, schema, *, lib=None, tags=()):
    """A new operator without kernels: define("ns::name", "(Tensor x) -> Tensor")."""
    check_name(qualname)
    if not isinstance(schema, str):
        raise ValueError("define(qualname, schema): expected schema to be of type string, but got "
                         f"{type(schema)}")
    define_once(parse(qualname + schema.strip()))


def define_once(schema):
    if schema.name in registry:
        raise RuntimeError(f"Tried to register an operator ({schema}) with the same name and overload name "
                           "multiple times. Each overload's schema should only be registered with a single "
                           "call to def().")
    return new_operator(schema)


def impl(qualname, types, func=None, *, lib=None):
    """Let a function serve device types ("cpu", "default": all) for an operator. Also a decorator."""
    op = operator_named(qualname)
    return decorator(func, lambda f: set_kernels(op, [None if t == "default" else t for t in types_of(types)],
                                                 f))


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Let a function serve device types for an operator of a user's; None: all. Also a decorator."""
    return decorator(func, lambda f: set_kernels(operator_named(op), device_types, f))


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """The rule that makes an operator's results without data. Also a decorator."""
    def register(function):
        found = operator_named(op)
        found.info.fake = function
        found.set_kernel(function, K.META, checks_aliases=False)
        return function
    return decorator(func, register)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """The backward of an operator of a user's; see CustomOpDef.register_autograd."""
    set_autograd(operator_named(op), backward, setup_context, str(op))


def register_vmap(op, func=None, /, *, lib=None):
    """An operator of a user's on a batch; see CustomOpDef.register_vmap. Also a decorator."""
    def register(function):
        operator_named(op).vmap_rule = function
        return function
    return decorator(func, register)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """The dtype to which autocast casts an operator's inputs; see CustomOpDef.register_autocast."""
    return set_autocast(operator_named(op), device_type, cast_inputs)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """The older name of register_fake."""
    warnings.warn("`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that "
                  "instead; we will remove `torch.library.impl_abstract` in a future version of PyTorch.",
                  FutureWarning, stacklevel=2)
    return register_fake(qualname, func, lib=lib)


def get_kernel(op, dispatch_key):
    """The kernel that serves a key of an operator."""
    return operator_named(op).kernel_for(KEYS[dispatch_key] if isinstance(dispatch_key, str)
                                         else dispatch_key)


class Library:
    """A namespace's definitions (kind "DEF": one per namespace; "FRAGMENT": any number) or kernels ("IMPL").

    Leaving the `with` block of a Library, or `_destroy()`, takes back what it registered.
    """

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. "
                             "Please try creating a library with another name.")
        place = traceback.extract_stack(limit=2)[0]
        if kind == "DEF":
            claim(ns, f"{place.filename}:{place.lineno}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined, self._replaced, self._fallbacks = [], [], []

    def define(self, schema, alias_analysis="", *, tags=()):
        """A new operator of this namespace, "name(Tensor x) -> Tensor"; returns its name.

        RuntimeError in a Library of kind "IMPL".
        """
        if self.kind == "IMPL":
            raise RuntimeError(f'def("{schema}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL '
                               'block. All '
                               "def()s should be placed in the (unique) TORCH_LIBRARY block for their "
                               "namespace.")
        parsed = parse(f"{self.ns}::{schema.strip()}")
        define_once(parsed)
        self._defined.append(parsed.name)
        return parsed.name.partition("::")[2]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Let a function serve a dispatch key of an operator; it replaces the kernel that is there."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name if isinstance(op_name, str) else op_name.name()
        op = operator_named(name if "::" in name else f"{self.ns}::{name}" if self.ns != "aten" else name)
        key = key_named(dispatch_key or self.dispatch_key)
        self._replaced.append((op, key, op.kernels.get(key)))
        place_kernel(op, key, fn, with_keyset)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """Let one function serve a key of every operator that has no kernel there: fn(op, *args, **kwargs),
        or fn(keys, op, ...) `with_keyset`.

        Only in the namespace "_". AssertionError without a key, RuntimeError for a key that has a fallback
        already.
        """
        key = dispatch_key or self.dispatch_key
        if not key:
            raise AssertionError("dispatch_key must not be empty for fallback")
        if self.ns != "_":
            raise RuntimeError("Fallback can only be registered using library fragment on the global "
                               f"namespace \"_\" but it is {self.ns}")
        set_fallback(key_named(key), fn, with_keyset)
        self._fallbacks.append(key_named(key))

    def _destroy(self):
        """Take back the definitions and kernels."""
        for key in self._fallbacks:
            remove_fallback(key)
        for op, key, before in reversed(self._replaced):
            op.kernels.pop(key, None)
            if before is not None:
                op.register(key, before)
            op._chosen.clear()
        for name in self._defined:
            registry.pop(name, None)
        if self.kind == "DEF":
            _defining.pop(self.ns, None)
        self._defined, self._replaced, self._fallbacks = [], [], []

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._destroy()


def claim(ns, place):
    """A namespace is defined in one Library."""
    if ns in _defining:
        raise RuntimeError(f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please "
                           "put all of your definitions in a single TORCH_LIBRARY block. If you were trying "
                           "to specify implementations, use a Library of kind IMPL, of which there may be "
                           "several; or FRAGMENT for further definitions. Previous registration was at "
                           f"{_defining[ns]}; latest at {place}")
    _defining[ns] = place


def key_named(name):
    if name not in KEYS:
        raise RuntimeError(f"could not parse dispatch key: {name}; there are {', '.join(filter(None, KEYS))}")
    return KEYS[name]


def place_kernel(op, key, fn, with_keyset):
    """Put a user's function under a key of an operator, a user's or one of ours."""
    if fn is fallthrough_kernel:
        op.register(key, fallthrough)
    elif key == COMPOSITE_IMPLICIT and hasattr(op, "set_composite"):
        op.set_composite(fn)
    elif hasattr(op, "set_kernel") and not with_keyset and key not in (K.AUTOGRAD, AUTOGRAD_ALIAS):
        op.set_kernel(fn, key, checks_aliases=False)
        if key == COMPOSITE_EXPLICIT:
            op.forget_refusal()
    else:
        op.register(key, fn if with_keyset else lambda keys, *args: fn(*args))


