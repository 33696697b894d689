"""Which results of channels-last tensors are channels-last, as in PyTorch: the same strides and values."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import teachtorch

IMAGE = np.random.default_rng(0).standard_normal((2, 4, 6, 6)).astype(np.float32)
VOLUME = np.random.default_rng(1).standard_normal((2, 4, 4, 6, 6)).astype(np.float32)
WEIGHT = np.random.default_rng(2).standard_normal((4, 4, 3, 3)).astype(np.float32)

OF_IMAGES = """
    F.conv2d(x, w) | F.conv2d(x, w, stride=2, padding=1) | F.conv2d(x, w[:, :1], groups=4) | F.conv_transpose2d(x, w)
    F.conv2d(x.contiguous(), w.contiguous(memory_format=last)) | F.conv2d(x[:1], w[:1]) | F.conv2d(x, w[:, :, :1, :1])
    F.max_pool2d(x, 2) | F.max_pool2d(x, 2, return_indices=True)[1] | F.avg_pool2d(x, 2) | F.lp_pool2d(x.abs(), 2, 2)
    F.adaptive_avg_pool2d(x, 2) | F.adaptive_avg_pool2d(x, 1) | F.adaptive_max_pool2d(x, 2)
    F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)
    F.batch_norm(x, v, v + 1) | F.batch_norm(x, v, v + 1, training=True) | F.group_norm(x, 2) | F.instance_norm(x)
    F.layer_norm(x, (6,)) | F.interpolate(x, scale_factor=2) | F.interpolate(x, scale_factor=2, mode="bilinear")
    F.interpolate(x, scale_factor=2, mode="bicubic") | F.interpolate(x, size=(3, 3), mode="area")
    F.pad(x, (1, 1, 1, 1)) | F.pad(x, (1, 1)) | F.pad(x, (-1, -1)) | F.pad(x, (1, 1, 1, 1), mode="reflect")
    F.pad(x, (1, 1, 1, 1), mode="replicate") | F.pixel_shuffle(x, 2) | F.pixel_unshuffle(x, 2)
    F.channel_shuffle(x, 2) | F.softmax(x, 1) | F.dropout(x, 0.0) | F.prelu(x, v) | x.sum(0) | x.sum(2) | x.mean(1)
    x.amax(0) | x.norm(dim=0) | x.argmax(0) | x.mean((2, 3), keepdim=True) | torch.cat([x, x], 1) | x.double() | x[0]
    F.grid_sample(x, torch.zeros(2, 2, 2, 2), align_corners=False) | F.local_response_norm(x, 2)
"""
OF_VOLUMES = """
    F.max_pool3d(x, 2) | F.avg_pool3d(x, 2) | F.adaptive_avg_pool3d(x, 2) | F.adaptive_avg_pool3d(x, 1)
    F.batch_norm(x, v, v + 1) | F.interpolate(x, scale_factor=2) | F.interpolate(x, scale_factor=2, mode="trilinear")
    F.pad(x, (1,) * 6) | F.pad(x, (1,) * 6, mode="replicate") | F.group_norm(x, 2) | F.adaptive_max_pool3d(x, 2)
"""


def calls(table):
    return [call.strip() for line in table.split("\n") for call in line.split(" | ") if call.strip()]


def evaluated(library, call, array, last):
    names = {"torch": library, "F": library.nn.functional, "last": last, "v": library.zeros(4),
             "x": library.tensor(array).contiguous(memory_format=last), "w": library.tensor(WEIGHT)}
    return eval(call, names)


def assert_same(call, array, last):
    ours = evaluated(teachtorch, call, array, getattr(teachtorch, last))
    theirs = evaluated(torch, call, array, getattr(torch, last))
    assert ours.stride() == theirs.stride()
    np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("call", calls(OF_IMAGES))
def test_results_of_channels_last_images(call):
    assert_same(call, IMAGE, "channels_last")


@pytest.mark.parametrize("call", calls(OF_VOLUMES))
def test_results_of_channels_last_volumes(call):
    assert_same(call, VOLUME, "channels_last_3d")


MODULES = {
    "weights": lambda lib, last: [p.stride() for p in lib.nn.Conv2d(4, 8, 3).to(memory_format=last).parameters()],
    "with a dtype": lambda lib, last: lib.nn.Conv2d(4, 8, 3).to(lib.float64, memory_format=last).weight.stride(),
    "norms stay": lambda lib, last: lib.nn.BatchNorm2d(4).to(memory_format=last).weight.stride(),
    "volumes refused": lambda lib, last: lib.nn.Conv3d(4, 8, 3).to(memory_format=last),
    "no format": lambda lib, last: lib.nn.Conv2d(4, 8, 3).to(memory_format=3),
    "unknown keyword": lambda lib, last: lib.nn.Conv2d(4, 8, 3).to(layout=last),
    "network": lambda lib, last: lib.nn.Sequential(
        lib.nn.Conv2d(4, 8, 3), lib.nn.BatchNorm2d(8), lib.nn.ReLU(), lib.nn.MaxPool2d(2)).to(memory_format=last)(
        lib.tensor(IMAGE)).stride(),
    "gradient of the weight": lambda lib, last: gradient_stride(lib, last),
    "gradient on the way": lambda lib, last: gradient_on_the_way(lib, last),
}


def gradient_stride(lib, last):
    layer = lib.nn.Conv2d(4, 8, 3).to(memory_format=last)
    layer(lib.tensor(IMAGE)).sum().backward()
    return layer.weight.grad.stride()


def gradient_on_the_way(lib, last):
    x = lib.tensor(IMAGE, requires_grad=True)
    y = x.to(memory_format=last)
    y.retain_grad()
    lib.nn.functional.conv2d(y, lib.tensor(WEIGHT)).sum().backward()
    return y.grad.stride(), x.grad.stride()


@pytest.mark.parametrize("case", MODULES)
def test_modules_in_a_memory_format(case):
    found = []
    for library in (teachtorch, torch):
        try:
            found.append(MODULES[case](library, library.channels_last))
        except (RuntimeError, TypeError) as error:
            found.append((type(error), str(error).partition(" - ")[0]))
    assert found[0] == found[1]
