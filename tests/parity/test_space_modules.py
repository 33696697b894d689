"""Modules of convolution, pooling, normalisation, padding and resizing against PyTorch's."""

import numpy as np
import pytest

import teachtorch

torch = pytest.importorskip("torch")

MODULES = [
    "Conv1d(2, 4, 3)",
    "Conv2d(2, 4, 3, padding='same', bias=False, padding_mode='reflect', dilation=2, groups=2)",
    "Conv2d(2, 4, (3, 2), stride=2, padding=1, padding_mode='circular')",
    "Conv3d(1, 2, 2)",
    "ConvTranspose1d(2, 4, 3, output_padding=1, stride=2)",
    "ConvTranspose2d(2, 4, 3, groups=2)",
    "ConvTranspose3d(2, 4, 3, bias=False)",
    "BatchNorm1d(3)",
    "BatchNorm1d(3, bias=False)",
    "BatchNorm2d(3, affine=False)",
    "BatchNorm3d(3, track_running_stats=False)",
    "InstanceNorm1d(3)",
    "InstanceNorm2d(3, affine=True, track_running_stats=True)",
    "GroupNorm(2, 4)",
    "LocalResponseNorm(2)",
    "MaxPool1d(2)",
    "MaxPool2d((2, 3), padding=1)",
    "MaxPool3d(2, ceil_mode=True)",
    "AvgPool1d(2)",
    "AvgPool2d(2)",
    "AvgPool3d(2)",
    "MaxUnpool2d(2)",
    "AdaptiveAvgPool2d((2, None))",
    "AdaptiveMaxPool1d(2)",
    "LPPool2d(2, 2)",
    "ZeroPad2d(1)",
    "ZeroPad1d((1, 2))",
    "ConstantPad2d(1, 2.)",
    "ReflectionPad1d(1)",
    "ReplicationPad3d(1)",
    "CircularPad2d((1, 0, 1, 0))",
    "Upsample(scale_factor=2)",
    "Upsample(size=(3, 4), mode='bilinear')",
    "UpsamplingNearest2d(scale_factor=2)",
    "UpsamplingBilinear2d(size=3)",
    "PixelShuffle(2)",
    "PixelUnshuffle(2)",
    "ChannelShuffle(2)",
    "Unfold(2)",
    "Fold((3, 3), 2)",
    "CosineSimilarity()",
    "PairwiseDistance()",
]
CALLS = [
    ("Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", (2, 4, 5, 6)),
    ("Conv1d(4, 6, 2, padding='same', padding_mode='circular')", (2, 4, 5)),
    ("ConvTranspose2d(4, 3, 3, stride=2)", (2, 4, 5, 6)),
    ("MaxPool2d(2)", (2, 4, 5, 6)),
    ("AvgPool2d(2, padding=1, count_include_pad=False)", (2, 4, 5, 6)),
    ("AdaptiveAvgPool2d((2, None))", (4, 5, 6)),
    ("BatchNorm2d(4)", (2, 4, 5, 6)),
    ("GroupNorm(2, 4)", (2, 4, 5)),
    ("InstanceNorm1d(4)", (4, 5)),
    ("ReplicationPad2d((1, 0, 2, 1))", (2, 4, 5, 6)),
    ("Upsample(scale_factor=2, mode='bilinear')", (2, 4, 5, 6)),
]
REFUSED = [
    "Conv2d(3, 4, 1, groups=2)",
    "Conv2d(4, 3, 1, groups=2)",
    "Conv2d(3, 4, 1, groups=0)",
    "Conv2d(3, 4, 1, padding='same', stride=2)",
    "ConvTranspose2d(3, 4, 1, padding_mode='reflect')",
    "GroupNorm(3, 4)",
    "BatchNorm1d(4)(x)",
    "BatchNorm2d(4)(x[0])",
    "InstanceNorm1d(4)(x)",
    "InstanceNorm2d(3, affine=True)(x)",
    "CircularPad1d(1)(x)",
    "ConvTranspose1d(4, 1, 3, stride=2)(x[0], output_size=[50])",
    "ConvTranspose1d(4, 1, 3, stride=2)(x[0], output_size=[5, 50, 3, 3])",
]


def made(library, text, **names):
    library.manual_seed(3)
    return eval(f"nn.{text}", {"nn": library.nn, **names})


@pytest.mark.parametrize("text", MODULES)
def test_module_prints_starts_and_saves_as_in_pytorch(text):
    own, other = made(teachtorch, text), made(torch, text)
    assert repr(own) == repr(other)
    ours, theirs = own.state_dict(), other.state_dict()
    assert list(ours) == list(theirs) and ours._metadata == theirs._metadata
    for name, value in ours.items():
        np.testing.assert_array_equal(value.numpy(), theirs[name].numpy())


@pytest.mark.parametrize(("text", "shape"), CALLS, ids=str)
def test_module_computes_what_pytorchs_does(text, shape):
    data, found = np.random.default_rng(0).standard_normal(shape).astype(np.float32), []
    for library in (teachtorch, torch):
        module, x = made(library, text), library.from_numpy(data.copy()).requires_grad_()
        out = module(x)
        out.sin().sum().backward()
        found.append([out.detach().numpy(), x.grad.numpy(), *[p.grad.numpy() for p in module.parameters()]])
    for own, other in zip(*found):
        np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text", REFUSED)
def test_module_refuses_what_pytorchs_does(text):
    found = []
    for library in (teachtorch, torch):
        with pytest.raises(Exception) as caught:
            made(library, text, x=library.zeros(2, 4, 5, 6))
        found.append((caught.type, str(caught.value)))
    assert found[0] == found[1]


def test_output_size_of_a_transposed_convolution():
    for library in (teachtorch, torch):
        module = library.nn.ConvTranspose1d(1, 1, 3, stride=3, dilation=2)
        assert module(library.zeros(1, 1, 4), output_size=[16]).shape == (1, 1, 16)


def test_a_state_dict_of_version_1_has_no_batch_count():
    module = teachtorch.nn.BatchNorm1d(2)
    old = {name: value for name, value in module.state_dict().items() if name != "num_batches_tracked"}
    module.load_state_dict(old)
    assert int(module.num_batches_tracked) == 0
