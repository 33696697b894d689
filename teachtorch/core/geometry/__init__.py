"""Shape and stride arithmetic: what every view operation computes, without a tensor in sight.

A tensor's geometry says where its elements lie:

- ``shape``: a tuple of sizes, one per dimension;
- ``stride``: a tuple of steps **in elements**, one per dimension;
- ``offset``: the position, in elements, of its first element in the storage.

Element ``t[i, j, ...]`` lies at ``offset + i * stride[0] + j * stride[1] + ...``.  A view operation moves no
data: it is a function from one geometry to another.  Those functions stand here, each taking
``(shape, stride, offset, ...)`` and returning ``(shape, stride, offset)``.

Sizes and strides are plain ints; checking that an argument *is* an int is left to the operators. A dimension
may be anything that Python takes as an index.

    sizes.py       counting elements, dims from the end, broadcasting
    strides.py     layouts: strides of new tensors; contiguous, dense, overlapping
    picking.py     select, narrow, slice, split
    dims.py        transpose, permute, squeeze, expand
    reshaping.py   view, flatten, windows, diagonals, as_strided
"""

from .dims import (  # noqa: F401
    H, expand, mT, movedim, movedim_order, numpy_T, permute, squeeze, t, transpose, unsqueeze,
)
from .picking import (  # noqa: F401
    check_split_sizes, chunk_sizes, narrow, select, slice_, split, split_sizes, unbind,
)
from .reshaping import (  # noqa: F401
    as_strided, diagonal, flatten_shape, unflatten_shape, unfold, view, view_as_dtype, view_strides,
)
from .sizes import (  # noqa: F401
    as_int, broadcast_shapes, check_64_bits, check_storage_size, infer_size, numel, wrap_dim, wrap_dims,
)
from .strides import forget  # noqa: F401
from .strides import (  # noqa: F401
    channels_last_strides, contiguous_strides, has_internal_overlap, is_channels_last, is_contiguous,
    is_non_overlapping_and_dense, overlaps, overlaps_partly, preserve_format_strides, storage_extent, strides_following,
)
