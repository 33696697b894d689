"""Triangles and diagonals of matrices: tril, triu, diag, diag_embed, block_diag."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..tensor import array_of, from_array, stride_of
from .arguments import require_kind
from .creation import factory_operator, made
from .declare import LINEAR, composite, operator, publish
from .elementwise import common_dtype
from .fake import Fake
from .node_names import name_node
from .view import strided_array


def triangle(name, keeps):
    """tril and triu: zeros outside one triangle of the last two dimensions."""
    def fake(self, diagonal=0):
        geometry.as_int(diagonal, "diagonal")
        check_matrix(self._shape, name)
        return Fake(self._shape, self._dtype)

    def kernel(self, diagonal=0):
        diagonal = geometry.as_int(diagonal, "diagonal")
        check_matrix(self.shape, name)
        is_kept = keeps(np.arange(self.shape[-2])[:, None], np.arange(self.shape[-1]), diagonal)
        return np.ascontiguousarray(np.where(is_kept, self, self.dtype.type(0)))

    kernel.__doc__ = f"The {'lower' if name == 'tril' else 'upper'} triangle of matrices, zeros elsewhere."
    operator(name, jvp=LINEAR, fake=fake, inplace=True, vjp={
        "self": lambda grad, diagonal: registry[name](grad, diagonal)})(kernel)


def check_matrix(shape, name):
    if len(shape) < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


triangle("tril", lambda row, column, diagonal: column - row <= diagonal)
triangle("triu", lambda row, column, diagonal: column - row >= diagonal)


def triangle_indices(name, keeps, doc):
    def indices(row, col, offset, dtype):
        mask = keeps(np.arange(row)[:, None], np.arange(col), offset)
        return np.array(np.nonzero(mask), dtype.numpy).reshape(2, -1)

    indices.__doc__ = doc
    op = factory_operator(name, fake=lambda row, col, offset, dtype: Fake(
        indices(row, col, offset, dtype).shape, dtype))(indices)

    def function(row, col, offset=0, *, dtype=dt.int64, device=None, layout=None, pin_memory=False):
        for place, (what, size) in enumerate((("row", row), ("col", col)), start=1):
            require_kind(size, (int, np.integer), "int", name, what, place)
            if size < 0:
                raise RuntimeError(f"{what} must be non-negative, got{size}")
        if dtype not in (None, dt.int32, dt.int64):
            raise NotImplementedError(f'"{name}" not implemented for \'{scalar_type_name(dtype)}\'')
        return made(op, (row, col, offset), dtype, device, False)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    op.info.public = publish(name, function, ("",))


triangle_indices("tril_indices", lambda row, column, offset: column - row <= offset,
                 "Rows and columns, shape (2, n), of the lower triangle of a (row, col) matrix.")
triangle_indices("triu_indices", lambda row, column, offset: column - row >= offset,
                 "Rows and columns, shape (2, n), of the upper triangle of a (row, col) matrix.")


def fake_diagonal_copy(self, offset=0, dim1=0, dim2=1):
    shape, _, _ = geometry.diagonal(self._shape, stride_of(self), 0, offset, dim1, dim2)
    return Fake(shape, self._dtype)


@operator("diagonal_copy", jvp=LINEAR, fake=fake_diagonal_copy, spaces=("",), vjp={
    "self": lambda grad, self_shape, offset, dim1, dim2: grad.diagonal_backward(
        self_shape, offset, dim1, dim2)})
def diagonal_copy(self, offset=0, dim1=0, dim2=1):
    """A copy of the diagonal of two dimensions."""
    return np.copy(np.diagonal(self, offset, dim1, dim2), order="C")


name_node("diagonal_copy", "DiagonalBackward0_copy")


def embedded_shape(shape, offset, dim1, dim2):
    """(shape, dim1, dim2) of diag_embed's result."""
    ndim = len(shape) + 1
    dim1, dim2 = geometry.wrap_dim(dim1, ndim), geometry.wrap_dim(dim2, ndim)
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = shape[-1] + abs(offset)
    result = list(shape[:-1])
    for dim in sorted((dim1, dim2)):
        result.insert(dim, size)
    return tuple(result), dim1, dim2


@operator("diag_embed", jvp=LINEAR, out=False,
          fake=lambda self, offset=0, dim1=-2, dim2=-1: Fake(
              embedded_shape(self._shape, offset, dim1, dim2)[0], self._dtype),
          vjp={"self": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2)})
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    """Zeros with the last dimension laid out along a diagonal of the (new) dimensions `dim1` and `dim2`."""
    shape, dim1, dim2 = embedded_shape(self.shape, offset, dim1, dim2)
    result = np.zeros(shape, self.dtype)
    stride = geometry.contiguous_strides(shape)
    strided_array(result, *geometry.diagonal(shape, stride, 0, offset, dim1, dim2))[...] = self
    return result


@composite("diag", out=True)
def diag(self, diagonal=0):
    """The matrix with a vector on a diagonal; of a matrix, a copy of the diagonal."""
    if len(self._shape) == 1:
        return self.diag_embed(diagonal)
    if len(self._shape) == 2:
        return registry["diagonal_copy"](self, diagonal, 0, 1)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {len(self._shape)}D")


@composite("diagflat")
def diagflat(self, offset=0):
    """The matrix with all elements of the tensor on a diagonal."""
    return self.reshape(-1).diag(offset)


def block_shapes(tensors):
    """Each tensor's (rows, columns)."""
    for place, t in enumerate(tensors):
        if len(t._shape) > 2:
            raise RuntimeError("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                               f"{place} has {len(t._shape)} dimensions")
    return [as_block(t._shape) for t in tensors]


def as_block(shape):
    return (1,) * (2 - len(shape)) + shape


def fake_block_diag(tensors):
    shapes = block_shapes(tensors)
    return Fake((sum(s[0] for s in shapes), sum(s[1] for s in shapes)), common_dtype(tensors))


def block_diag_backward(grad, shapes):
    parts, row, column = [], 0, 0
    for shape in shapes:
        rows, columns = as_block(shape)
        parts.append(grad.narrow(0, row, rows).narrow(1, column, columns).reshape(shape))
        row, column = row + rows, column + columns
    return parts


@operator("block_diag", jvp=LINEAR, out=False, spaces=(), fake=fake_block_diag,
          vjp={"tensors": lambda grad, tensors_shape: block_diag_backward(grad, tensors_shape)})
def block_diag_operator(tensors):
    """The matrix with the tensors as blocks on its diagonal, zeros elsewhere."""
    raise NotImplementedError


def block_diag_kernel(keys, tensors):
    fake = fake_block_diag(tensors)
    result = np.zeros(fake.shape, fake.dtype.numpy)
    row, column = 0, 0
    for t in tensors:
        rows, columns = as_block(t._shape)
        result[row:row + rows, column:column + columns] = array_of(t)
        row, column = row + rows, column + columns
    return from_array(result, fake.dtype)


registry["block_diag"].register(K.CPU, block_diag_kernel)


def block_diag(*tensors):
    """The matrix with the tensors (of at most 2 dimensions) as blocks on its diagonal, zeros elsewhere."""
    return registry["block_diag"](list(tensors))


registry["block_diag"].info.public = publish("block_diag", block_diag, ("",))
