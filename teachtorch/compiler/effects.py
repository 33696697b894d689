"""What operators do to memory: which arguments they change, which results look at an argument's memory."""
from ..tensor import Tensor

RESHAPING = frozenset(("as_strided_", "t_", "transpose_", "squeeze_", "squeeze.dim_", "squeeze.dims_",
                       "unsqueeze_",
                       "resize_", "resize_as_", "set_", "swapaxes_", "swapdims_"))
NORMALISING = frozenset(("native_batch_norm", "batch_norm", "batch_norm_"))


def changed_arguments(func, args, kwargs, kind=Tensor):
    """The tensors (or what stands for them: objects of class `kind`) among an operator's arguments that it changes."""
    op = func._op
    schema = getattr(op, "schema", None)
    if schema is not None and hasattr(schema, "arguments"):
        values = dict(zip(schema.names, args)) | dict(kwargs)
        return [values[a.name] for a in schema.arguments if a.is_mutable
                and isinstance(values.get(a.name), kind)]
    if op.name in NORMALISING:
        return [t for t in args[3:5] if t is not None] if args[5] else []
    if op.name.startswith(("_foreach", "_fused")):
        return [t for a in args if isinstance(a, (list, tuple)) for t in a if isinstance(t, kind)]
    return [args[0]] if op.name.endswith("_") and isinstance(args[0], kind) else []


def changes_geometry(func):
    """Whether an operator gives its argument another shape or strides in place."""
    return func._op.name in RESHAPING


def is_view(func):
    """Whether an operator's results look at its first argument's memory."""
    return getattr(func._op.info, "kind", None) == "view"


def is_random(func):
    """Whether an operator draws random numbers."""
    return any(word in func._op.name for word in ("bernoulli", "normal_", "random_", "uniform", "exponential",
                                                  "cauchy",
                                                   "geometric", "rand", "multinomial", "poisson", "rrelu",
                                                   "log_normal"))
