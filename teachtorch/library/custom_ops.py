"""`custom_op`: a function becomes an operator."""
import contextlib
import functools

from ..amp.autocast_mode import casting_kernel, is_autocast_available
from ..core.device import device
from ..dispatch import keys as K
from ..dispatch.operator import COMPOSITE_EXPLICIT, registry
from ..ops.namespaces import namespace
from .fake_context import fake_kernel
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
        check_name(name)
        described = schema_of(function, mutates_args, name) if schema is None else written(name, schema, mutates_args)
        check_keyword_only(described)
        return CustomOpDef(described, function, device_types)
    return make if fn is None else make(fn)


def written(name, text, mutates_args):
    """The Schema that a user wrote. ValueError if it says of other arguments than `mutates_args` that they are
    changed, AttributeError if it has a name of its own."""
    schema = parse(name + text)
    if schema.name != name:
        space, _, called = name.partition("::")
        raise AttributeError(f"'_OpNamespace' '{space}' object has no attribute '{called}'")
    changed = {a.name for a in schema.arguments if a.is_mutable}
    if changed != set(mutates_args):
        raise ValueError(f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={text}. The "
                         f"schema suggests that the op mutates {changed or set()}which is different from what was "
                         "provided to us in `mutates_args`. Please make these consistent.")
    return schema


def check_keyword_only(schema):
    """NotImplementedError for a Tensor that goes by name alone: no gradient would reach it."""
    if any(a.is_keyword_only and a.type.startswith("Tensor") for a in schema.arguments):
        raise NotImplementedError("custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
                                  f"Got: {str(schema).partition('::')[2]}")


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
        self._op.register(K.META, self._without_fake)
        self._op.refuse_meta = self._without_fake
        self.register_kernel(device_types, function)

    @functools.cached_property
    def _opoverload(self):
        space, _, name = self._qualname.partition("::")
        return getattr(namespace(space), name).default

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def _without_fake(self, keys, *args):
        """An operator that only changes its arguments leaves their shapes as they are; others must have a rule."""
        if self._op.schema.is_mutable and not self._op.schema.returns:
            return None
        raise RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for "
            f"torch.compile/export/fx tracing to work. Please use `{self._init_fn.__name__}.register_fake` to add an "
            "fake impl.")

    def register_kernel(self, device_types, fn=None, /):
        """Let another function serve these devices. ValueError for an operator whose arguments do not say the device:
        it has neither a tensor nor a `device`."""
        if device_types is not None and not says_its_device(self._op.schema):
            raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")
        return decorator(fn, lambda f: set_kernels(self._op, device_types, f))

    def register_fake(self, fn, /):
        """The rule that makes results without data, of the right shape, stride and dtype, for meta tensors."""
        set_fake(self._op, fn)
        return fn

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """What a class or mode with `__torch_dispatch__` does with this operator; see
        library.register_torch_dispatch. Also a decorator."""
        return decorator(fn, lambda f: set_dispatch_rule(self._op, torch_dispatch_class, f))

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


def says_its_device(schema):
    """Whether one can tell from the arguments where an operator is to run."""
    return any(a.type.startswith(("Tensor", "Device")) for a in schema.arguments)


def set_fake(op, function):
    """Let a function make an operator's results where there is no data."""
    op.info.fake = function
    op.set_kernel(fake_kernel(op, function), K.META, checks_aliases=False)


def set_dispatch_rule(op, torch_dispatch_class, function):
    op.dispatch_rules[torch_dispatch_class] = function
    return function


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
    if not op.schema.is_functional:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {shown} with "
                           f"schema {op.schema}. Please create a functional operator and register an "
                           "autograd formula for that.")
    op.backward, op.setup_context = backward, setup_context
    op.forget_function()
    op.register(K.AUTOGRAD, op.autograd_kernel)
