"""Indices read as PyTorch reads them: which part is a view, and which part gathers."""

from dataclasses import dataclass

import numpy as np
import pytest

from teachtorch.core.indexing import gather_layout, plan_index

SHAPE, STRIDE = (2, 3, 4), (12, 4, 1)


@dataclass(frozen=True)
class IndexTensor:
    """The little that an index tensor must show."""

    dtype: str
    shape: tuple
    value: int = 0

    @property
    def ndim(self):
        return len(self.shape)

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __bool__(self):
        return self.value != 0


def as_index_tensor(sequence):
    array = np.asarray(sequence)
    return IndexTensor("bool" if array.dtype == bool else "int64", array.shape)


def plan(index, shape=SHAPE, stride=STRIDE):
    return plan_index(index, shape, stride, 0, as_index_tensor)


@pytest.mark.parametrize(
    "index, view",
    [
        (1, ((3, 4), (4, 1), 12)),
        (-1, ((3, 4), (4, 1), 12)),
        ((1, 2), ((4,), (1,), 20)),
        ((slice(None), 1), ((2, 4), (12, 1), 4)),
        ((..., 1), ((2, 3), (12, 4), 1)),
        (slice(1, None), ((1, 3, 4), (12, 4, 1), 12)),
        ((0, slice(0, 3, 2)), ((2, 4), (8, 1), 0)),
        (None, ((1, 2, 3, 4), (24, 12, 4, 1), 0)),
        ((slice(None), None, 2), ((2, 1, 4), (12, 12, 1), 8)),
        ((), (SHAPE, STRIDE, 0)),
        (..., (SHAPE, STRIDE, 0)),
        (IndexTensor("torch.int64", (), 1), ((3, 4), (4, 1), 12)),
        (np.int64(1), ((3, 4), (4, 1), 12)),
        (slice(IndexTensor("torch.int64", (), 1), None), ((1, 3, 4), (12, 4, 1), 12)),
    ],
)
def test_basic_indices_make_a_view(index, view):
    result = plan(index)
    assert result[:3] == view
    assert result.indices == ()


def test_steps_tell_how_the_view_comes_about():
    assert plan((-1, slice(1, 3), None)).steps == (("select", 0, -1), ("slice", 0, 1, 3, 1), ("unsqueeze", 1))


def test_a_slice_that_keeps_all_is_no_step_unless_it_stands_alone():
    assert plan((slice(None), slice(0, 9), 2)).steps == (("select", 2, 2),)
    assert plan(slice(None)).steps == (("slice", 0, None, None, 1),)
    assert plan(...).steps == ()


def test_advanced_indices_keep_their_dimension():
    rows, columns = IndexTensor("int64", (5,)), IndexTensor("int64", (5,))
    assert plan(rows).indices == (rows,)
    # The select comes first, and takes its dimension away.
    assert plan((0, slice(None), rows)).indices == (None, rows)
    assert plan((rows, ..., columns)).indices == (rows, None, columns)
    assert plan([0, 1]).indices == (IndexTensor("int64", (2,)),)


def test_a_mask_takes_as_many_dimensions_as_it_has():
    mask = IndexTensor("torch.bool", (2, 3))
    result = plan((mask, 1))
    assert result.shape == (2, 3)
    assert result.steps == (("select", 2, 1),)
    assert result.indices == (mask,)


def test_a_bool_applies_to_a_new_dimension_of_size_1():
    result = plan((slice(None), True))
    assert result.shape == (2, 1, 3, 4)
    assert result.indices == (None, True)
    assert plan(IndexTensor("torch.bool", ())).indices == (False,)


@pytest.mark.parametrize(
    "index, error, text",
    [
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, -4), IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice(0.5), TypeError, "slice indices must be integers or None or have an __index__ method"),
        (1.5, IndexError, "only integers, slices .* are valid indices \\(got float\\)"),
        (np.bool_(True), IndexError, "valid indices \\(got numpy.bool"),
        ({}, IndexError, "valid indices \\(got dict\\)"),
        ((0, "a"), TypeError, "new\\(\\): invalid data type 'str'"),
        (IndexTensor("torch.float32", (2,)), IndexError, "must be long, int, byte or bool tensors"),
        (IndexTensor("torch.int16", (2,)), IndexError, "must be long, int, byte or bool tensors"),
        (
            (slice(None), IndexTensor("torch.bool", (2,))),
            IndexError,
            r"The shape of the mask \[2\] at index 0 does not match "
            r"the shape of the indexed tensor \[2, 3, 4\] at index 1",
        ),
        ((IndexTensor("bool", (2, 3)), 0, 0), IndexError, "too many indices for tensor of dimension 3"),
    ],
)
def test_refusals(index, error, text):
    with pytest.raises(error, match=text):
        plan(index)


def test_a_0_dim_tensor_takes_no_ints_and_no_slices():
    with pytest.raises(IndexError, match=r"invalid index of a 0-dim tensor\. Use `tensor\.item\(\)`"):
        plan(0, (), ())
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor"):
        plan(slice(None), (), ())
    assert plan(None, (), ())[:3] == ((1,), (1,), 0)
    assert plan(..., (), ())[:3] == ((), (), 0)


def test_a_list_of_lists_is_still_read_as_a_tuple_with_a_warning():
    with pytest.warns(UserWarning, match="non-tuple sequence for multidimensional indexing is deprecated"):
        result = plan([[0, 1], [1, 0]])
    assert len(result.indices) == 2


@pytest.mark.parametrize(
    "shape, index_shapes, expected",
    [
        ((2, 3, 4), (None, (5,)), (2, 5, 4)),
        ((2, 3, 4), ((5,), (5,)), (5, 4)),
        ((2, 3, 4), ((5,), None, (5,)), (5, 3)),  # not neighbours: to the front
        ((2, 3, 4, 5), (None, (6, 1), (1, 7)), (2, 6, 7, 5)),  # neighbours: in place
        ((2, 3, 4, 5), (None, (6,), None, (6,)), (6, 2, 4)),
        ((2, 3), ((0,),), (0, 3)),
    ],
)
def test_where_gathered_dimensions_go(shape, index_shapes, expected):
    assert gather_layout(shape, index_shapes)[0] == expected


def test_gathering_refusals():
    text = r"shape mismatch: indexing tensors could not be broadcast together with shapes \[2\], \[3\]"
    with pytest.raises(IndexError, match=text):
        gather_layout((4, 4), ((2,), (3,)))
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        gather_layout((0, 3), ((1,),))
