"""Defining and extending operators by name: `Library`, `define`, `impl`, `register_*`."""
import traceback
import warnings

from ..dispatch import keys as K
from ..dispatch.operator import AUTOGRAD_ALIAS, COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, fallthrough, registry
from ..ops.namespaces import OpOverload, OpOverloadPacket
from .custom_ops import (CustomOpDef, decorator, new_operator, set_autocast, set_autograd, set_dispatch_rule, set_fake,
                         set_kernels, types_of)
from .fallbacks import fallthrough_kernel, remove_fallback, set_fallback
from .schema import parse

KEYS = {"CPU": K.CPU, "CUDA": K.CUDA, "Sim": K.SIM, "Meta": K.META, "Autograd": AUTOGRAD_ALIAS,
        "AutogradCPU": K.AUTOGRAD,
        "CompositeExplicitAutograd": COMPOSITE_EXPLICIT, "CompositeImplicitAutograd": COMPOSITE_IMPLICIT,
        "Tracer": K.TRACER, "": COMPOSITE_IMPLICIT}
_by_users = set()                           # (operator, key) with a kernel placed by a Library
_defining = {"aten": "teachtorch.ops"}      # namespace -> where its one Library of kind DEF was made


def operator_named(op):
    """The Operator that a name, overload or CustomOpDef means. RuntimeError if there is none."""
    if isinstance(op, CustomOpDef):
        return op._op
    if isinstance(op, (OpOverload, OpOverloadPacket)):
        return getattr(op, "default", op)._op
    found = registry.get(op.removesuffix(".default"))
    if found is None:
        raise RuntimeError(f"operator {op} does not exist")
    return found


def operator_to_extend(op, caller):
    """The same for what a user gives to `caller`. ValueError for what is no operator at all."""
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(f"{caller}({op}): got unexpected type for op: {type(op)}")
    return operator_named(op)


def define(qualname, schema, *, lib=None, tags=()):
    """A new operator without kernels: define("ns::name", "(Tensor x) -> Tensor")."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    if not isinstance(schema, str):
        raise ValueError("define(qualname, schema): expected schema to be of type string, but got "
                         f"{type(schema)}")
    if qualname.count("::") != 1:
        raise ValueError(f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname '
                         "passed to the torch.library APIs must consist of a namespace and a name, e.g. aten::sin")
    define_once(parse(qualname + schema.strip()))


def define_once(schema):
    if schema.name in registry:
        raise RuntimeError(f"Tried to register an operator ({schema}) with the same name and overload name "
                           "multiple times. Each overload's schema should only be registered with a single "
                           "call to def().")
    return new_operator(schema)


def impl(qualname, types, func=None, *, lib=None):
    """Let a function serve device types ("cpu", "default": all) or dispatch keys ("CPU") for an operator. Also a
    decorator.

    Older code gives it a Library, the operator's name in it and a dispatch key: @impl(library, "scale", "CPU").
    """
    if isinstance(qualname, Library):
        return lambda f: qualname.impl(types, f, func or "") or f
    op = operator_named(qualname)
    return decorator(func, lambda f: [serve(op, t, f) for t in types_of(types)] and f)


def serve(op, name, function):
    """Let a function serve a dispatch key or a device type."""
    if name in KEYS:
        place_kernel(op, KEYS[name], function, with_keyset=False)
    else:
        set_kernels(op, None if name == "default" else name, function)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Let a function serve device types for an operator of a user's; None: all. Also a decorator."""
    return decorator(func, lambda f: set_kernels(operator_to_extend(op, "register_kernel"), device_types, f))


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
    """The rule that makes an operator's results without data. Also a decorator.

    RuntimeError for an operator that has one, unless `allow_override`.
    """
    found = operator_to_extend(op, "register_fake")

    def register(function):
        if not allow_override and found.info.fake is not None:
            raise RuntimeError(f"register_fake(...): the operator {found.name} already has a fake impl registered at "
                               f"{place_of(found.info.fake)}.")
        set_fake(found, function)
        return function
    return decorator(func, register)


def place_of(function):
    """"file:line" of a Python function."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """What a class or mode with `__torch_dispatch__` does with one operator of a user's, in the place of its handler:
    func(cls or mode, overload, types, args, kwargs). Also a decorator."""
    found = operator_to_extend(op, "register_torch_dispatch")
    return decorator(func, lambda f: set_dispatch_rule(found, torch_dispatch_class, f))


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """The backward of an operator of a user's; see CustomOpDef.register_autograd."""
    found = operator_to_extend(op, "register_autograd")
    if any(a.is_keyword_only and a.type.startswith("Tensor") for a in found.schema.arguments):
        raise NotImplementedError("register_autograd with kwarg-only Tensor args. In the original definition of the "
                                  f"op, please make your tensors not kwarg-only. Got: {found.schema}")
    set_autograd(found, backward, setup_context, op if isinstance(op, CustomOpDef) else shown(found))


def shown(op):
    """"ns.name.default"."""
    return f"{op.name.replace('::', '.')}.default"


def register_vmap(op, func=None, /, *, lib=None):
    """An operator of a user's on a batch; see CustomOpDef.register_vmap. Also a decorator."""
    found = operator_to_extend(op, "register_vmap")

    def register(function):
        found.vmap_rule = function
        return function
    return decorator(func, register)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """The dtype to which autocast casts an operator's inputs; see CustomOpDef.register_autocast."""
    return set_autocast(operator_to_extend(op, "register_autocast"), device_type, cast_inputs)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """The older name of register_fake."""
    warnings.warn("`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that "
                  "instead; we will remove `torch.library.impl_abstract` in a future version of PyTorch.",
                  FutureWarning, stacklevel=2)
    return register_fake(qualname, func, lib=lib)


def get_kernel(op, dispatch_key):
    """The kernel that serves a key of an operator."""
    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"get_kernel({op}): got unexpected type for op: {type(op)}")
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

        `alias_analysis`: "", "FROM_SCHEMA" or "CONSERVATIVE"; the schema says it all here. RuntimeError for another
        word, and in a Library of kind "IMPL".
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError(f'def("{schema}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL '
                               'block. All '
                               "def()s should be placed in the (unique) TORCH_LIBRARY block for their "
                               "namespace.")
        parsed = parse(f"{self.ns}::{schema.strip()}")
        define_once(parsed)
        self._defined.append(parsed.name)
        return parsed.name.partition("::")[2]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Let a function serve a dispatch key of an operator; it replaces the kernel that is there.

        TypeError for what cannot be called. RuntimeError for an operator of another namespace, and, unless
        `allow_override`, where a user's kernel is.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        op = self._operator(op_name)
        key = key_named(dispatch_key or self.dispatch_key)
        if not allow_override and (op, key) in _by_users:
            raise RuntimeError("This is not allowed since there's already a kernel registered from python overriding "
                               f"{op.name.rpartition('::')[2]}'s behavior for {dispatch_key or self.dispatch_key} "
                               f"dispatch key and {self.ns} namespace.")
        self._replaced.append((op, key, op.kernels.get(key)))
        _by_users.add((op, key))
        place_kernel(op, key, fn, with_keyset)

    def _operator(self, op_name):
        """The operator of this namespace that a name or overload means."""
        if not isinstance(op_name, (str, OpOverload)):
            raise RuntimeError("impl should be passed either a name or an OpOverload object as the first argument, got "
                               f"{type(op_name)}")
        name = op_name if isinstance(op_name, str) else op_name.name()
        space, has_space, _ = name.partition("::")
        if has_space and space != self.ns:
            raise RuntimeError(f'impl("{name}", ...): Explicitly provided namespace ({space}) in operator name does '
                               f"not match namespace of enclosing TORCH_LIBRARY_IMPL block ({self.ns}).  Move this "
                               "definition to the TORCH_LIBRARY_IMPL block corresponding to this namespace (and "
                               "consider deleting the namespace from your schema string.)")
        if isinstance(op_name, OpOverload):
            return op_name._op
        name = name.removeprefix("aten::")
        return operator_named(name if has_space or self.ns == "aten" else f"{self.ns}::{name}")

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
            _by_users.discard((op, key))
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


