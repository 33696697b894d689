"""Operators without a sparse kernel say so, where the strided kernel below would read memory that is not there."""
import functools

from ...dispatch import keys as K
from ...dispatch.operator import refusals
from ...tensor import Tensor
from ..declare import exports, publish
from ..namespaces import full_name
from .declare import on_sparse

NO_KERNEL = (
    "Could not run '{0}' with arguments from the '{1}' backend. This could be because the operator doesn't exist "
    "for this backend, or was omitted during the selective/custom build process (if using custom build). '{0}' "
    "is only available for these backends: [{2}]."
)
# Views by strides: PyTorch makes them of this one operator.
BY_STRIDES = frozenset([
    "slice", "slice_", "squeeze", "squeeze.dim", "squeeze.dims", "split", "split_with_sizes",
    "diagonal", "expand_as",
])
BY_STRIDES_IN_PLACE = frozenset(["squeeze_", "squeeze.dim_", "squeeze.dims_", "unsqueeze_"])


def no_kernel(op, args, backend="SparseCPU"):
    """PyTorch's sentence for an operator that has no kernel for a backend."""
    return NotImplementedError(NO_KERNEL.format(aten_name(op, args), backend, op.describe_kernels()))


def aten_name(op, args):
    if op.name in BY_STRIDES or op.name in BY_STRIDES_IN_PLACE:
        return "aten::as_strided" + ("_" if op.name in BY_STRIDES_IN_PLACE else "")
    namespace, name, overload = full_name(op, args)
    return f"{namespace}::{name}" + ("" if overload == "default" else f".{overload}")


def refusing_kernel(op):
    """The kernel of an operator that has none for sparse tensors."""
    def refuse(keys, *args):
        raise no_kernel(op, args)
    return refuse


refusals[K.SPARSE_CPU] = refusing_kernel


def saying(error, text, *names):
    """Refuse some operators in other words, as PyTorch does."""
    def refuse(keys, *args):
        raise error(text)
    on_sparse(*names)(refuse)


saying(RuntimeError, "expand is unsupported for Sparse tensors", "expand")
saying(RuntimeError, "reshape is not implemented for sparse tensors", "reshape")


# Public functions that are no operators and look at memory themselves.
FUNCTIONS = {"equal": "equal", "is_set_to": "is_set_to", "set_": "set_.source_Tensor", "resize_": "resize_"}


def asking_layout(name, function, overload):
    """The function, which refuses sparse tensors as operators do."""
    @functools.wraps(function)
    def strided_only(self, *args, **kwargs):
        if isinstance(self, Tensor) and self._keys & K.SPARSE_CPU:
            raise NotImplementedError(NO_KERNEL.format(f"aten::{overload}", "SparseCPU", "CPU"))
        return function(self, *args, **kwargs)
    return strided_only


for _name, _overload in FUNCTIONS.items():
    _spaces = [space for space in ("", "Tensor") if _name in exports[space]]
    publish(_name, asking_layout(_name, exports[_spaces[-1]][_name], _overload), _spaces)
