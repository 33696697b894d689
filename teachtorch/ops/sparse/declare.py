"""Declaring sparse kernels: of operators that exist, and of operators for sparse tensors."""
from ...dispatch import keys as K
from ...dispatch.operator import Operator, registry
from ...tensor import Entries, Tensor, array_of, entries_of, from_array, from_entries
from ..declare import LINEAR, describe, finish
from ..signature import positional


def on_sparse(*names):
    """Register a function of (keys, *arguments) as the SparseCPU kernel of declared operators."""
    def declare(kernel):
        for name in names:
            registry[name].register(K.SPARSE_CPU, kernel)
        return kernel
    return declare


def sparse_operator(name, vjp=None, jvp=LINEAR, of_strided=False, spaces=()):
    """Declare an operator by its kernel, a function of tensors. `of_strided`: whether strided tensors have it, too."""
    def declare(function):
        info = describe(name, "sparse", function, vjp, jvp if vjp else None, None, False, False)
        op = Operator(name, info)
        call = positional(function, info.signature)

        def sparse(keys, *args):
            return call(*args)
        op.register(K.SPARSE_CPU, sparse)
        if of_strided:
            op.register(K.CPU, sparse)
        finish(op, info, spaces)
        return op
    return declare


# ---- the parts of a sparse tensor --------------------------------------------------------------------------

def is_sparse(value):
    """Whether a value is a tensor of layout sparse_coo."""
    return isinstance(value, Tensor) and value._storage.__class__ is Entries


def parts(t):
    """(indices, values) of a sparse tensor, as arrays."""
    entries = entries_of(t)
    return array_of(entries.indices), array_of(entries.values)


def sparse_dims(t):
    """How many of the dimensions have indices; the others are dense."""
    return entries_of(t).indices._shape[0]


def entry_count(t):
    return entries_of(t).indices._shape[1]


def sparse(indices, values, shape, is_coalesced=False):
    """A sparse tensor of arrays or tensors. Fewer than two entries are always coalesced."""
    indices, values = [a if isinstance(a, Tensor) else from_array(a) for a in (indices, values)]
    return from_entries(Entries(indices, values, is_coalesced or indices._shape[1] < 2), shape)


def with_values(t, values, is_coalesced=None):
    """The same places, with other values."""
    entries = entries_of(t)
    return sparse(entries.indices, values, t._shape, entries.is_coalesced if is_coalesced is None else is_coalesced)


def become(t, other):
    """Make a sparse tensor hold the entries of another; the tensor itself stays the same object."""
    t._storage, t._shape, t._stride, t._dtype = other._storage, other._shape, other._stride, other._dtype
    return t


def layout_name(t):
    return "Sparse" if is_sparse(t) else "Strided"
