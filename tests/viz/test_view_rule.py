"""The replay of the view rule, on geometries with known answers."""

import pytest

from viz.view_rule import contiguous_strides, replay, resolve

PERMUTED = ((2, 4, 3), (12, 1, 4))
CUT = ((3, 2), (4, 1))
EXPANDED = ((3, 4), (1, 0))


@pytest.mark.parametrize(
    "geometry, shape, strides",
    [
        (PERMUTED, (2, 4, 3), (12, 1, 4)),
        (PERMUTED, (2, 2, 2, 3), (12, 2, 1, 4)),
        (PERMUTED, (8, 3), None),
        (PERMUTED, (2, 12), None),
        (CUT, (3, 2), (4, 1)),
        (CUT, (6,), None),
        (EXPANDED, (3, 2, 2), (1, 0, 0)),
        (EXPANDED, (12,), None),
        (((), ()), (1, 1), (1, 1)),
        (((0, 3), (3, 1)), (3, 0), (1, 1)),
        (((0, 3), (7, 7)), (0, 3), (7, 7)),
    ],
)
def test_known_answers(geometry, shape, strides):
    assert replay(*geometry, shape).strides == strides


def test_chunks_are_named_from_the_last_dim():
    chunks = replay((2, 3, 4), (12, 4, 1), (6, 4)).chunks
    assert [(chunk.dims, chunk.numel, chunk.base, chunk.new) for chunk in chunks] == [
        ([0, 1, 2], 24, 1, [0, 1])
    ]


def test_the_new_dim_at_fault_is_named():
    result = replay(*PERMUTED, (8, 3))
    assert result.straddles == 0
    assert "New dim 0 (size 8) would straddle two chunks" in result.sentences[-1]


def test_minus_one_is_worked_out_or_refused():
    assert resolve(24, (2, -1, 3)) == (2, 4, 3)
    with pytest.raises(ValueError, match="ambiguous"):
        resolve(0, (0, -1))
    with pytest.raises(ValueError, match="one -1"):
        resolve(24, (-1, -1))
    with pytest.raises(ValueError, match=r"shape '\[5, 5\]' is invalid for input of size 24"):
        resolve(24, (5, 5))


def test_contiguous_strides_count_a_size_of_zero_as_one():
    assert contiguous_strides((2, 3, 4)) == (12, 4, 1)
    assert contiguous_strides((3, 0, 2)) == (2, 2, 1)
