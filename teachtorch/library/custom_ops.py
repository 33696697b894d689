"""`custom_op`: a function becomes an operator."""
import contextlib
import functools
import inspect

from ..amp.autocast_mode import casting_kernel, is_autocast_available
from ..core.device import device
from ..dispatch import keys as K
from ..dispatch.operator import COMPOSITE_EXPLICIT, registry
from ..ops.namespaces import namespace
from .schema import parse, schema_of
from .user_operator import UserOperator

BACKENDS = {"cpu": K.CPU, "sim": K.SIM, "cuda": K.CUDA, "meta": K.META, None: COMPOSITE_EXPLICIT}


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Make a function an operator `ns::name`, which tracing and autograd take as one step. Also a decorator.

    `mutates_args`: names of the tensors that it changes; () if none, "unknown" if all may be. `device_types`:
    where the function runs ("cpu", or a list); everywhere without it. `schema`: instead of the function's
    annotations. The results must not share memory with the arguments. torch.library.custom_op.
    """
    def make(function):
        described = parse(name + schema) if schema is not None else schema_of(function, mutates_args, name)
        check_name(name)
        return CustomOpDef(described, function, device_types)
    return make if fn is None else make(fn)


def check_name(name):
    if name.count("::") != 1 or name.startswith("::") or name.endswith("::"):
        raise ValueError(f"an operator is called 'namespace::name', which {name!r} is not: its namespace is "
                         "missing")


class CustomOpDef:
    """What `custom_op` returns: call it, and register more of what is known of the operator."""

    def __init__(self, schema, function, device_types=None):
        self._qualname = schema.name
        self._init_fn = function
        self._op = new_operator(schema)
        self._op.register(K.AUTOGRAD, self._op.autograd_kernel)
        for device_type in types_of(device_types):
            self.register_kernel(device_type, function)

    @functools.cached_property
    def _opoverload(self):
        space, _, name = self._qualname.partition("::")
        return getattr(namespace(space), name).default

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        """Let another function serve these devices."""
        return decorator(fn, lambda f: set_kernels(self._op, device_types, f))

    def register_fake(self, fn, /):
        """The rule that makes results without data, of the right shape, stride and dtype, for meta
        tensors."""
        self._op.info.fake = fn
        self._op.set_kernel(fn, K.META, checks_aliases=False)
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *grads) returns a gradient or None for each argument; setup_context(ctx, inputs,
        output) saves what it needs. RuntimeError for an operator that changes its arguments."""
        set_autograd(self._op, backward, setup_context, f"{self}")

    def register_autocast(self, device_type, cast_inputs):
        """In a region of autocast for the device type, cast floating inputs to a dtype, and run the operator
        without autocast. The first registration for a device type holds. ValueError for a device without
        autocast; as for all operators, the casts are those of the CPU."""
        return set_autocast(self._op, device_type, cast_inputs)

    def register_vmap(self, func=None, /):
        """func(info, in_dims, *args) -> (output, out_dims): the operator on a batch, `in_dims` saying where
        each argument has it (None: not batched); `info` has batch_size and randomness. Also a decorator.

        teachtorch's vmap calls a function once for each example, so the rule is asked where the operator
        itself is what is mapped, `vmap(op)`.
        """
        def register(function):
            self._op.vmap_rule = function
            return function
        return decorator(func, register)

    @property
    def vmap_rule(self):
        """What register_vmap was given, or None."""
        return self._op.vmap_rule

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """Within the block the kernel of a device type is on, or off: then the original function serves."""
        key = BACKENDS[device_type]
        before = self._op.kernels.get(key)
        if not enabled:
            self._op.set_kernel(self._init_fn, key)
        try:
            yield
        finally:
            if before is not None:
                self._op.register(key, before)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"


def new_operator(schema):
    """A UserOperator; one of the same name is replaced, as in PyTorch."""
    if schema.name in registry:
        del registry[schema.name]
    space, _, name = schema.name.partition("::")
    namespace(space).forget(name)
    return UserOperator(schema)


def types_of(device_types):
    return [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)


def set_kernels(op, device_types, function):
    for device_type in types_of(device_types):
        if device_type not in BACKENDS:
            device(device_type)         # refuses what is no device at all
            raise ValueError(f"Unknown device_type {device_type!r}; there are "
                             f"{', '.join(filter(None, BACKENDS))}")
        op.set_kernel(function, BACKENDS[device_type])
    return function


def decorator(function, register):
    """Register the function now, or the one that is decorated."""
    return register if function is None else register(function)


def set_autocast(op, device_type, dtype):
    """Give an operator a kernel that casts under autocast."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    device(device_type)         # refuses what is no device at all
    if not is_autocast_available(device_type):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")
    kernel = casting_kernel(op, lambda args: dtype)
    if device_type == "cpu" and K.AUTOCAST_CPU not in op.kernels:
        op.register(K.AUTOCAST_CPU, kernel)
    return kernel


def set_autograd(op, backward, setup_context, shown):
    if op.schema.is_mutable:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {shown} with "
                           f"schema {op.schema}. Please create a functional operator and register an "
                           "autograd formula for that.")
    if op.info.signature.keyword_only and setup_context is not None and \
            "keyword_only_inputs" not in inspect.signature(setup_context).parameters:
        raise NotImplementedError(f"setup_context of {shown} must take keyword_only_inputs beside ctx, "
                                  "inputs and output")
    op.backward, op.setup_context = backward, setup_context
    op.forget_function()
    op.register(K.AUTOGRAD, op.autograd_kernel)
