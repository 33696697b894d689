"""Pooling against PyTorch: values, indices, first and second gradients, errors."""

import numpy as np
import pytest

import teachtorch
from tests.parity.space import assert_same, assert_same_refusal, function

torch = pytest.importorskip("torch")

LINE, IMAGE, VOLUME = (2, 3, 9), (2, 3, 7, 8), (1, 2, 5, 6, 4)
CASES = [
    ("max_pool1d", (2,), {}, LINE),
    ("max_pool1d", (3, 2, 1, 2), {"ceil_mode": True, "return_indices": True}, LINE),
    ("max_pool2d", ((3, 2), (2, 1), (1, 0)), {"ceil_mode": True, "return_indices": True}, IMAGE),
    ("max_pool2d", (2,), {"return_indices": True}, (8, 16, 14, 15)),
    ("max_pool2d", (3, 2, 1), {"return_indices": True}, (8, 16, 14, 15)),
    ("max_pool3d", (2, None, 1), {"return_indices": True}, VOLUME),
    ("avg_pool1d", (3, 2, 1), {"count_include_pad": False}, LINE),
    ("avg_pool2d", ((3, 2), 2, 1), {"ceil_mode": True}, IMAGE),
    ("avg_pool2d", (2,), {"divisor_override": 3}, IMAGE[1:]),
    ("avg_pool3d", (2, 1, 1, True, False), {}, VOLUME),
    ("adaptive_avg_pool1d", (4,), {}, LINE),
    ("adaptive_avg_pool2d", ((3, None),), {}, IMAGE),
    ("adaptive_avg_pool2d", (1,), {}, IMAGE),
    ("adaptive_avg_pool3d", (2,), {}, VOLUME),
    ("adaptive_max_pool1d", (4,), {"return_indices": True}, LINE),
    ("adaptive_max_pool2d", ((3, 9),), {"return_indices": True}, IMAGE),
    ("adaptive_max_pool3d", (2,), {"return_indices": True}, VOLUME),
    ("lp_pool1d", (3, 2), {}, LINE),
    ("lp_pool2d", (2, (2, 3)), {}, IMAGE),
    ("lp_pool3d", (2, 2), {}, VOLUME),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pool_and_its_derivatives(case):
    name, args, settings, shape = case
    order = 1 if name.startswith("lp") else 2
    assert_same(torch, function(name, *args, **settings), shape, order=order)


def test_nan_is_the_maximum_and_the_first_of_equals_wins():
    values = np.array([[[[np.nan, 1, 2, 2], [0, 1, 2, 2]]]], np.float32)
    found = [
        library.nn.functional.max_pool2d(library.from_numpy(values), 2, return_indices=True)
        for library in (teachtorch, torch)
    ]
    for own, other in zip(*found):
        np.testing.assert_array_equal(own.numpy(), other.numpy())


@pytest.mark.parametrize("count", (1, 2, 3))
def test_unpooling_puts_the_maxima_back(count):
    shape = (2, 3, 6, 8, 4)[: 2 + count]

    def call(library, t):
        F = library.nn.functional
        values, indices = getattr(F, f"max_pool{count}d")(t, 2, return_indices=True)
        return getattr(F, f"max_unpool{count}d")(values, indices, 2)

    assert_same(torch, call, shape)


@pytest.mark.parametrize(
    "case",
    [
        ("max_pool2d", ((1, 2, 3),), IMAGE),
        ("max_pool2d", (2, 0), IMAGE),
        ("max_pool2d", (2, None, 2), IMAGE),
        ("max_pool2d", (2, None, -1), IMAGE),
        ("max_pool2d", (2, None, 0, 0), IMAGE),
        ("max_pool2d", (9,), IMAGE),
        ("max_pool2d", (2,), (3, 3)),
        ("max_pool2d", (2,), (2, 0, 4, 4)),
        ("max_pool1d", (2,), IMAGE),
        ("max_pool1d", (10,), LINE),
        ("max_pool1d", (2, 0), LINE),
        ("max_pool1d", (2, None, 2), LINE),
        ("max_pool1d", ((2, 2),), LINE),
        ("max_pool3d", (2,), LINE),
        ("avg_pool2d", (9,), IMAGE),
        ("avg_pool2d", (2, 0), IMAGE),
        ("avg_pool2d", (2,), (3, 3)),
        ("avg_pool1d", (2,), IMAGE),
        ("avg_pool1d", ((2, 2),), LINE),
        ("adaptive_avg_pool2d", ((1, 2, 3),), IMAGE),
        ("adaptive_avg_pool2d", (-1,), IMAGE),
        ("adaptive_avg_pool2d", (2,), (2, 3, 0, 3)),
        ("adaptive_avg_pool1d", (2,), IMAGE),
        ("adaptive_avg_pool1d", ((2, 2),), LINE),
        ("adaptive_max_pool2d", ((1, 2, 3),), IMAGE),
        ("adaptive_max_pool2d", (2,), (3, 3)),
        ("adaptive_max_pool2d", (-1,), IMAGE),
    ],
    ids=str,
)
def test_refusal(case):
    name, args, shape = case
    assert_same_refusal(torch, function(name, *args), shape)
