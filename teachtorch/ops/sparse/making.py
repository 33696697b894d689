"""`sparse_coo_tensor`: a sparse tensor of indices and values, and what is checked of them."""

from ...core import dtype as dt
from ...core import settings
from ...core.device import as_device
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import Tensor, array_of, from_array, same_memory
from ..arguments import as_dtype, size_argument
from ..creation import asked_grad
from ..declare import publish
from ..sequences import array_from_data
from .declare import sparse, sparse_operator
from .reading import check_inside, empty_sparse

FORMS = """ * (object indices, object values, *, torch.dtype dtype = None, torch.device device = None, bool pin_memory = False, \
bool requires_grad = False, bool check_invariants = None, bool is_coalesced = None)
 * (object indices, object values, tuple of ints size, *, torch.dtype dtype = None, torch.device device = None, bool \
pin_memory = False, bool requires_grad = False, bool check_invariants = None, bool is_coalesced = None)
 * (tuple of ints size, *, torch.dtype dtype = None, torch.device device = None, bool requires_grad = False, bool \
check_invariants = None)
"""


@sparse_operator("_sparse_coo_tensor_with_dims_and_tensors", of_strided=True,
                 vjp={"values": lambda grad, result: registry["_values_at"](grad, result)})
def with_dims_and_tensors(size, indices, values, is_coalesced=False):
    """A sparse tensor of this size over the memory of `indices` and `values`."""
    return sparse(same_memory(indices), same_memory(values), size, bool(is_coalesced))


def sparse_coo_tensor(*args, indices=None, values=None, size=None, dtype=None, device=None, pin_memory=False,
                      requires_grad=False, check_invariants=None, is_coalesced=None):
    """A sparse tensor whose elements are zero but for `values` at `indices`.

    `sparse_coo_tensor(indices, values, size=None)` or `sparse_coo_tensor(size)`, the latter without entries.

    Args:
        indices: integers of shape (sparse dims, entries): column k says where value k stands.
        values: (entries, *dense dims); values at one place count together. Gradients flow to them.
        size: the shape; unless given, the smallest one that holds all indices.
        check_invariants: refuse indices outside of the size at once (RuntimeError), not when they are first used.
            None: as `torch.sparse.check_sparse_tensor_invariants` says, which is no.
        is_coalesced: a promise that no place occurs twice and the places ascend.
    RuntimeError where the shapes do not fit together.
    """
    names = dict(zip(("indices", "values", "size"), args))
    given = {"indices": indices, "values": values, "size": size, **names}
    is_empty = is_size_alone(args, given)
    if device is not None and as_device(device).type != "cpu":
        raise NotImplementedError(f"teachtorch has sparse tensors on the CPU alone, not on {device}")
    if is_empty:
        size = given["size"] if given["indices"] is None else given["indices"]
        return without_entries(size, dtype, requires_grad)
    if len(args) > 3 or given["indices"] is None or given["values"] is None or wrong_size(given["size"]):
        raise TypeError("sparse_coo_tensor() received an invalid combination of arguments - got "
                        f"({', '.join(type(a).__name__ for a in args)}), but expected one of:\n{FORMS}")
    made = of_parts(given["indices"], given["values"], given["size"], dtype, is_coalesced, must_check(check_invariants))
    return asked_grad(made) if requires_grad and made.is_leaf else made


def is_size_alone(args, given):
    """Whether it is called with a size and nothing else. TypeError if the one argument is no size."""
    if len(args) == 1 and given["values"] is None:
        if isinstance(args[0], Tensor):
            size_argument(args[0], "sparse_coo_tensor")
        return isinstance(args[0], (tuple, list))
    return given["indices"] is None and given["values"] is None and given["size"] is not None


def wrong_size(size):
    return size is not None and not isinstance(size, (tuple, list))


def without_entries(size, dtype, requires_grad):
    """A sparse tensor of zeros."""
    size = size_argument(size, "sparse_coo_tensor")
    refuse_negative(size)
    made = empty_sparse(size, settings.default_dtype if dtype is None else as_dtype(dtype, "sparse_coo_tensor"))
    return asked_grad(made) if requires_grad else made


def of_parts(indices, values, size, dtype, is_coalesced, check):
    values = as_values(values, None if dtype is None else as_dtype(dtype, "sparse_coo_tensor"))
    indices = as_indices(indices)
    size = None if size is None else size_argument(size, "sparse_coo_tensor", "size", 3)
    check_parts(indices, values)
    size = inferred_size(indices, values) if size is None else size
    check_size(size, indices, values)
    if check:
        check_inside(array_of(indices), size)
        if is_coalesced and not kernels.is_ascending(kernels.positions(array_of(indices), size)):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    return with_dims_and_tensors(size, indices, values, bool(is_coalesced))


def as_values(values, dtype):
    """The values as a tensor that keeps its history; a single number stands for one entry."""
    if not isinstance(values, Tensor):
        values = from_array(array_from_data(values, dtype))
    elif dtype is not None:
        values = values.to(dtype)
    return values if values._shape else values.expand(1)


def as_indices(indices):
    if isinstance(indices, Tensor):
        return indices.detach().to(dt.int64)
    return from_array(array_from_data(indices, dt.int64))


def check_parts(indices, values):
    if len(indices._shape) != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices._shape)}")
    if indices._shape[1] != values._shape[0]:
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {indices._shape[1]}, nnz "
                           f"from values: {values._shape[0]}")


def inferred_size(indices, values):
    """The smallest size: one more than the largest index of each sparse dimension."""
    found = array_of(indices)
    sizes = [0] * len(found)
    if found.size:
        for dim, least in enumerate(found.min(1)):
            if least < 0:
                raise RuntimeError(f"found negative index {least} for dim {dim}")
        sizes = [int(largest) + 1 for largest in found.max(1)]
    return (*sizes, *values._shape[1:])


def check_size(size, indices, values):
    refuse_negative(size)
    sparse_dim, dense_dim = indices._shape[0], len(values._shape) - 1
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
                           f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")
    expected = [values._shape[0], *size[sparse_dim:]]
    if list(values._shape) != expected:
        raise RuntimeError(f"values has incorrect size, expected {expected}, got {list(values._shape)}")


def refuse_negative(size):
    if size and min(size) < 0:
        raise RuntimeError("numel: integer multiplication overflow")


# ---- whether to look ---------------------------------------------------------------------------------------

class check_sparse_tensor_invariants:
    """Look at every new sparse tensor's indices, in a `with` block, a decorated function, or from `enable()` on.

    `check_sparse_tensor_invariants(enable=False)` does the opposite.
    """

    _enabled = False

    def __init__(self, enable=True):
        self.state, self.saved = enable, None

    @staticmethod
    def is_enabled():
        """Whether new tensors are looked at."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        """Look at new tensors from now on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        """Do not look any more."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        if self.saved is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager "
                               "instance for context nesting.")
        self.saved = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *error):
        check_sparse_tensor_invariants._enabled, self.saved = self.saved, None

    def __call__(self, function):
        def checked(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)
        return checked


def must_check(asked):
    return check_sparse_tensor_invariants.is_enabled() if asked is None else asked


with_dims_and_tensors.info.public = publish("sparse_coo_tensor", sparse_coo_tensor, ("",))
publish("_sparse_coo_tensor_unsafe", sparse_coo_tensor, ("",))
publish("check_sparse_tensor_invariants", check_sparse_tensor_invariants, ("sparse",))
