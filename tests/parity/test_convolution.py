"""Convolutions against PyTorch: values, first and second gradients, errors; small and large."""

import pytest

from tests.parity.space import assert_same, assert_same_refusal, function

torch = pytest.importorskip("torch")

LINE, IMAGE, VOLUME = (2, 4, 9), (2, 4, 6, 7), (1, 2, 4, 5, 3)
SMALL = [
    ("conv1d", {"stride": 2, "padding": 1}, LINE, (6, 4, 3), (6,)),
    ("conv1d", {"padding": "same", "dilation": 3}, LINE, (6, 4, 2)),
    ("conv2d", {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)}, IMAGE, (6, 4, 3, 2), (6,)),
    ("conv2d", {"groups": 2, "padding": "valid"}, IMAGE, (6, 2, 3, 3)),
    ("conv2d", {}, IMAGE[1:], (6, 4, 1, 1), (6,)),
    ("conv3d", {"padding": 1}, VOLUME, (3, 2, 2, 2, 2), (3,)),
    ("conv_transpose1d", {"stride": 3, "output_padding": 2, "dilation": 2}, LINE, (4, 5, 3), (5,)),
    ("conv_transpose1d", {"dilation": 3, "output_padding": 2}, LINE, (4, 5, 2)),
    ("conv_transpose2d", {"stride": 2, "padding": 1, "groups": 2}, IMAGE, (4, 3, 3, 3), (6,)),
    ("conv_transpose3d", {"stride": 2, "output_padding": 1}, VOLUME, (2, 3, 2, 2, 2), (3,)),
    ("unfold", {"kernel_size": (2, 3), "padding": 1, "stride": 2, "dilation": (1, 2)}, IMAGE),
    ("fold", {"output_size": (5, 6), "kernel_size": 2, "stride": (1, 2)}, (2, 8, 12)),
]
LARGE = [
    ("conv2d", {}, (8, 16, 28, 28), (33, 16, 3, 3), (33,)),
    ("conv2d", {"padding": 1, "groups": 2, "dilation": 2}, (8, 16, 30, 28), (34, 8, 3, 3), (34,)),
    ("conv2d", {"padding": 1, "stride": 2}, (4, 16, 29, 29), (32, 16, 3, 3), (32,)),
    ("conv1d", {"padding": 2}, (2, 16, 3000), (33, 16, 5)),
    ("conv3d", {"padding": 1}, (2, 8, 9, 10, 14), (16, 8, 3, 3, 2), (16,)),
    ("conv_transpose2d", {"padding": 1}, (4, 16, 30, 28), (16, 32, 3, 3), (32,)),
    ("conv2d", {"padding": 1}, (16, 64, 4, 4), (64, 64, 3, 3)),
]


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_small_convolution_and_its_derivatives(case):
    name, settings, *shapes = case
    assert_same(torch, function(name, **settings), *shapes)


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_large_convolution_and_its_gradients(case):
    name, settings, *shapes = case
    assert_same(torch, function(name, **settings), *shapes, order=1)


@pytest.mark.parametrize(
    "case",
    [
        ("conv2d", {}, IMAGE, (6, 3, 3, 3)),
        ("conv2d", {}, (4, 4), (6, 4, 3, 3)),
        ("conv2d", {}, IMAGE, (6, 4, 3)),
        ("conv2d", {}, IMAGE, (6, 4, 3, 3), (5,)),
        ("conv2d", {"stride": 0}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {"padding": -1}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {"stride": (1, 1, 1)}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {}, IMAGE, (6, 4, 9, 9)),
        ("conv2d", {"groups": 4}, IMAGE, (6, 1, 3, 3)),
        ("conv2d", {"groups": 0}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {"padding": "same", "stride": 2}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {"padding": "foo"}, IMAGE, (6, 4, 3, 3)),
        ("conv2d", {}, IMAGE, (0, 4, 3, 3)),
        ("conv_transpose2d", {}, IMAGE, (8, 4, 3, 3)),
        ("conv_transpose2d", {"output_padding": 1}, IMAGE, (4, 2, 3, 3)),
        ("conv_transpose2d", {}, IMAGE, (4, 2, 3, 3), (3,)),
        ("conv_transpose2d", {"padding": "same"}, IMAGE, (4, 2, 3, 3)),
        ("unfold", {"kernel_size": 9}, IMAGE),
        ("unfold", {"kernel_size": 2, "stride": 0}, IMAGE),
        ("unfold", {"kernel_size": 0}, IMAGE),
        ("unfold", {"kernel_size": (2, 2, 2)}, IMAGE),
        ("unfold", {"kernel_size": 2}, (4, 4)),
        ("fold", {"output_size": 3, "kernel_size": 5}, (2, 12, 4)),
        ("fold", {"output_size": (3, 3), "kernel_size": 2}, (2, 12, 5)),
    ],
    ids=str,
)
def test_refusal(case):
    name, settings, *shapes = case
    assert_same_refusal(torch, function(name, **settings), *shapes)
