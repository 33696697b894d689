"""Padding, interpolation, pixel shuffles, grid sampling and distances against PyTorch."""

import itertools

import pytest

from tests.parity.space import assert_same, assert_same_refusal, function

torch = pytest.importorskip("torch")

LINE, IMAGE, VOLUME = (2, 3, 5), (2, 3, 5, 6), (1, 2, 3, 4, 5)
PADS = {LINE: (2, 1), IMAGE: (2, 1, 0, 3), VOLUME: (1, 2, 0, 1, 2, 0)}
RESIZES = [
    (LINE, mode, {"size": size})
    for mode in ("nearest", "nearest-exact", "linear", "area")
    for size in (3, 11)
]
RESIZES += [
    (IMAGE, mode, settings)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    for settings in ({"size": (3, 9)}, {"scale_factor": 1.7}, {"scale_factor": 0.6})
]
RESIZES += [(IMAGE, mode, {"size": (7, 3), "align_corners": True}) for mode in ("bilinear", "bicubic")]
RESIZES += [(IMAGE, mode, {"size": (3, 9), "antialias": True}) for mode in ("bilinear", "bicubic")]
RESIZES += [(VOLUME, mode, {"scale_factor": (1.5, 2, 0.7)}) for mode in ("nearest", "trilinear")]
RESIZES += [(IMAGE, "bilinear", {"scale_factor": 1.7, "recompute_scale_factor": True})]


@pytest.mark.parametrize("mode", ("constant", "reflect", "replicate", "circular"))
@pytest.mark.parametrize("shape", PADS, ids=str)
def test_padding(mode, shape):
    assert_same(torch, function("pad", PADS[shape], mode), shape)
    assert_same(torch, function("pad", (-1, 2, *PADS[shape][2:]), mode), shape)


@pytest.mark.parametrize("case", RESIZES, ids=str)
def test_interpolation(case):
    shape, mode, settings = case
    assert_same(torch, function("interpolate", mode=mode, **settings), shape)


@pytest.mark.parametrize(
    ("mode", "padding", "corners"),
    list(
        itertools.product(
            ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)
        )
    ),
)
def test_grid_sample(mode, padding, corners):
    assert_same(torch, function("grid_sample", mode, padding, corners), IMAGE, (2, 4, 3, 2), order=1)


@pytest.mark.parametrize("corners", (True, False))
def test_affine_grid_and_volumes(corners):
    assert_same(torch, function("affine_grid", (2, 1, 4, 5), corners), (2, 2, 3), order=1)
    assert_same(torch, function("affine_grid", (2, 1, 3, 4, 5), corners), (2, 3, 4), order=1)
    assert_same(torch, function("grid_sample", align_corners=corners), VOLUME, (1, 2, 3, 2, 3), order=1)


@pytest.mark.parametrize(
    "case",
    [
        ("pixel_shuffle", {"upscale_factor": 2}, (2, 8, 3, 2)),
        ("pixel_unshuffle", {"downscale_factor": 2}, (8, 4, 6)),
        ("channel_shuffle", {"groups": 3}, (2, 6, 4, 3)),
        ("cosine_similarity", {}, (3, 4), (3, 4)),
        ("cosine_similarity", {"dim": 0}, (3, 4), (4,)),
        ("pairwise_distance", {}, (3, 4), (3, 4)),
        ("pairwise_distance", {"p": 3.0, "keepdim": True}, (3, 4), (4,)),
    ],
    ids=str,
)
def test_shuffles_and_distances(case):
    name, settings, *shapes = case
    assert_same(torch, function(name, **settings), *shapes)


@pytest.mark.parametrize(
    "case",
    [
        ("pad", {"pad": (1, 2, 3)}, IMAGE),
        ("pad", {"pad": (1,) * 10}, IMAGE),
        ("pad", {"pad": (6, 1, 1, 1), "mode": "reflect"}, IMAGE),
        ("pad", {"pad": (7, 1, 1, 1), "mode": "circular"}, IMAGE),
        ("pad", {"pad": (1, 1, 1, 1), "mode": "foo"}, IMAGE),
        ("pad", {"pad": (1, 1, 1, 1), "mode": "reflect", "value": 2.0}, IMAGE),
        ("interpolate", {}, IMAGE),
        ("interpolate", {"size": 3, "scale_factor": 2}, IMAGE),
        ("interpolate", {"size": (1, 2, 3)}, IMAGE),
        ("interpolate", {"scale_factor": (1, 2, 3)}, IMAGE),
        ("interpolate", {"size": 3, "mode": "foo"}, IMAGE),
        ("interpolate", {"size": 3, "mode": "linear"}, IMAGE),
        ("interpolate", {"size": 3, "align_corners": True}, IMAGE),
        ("interpolate", {"size": 0}, IMAGE),
        ("interpolate", {"size": 3}, (2, 0, 4, 4)),
        ("interpolate", {"size": 3, "antialias": True}, IMAGE),
        ("pixel_shuffle", {"upscale_factor": 3}, (1, 4, 2, 2)),
        ("pixel_shuffle", {"upscale_factor": 0}, (1, 4, 2, 2)),
        ("pixel_unshuffle", {"downscale_factor": 4}, (1, 4, 2, 2)),
        ("channel_shuffle", {"groups": 3}, (1, 4, 2, 2)),
        ("grid_sample", {"mode": "foo"}, IMAGE, (2, 3, 3, 2)),
        ("grid_sample", {}, IMAGE, (1, 3, 3, 2)),
        ("grid_sample", {}, IMAGE, (2, 3, 3, 3)),
        ("affine_grid", {"size": (2, 4, 3)}, (2, 2, 3)),
    ],
    ids=str,
)
def test_refusal(case):
    name, settings, *shapes = case
    assert_same_refusal(torch, function(name, **settings), *shapes)
