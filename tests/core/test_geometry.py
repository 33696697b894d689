"""Shapes and strides: what PyTorch's views do, on cases small enough to check by hand."""

import pytest

from teachtorch.core import geometry as g


def positions(shape, stride, offset):
    """List the storage position of every element, in index order."""
    if not shape:
        return [offset]
    rest = shape[1:], stride[1:]
    return [p for i in range(shape[0]) for p in positions(*rest, offset + i * stride[0])]


@pytest.mark.parametrize(
    "shape, stride",
    [
        ((), ()),
        ((5,), (1,)),
        ((0, 5), (5, 1)),
        ((2, 3, 4), (12, 4, 1)),
        ((2, 0, 3), (3, 3, 1)),
        ((4, 1, 3), (3, 3, 1)),
    ],
)
def test_contiguous_strides(shape, stride):
    assert g.contiguous_strides(shape) == stride


@pytest.mark.parametrize(
    "shape, stride, expected",
    [
        ((3, 4), (4, 1), True),
        ((4, 3), (1, 4), False),  # x.t()
        ((3, 2), (4, 1), False),  # x[:, :2]: the last stride is 1, and yet there are gaps
        ((4, 1, 3), (3, 999, 1), True),  # a dimension of size 1 is never stepped along
        ((5, 0), (1, 5), True),  # no elements
        ((3, 4), (1, 0), False),  # expanded
        ((), (), True),
    ],
)
def test_is_contiguous(shape, stride, expected):
    assert g.is_contiguous(shape, stride) is expected


def test_channels_last_puts_the_channels_of_a_pixel_side_by_side():
    n, c, h, w = shape = (2, 3, 4, 5)
    stride = g.channels_last_strides(shape)
    assert stride == (c * h * w, 1, w * c, c)
    assert g.is_channels_last(shape, stride)
    assert not g.is_contiguous(shape, stride)


def test_one_channel_is_both_contiguous_and_channels_last():
    assert g.is_contiguous((2, 1, 4, 4), (16, 16, 4, 1))
    assert g.is_channels_last((2, 1, 4, 4), (16, 16, 4, 1))
    assert g.channels_last_strides((2, 1, 4, 4)) == (16, 1, 4, 1)


def test_channels_last_is_for_four_or_five_dimensions():
    assert not g.is_channels_last((2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        g.channels_last_strides((2, 3))


@pytest.mark.parametrize(
    "shape, stride, expected",
    [
        ((3, 2), (4, 2), (2, 1)),  # x[:, ::2]: the gaps close
        ((3, 4), (1, 0), (4, 1)),  # expanded
        ((4, 3), (1, 4), (1, 4)),  # x.t() is dense: kept
        ((5, 1, 3), (2, 40, 20), (1, 15, 5)),  # the order of the dimensions stays
    ],
)
def test_a_copy_keeps_the_order_of_its_dimensions(shape, stride, expected):
    assert g.preserve_format_strides(shape, stride) == expected


def test_expanding_makes_elements_share_memory():
    shape, stride, _ = g.expand((3, 1), (1, 1), 0, (3, 4))
    assert g.has_internal_overlap(shape, stride)
    assert not g.has_internal_overlap((3, 1), (1, 0))
    assert not g.has_internal_overlap((0, 4), (0, 0))


@pytest.mark.parametrize(
    "shape, stride, offset", [((2, 3), (3, 1), 0), ((3, 2), (1, 3), 4), ((2, 2), (0, 5), 1), ((), (), 7)]
)
def test_storage_extent_is_one_beyond_the_last_element(shape, stride, offset):
    assert g.storage_extent(shape, stride, offset) == max(positions(shape, stride, offset)) + 1


def test_an_empty_tensor_needs_no_storage():
    assert g.storage_extent((3, 0), (1, 1), 100) == 0


@pytest.mark.parametrize(
    "shape, stride, new_shape, expected",
    [
        # arange(24).reshape(2, 3, 4).permute(0, 2, 1)
        ((2, 4, 3), (12, 1, 4), (2, 4, 3), (12, 1, 4)),
        ((2, 4, 3), (12, 1, 4), (2, 2, 2, 3), (12, 2, 1, 4)),
        ((2, 4, 3), (12, 1, 4), (8, 3), None),
        ((2, 4, 3), (12, 1, 4), (2, 12), None),
        # arange(12).view(3, 4)[:, :2]
        ((3, 2), (4, 1), (3, 2), (4, 1)),
        ((3, 2), (4, 1), (6,), None),
        # an expanded column
        ((3, 4), (1, 0), (3, 2, 2), (1, 0, 0)),
        ((3, 4), (1, 0), (12,), None),
        # no elements, no dimensions
        ((2, 0), (1, 1), (0, 5), (5, 1)),
        ((), (), (1, 1), (1, 1)),
    ],
)
def test_view_works_where_no_new_dimension_spans_two_chunks(shape, stride, new_shape, expected):
    assert g.view_strides(shape, stride, new_shape) == expected


def test_view_names_reshape_as_the_way_out():
    with pytest.raises(RuntimeError, match=r"view size is not compatible .* Use .reshape\(...\) instead"):
        g.view((4, 3), (1, 4), 0, (12,))


@pytest.mark.parametrize(
    "shape, count, expected",
    [((2, -1), 6, (2, 3)), ((-1,), 0, (0,)), ((3, -1), 0, (3, 0)), ((), 1, ()), ((-1,), 1, (1,))],
)
def test_infer_size(shape, count, expected):
    assert g.infer_size(shape, count) == expected


@pytest.mark.parametrize(
    "shape, count, text",
    [
        ((5, -1), 12, r"shape '\[5, -1\]' is invalid for input of size 12"),
        ((5,), 6, r"shape '\[5\]' is invalid for input of size 6"),
        ((-1, -1), 6, "only one dimension can be inferred"),
        ((-2, 3), 6, r"invalid shape dimension -2 at index 0 of shape \[-2, 3\]"),
        ((-1, 0), 0, "the unspecified dimension size -1 can be any value and is ambiguous"),
        ((-1, 0), 6, r"shape '\[-1, 0\]' is invalid for input of size 6"),
    ],
)
def test_infer_size_errors(shape, count, text):
    with pytest.raises(RuntimeError, match=text):
        g.infer_size(shape, count)


@pytest.mark.parametrize("dim, ndim, expected", [(0, 2, 0), (-1, 2, 1), (-2, 2, 0), (0, 0, 0), (-1, 0, 0)])
def test_wrap_dim(dim, ndim, expected):
    assert g.wrap_dim(dim, ndim) == expected


@pytest.mark.parametrize("dim, ndim, bounds", [(2, 2, "-2, 1"), (-3, 2, "-2, 1"), (1, 0, "-1, 0")])
def test_wrap_dim_out_of_range(dim, ndim, bounds):
    text = rf"Dimension out of range \(expected to be in range of \[{bounds}\], but got {dim}\)"
    with pytest.raises(IndexError, match=text):
        g.wrap_dim(dim, ndim)


def test_wrap_dims_refuses_a_dim_named_twice():
    assert g.wrap_dims((1, -2), 2) == (1, 0)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        g.wrap_dims((0, -2), 2)


def test_broadcast_shapes():
    assert g.broadcast_shapes((5, 1, 4), (3, 1), ()) == (5, 3, 4)
    assert g.broadcast_shapes((0,), (1,)) == (0,)
    assert g.broadcast_shapes() == ()
    text = r"The size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1"
    with pytest.raises(RuntimeError, match=text):
        g.broadcast_shapes((2, 3), (2, 4))


@pytest.mark.parametrize(
    "view, args, expected",
    [
        (g.select, (0, 1), ((3,), (1,), 13)),
        (g.select, (-1, -1), ((2,), (3,), 12)),
        (g.narrow, (1, 1, 2), ((2, 2), (3, 1), 11)),
        (g.slice_, (1, None, None, 2), ((2, 2), (3, 2), 10)),
        (g.slice_, (0, 5, 7), ((0, 3), (3, 1), 16)),  # the start is clamped to the size
        (g.transpose, (0, 1), ((3, 2), (1, 3), 10)),
        (g.permute, ((1, 0),), ((3, 2), (1, 3), 10)),
        (g.movedim, (0, -1), ((3, 2), (1, 3), 10)),
        (g.unsqueeze, (1,), ((2, 1, 3), (3, 3, 1), 10)),
        (g.unsqueeze, (2,), ((2, 3, 1), (3, 1, 1), 10)),
        (g.expand, ((4, -1, 3),), ((4, 2, 3), (0, 3, 1), 10)),
        (g.expand, ((1, 2, 3),), ((1, 2, 3), (6, 3, 1), 10)),
        (g.diagonal, (), ((2,), (4,), 10)),
        (g.diagonal, (1,), ((2,), (4,), 11)),
        (g.diagonal, (9,), ((0,), (4,), 10)),
        (g.unfold, (1, 2, 1), ((2, 2, 2), (3, 1, 1), 10)),
        (g.t, (), ((3, 2), (1, 3), 10)),
        (g.mT, (), ((3, 2), (1, 3), 10)),
        (g.view_as_dtype, (8, 4), ((2, 6), (6, 1), 20)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_views_of_a_2_by_3_matrix_at_offset_10(view, args, expected):
    assert view((2, 3), (3, 1), 10, *args) == expected


def test_squeeze_drops_only_dimensions_of_size_1():
    column = (1, 3, 1), (3, 1, 1), 0
    assert g.squeeze(*column) == ((3,), (1,), 0)
    assert g.squeeze(*column, 1) == column
    assert g.squeeze(*column, (0, 1)) == ((3, 1), (1, 1), 0)


def test_a_diagonal_is_a_view_with_the_sum_of_two_strides():
    assert positions(*g.diagonal((3, 3), (3, 1), 0)) == [0, 4, 8]
    assert positions(*g.diagonal((3, 3), (3, 1), 0, -1)) == [3, 7]


def test_windows_overlap_in_memory():
    assert positions(*g.unfold((5,), (1,), 0, 0, 3, 2)) == [0, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("split_size, expected", [(1, (1, 1, 1, 1, 1)), (2, (2, 2, 1)), (5, (5,)), (9, (5,))])
def test_split_sizes(split_size, expected):
    assert g.split_sizes((5,), split_size) == expected


def test_chunks_are_equal_but_may_be_fewer_than_asked():
    assert g.chunk_sizes((13,), 6) == (3, 3, 3, 3, 1)
    assert g.chunk_sizes((0,), 3) == (0, 0, 0)


def test_pieces_lie_one_after_the_other():
    assert g.split((2, 5), (5, 1), 0, (2, 3), 1) == [((2, 2), (5, 1), 0), ((2, 3), (5, 1), 2)]
    assert g.unbind((2, 3), (3, 1), 0) == [((3,), (1,), 0), ((3,), (1,), 3)]


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: g.split_sizes((5,), 0), "split_size can only be 0 if dimension size is 0"),
        (lambda: g.split_sizes((5,), -1), "split expects split_size be non-negative, but got split_size=-1"),
        (lambda: g.split_sizes((), 1), "split expects at least a 1-dimensional tensor"),
        (lambda: g.check_split_sizes((5,), (2, 2)), "expects split_sizes to sum exactly to 5"),
        (lambda: g.check_split_sizes((5,), (6, -1)), "have only non-negative entries"),
        (lambda: g.chunk_sizes((5,), 0), "chunk expects `chunks` to be greater than 0, got: 0"),
        (lambda: g.narrow((2,), (1,), 0, 0, 0, -1), r"narrow\(\): length must be non-negative"),
        (lambda: g.narrow((2,), (1,), 0, 0, 0, 3), r"\+ length \(3\) exceeds dimension size \(2\)"),
        (lambda: g.slice_((2,), (1,), 0, 0, None, None, -1), "slice step must be positive"),
        (lambda: g.permute((2, 3), (3, 1), 0, (0, 0)), r"permute\(\): duplicate dims are not allowed"),
        (lambda: g.permute((2, 3), (3, 1), 0, (0,)), r"input.dim\(\) = 2 is not equal to len\(dims\) = 1"),
        (lambda: g.expand((2, 3), (3, 1), 0, (3, 3)), r"The expanded size of the tensor \(3\) must match"),
        (lambda: g.expand((2, 3), (3, 1), 0, (-1, 2, 3)), "in a leading, non-existing dimension 0"),
        (lambda: g.expand((2, 3), (3, 1), 0, (3,)), r"the number of sizes provided \(1\)"),
        (lambda: g.unfold((4,), (1,), 0, 0, 5, 1), "maximum size for tensor at dimension 0 is 4"),
        (lambda: g.diagonal((2, 2), (2, 1), 0, 0, 1, -1), "diagonal dimensions cannot be identical 1, -1"),
        (lambda: g.unflatten_shape((6,), 0, (4, -1)), r"don't multiply up to the size of dim 0 \(6\)"),
        (lambda: g.flatten_shape((2, 3), 1, 0), "start_dim cannot come after end_dim"),
        (lambda: g.t((1, 2, 3), (6, 3, 1), 0), "expects a tensor with <= 2 dimensions, but self is 3D"),
        (lambda: g.mT((3,), (1,), 0), "only supported on matrices or batches of matrices. Got 1-D tensor"),
        (lambda: g.view_as_dtype((3,), (1,), 0, 4, 8), r"self.size\(-1\) must be divisible by 2"),
        (lambda: g.view_as_dtype((), (), 0, 4, 8), r"self.dim\(\) cannot be 0"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_as_strided_may_not_leave_its_storage():
    assert g.as_strided((2, 2), (1, 1), 3, 24, 4) == ((2, 2), (1, 1), 3)
    text = (
        r"setStorage: sizes \[3, 3\], strides \[3, 1\], storage offset 0, and itemsize 4 "
        "requiring a storage size of 36 are out of bounds for storage of size 24"
    )
    with pytest.raises(RuntimeError, match=text):
        g.as_strided((3, 3), (3, 1), 0, 24, 4)
    with pytest.raises(RuntimeError, match="Negative strides are not supported"):
        g.as_strided((2,), (-1,), 1, 24, 4)


def test_T_warns_unless_the_tensor_is_a_matrix(recwarn):
    assert g.numpy_T((2, 3), (3, 1), 0) == ((3, 2), (1, 3), 0)
    assert not recwarn
    with pytest.warns(UserWarning, match="on tensors of dimension other than 2 .* is deprecated"):
        assert g.numpy_T((3,), (1,), 0) == ((3,), (1,), 0)
    with pytest.warns(UserWarning, match="on tensors of dimension other than 2 .* is deprecated"):
        assert g.numpy_T((2, 3, 4), (12, 4, 1), 0) == ((4, 3, 2), (1, 4, 12), 0)
    with pytest.warns(UserWarning, match="Tensor.T is deprecated on 0-D tensors"):
        assert g.numpy_T((), (), 0) == ((), (), 0)
