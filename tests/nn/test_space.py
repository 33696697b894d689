"""Facts about convolutions, pooling and normalisation."""

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.nn import functional as F


def test_convolution_does_not_turn_its_kernel():
    out = F.conv1d(torch.tensor([[[0.0, 1.0, 0.0, 0.0]]]), torch.tensor([[[1.0, 2.0, 3.0]]]))
    assert out.tolist() == [[[2.0, 1.0]]]


@pytest.mark.parametrize("shape", [(2, 3, 7, 8), (8, 16, 30, 31)], ids=["by NumPy", "compiled"])
def test_convolution_is_the_sum_over_shifted_images(shape):
    generator = np.random.default_rng(0)
    x, weight = generator.standard_normal(shape), generator.standard_normal((32, shape[1], 3, 2))
    height, width = shape[2] - 2, shape[3] - 1
    wanted = sum(
        np.einsum("oc,nchw->nohw", weight[:, :, i, j], x[:, :, i : i + height, j : j + width])
        for i in range(3)
        for j in range(2)
    )
    found = F.conv2d(torch.from_numpy(x), torch.from_numpy(weight)).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_convolution_node_and_what_it_keeps():
    x, weight = torch.ones(1, 1, 3, 3).requires_grad_(), torch.ones(1, 1, 2, 2).requires_grad_()
    out = F.conv2d(x, weight)
    assert out.grad_fn.name() == "ConvolutionBackward0"
    assert out.grad_fn._saved_input is x and out.grad_fn._saved_weight is weight


def test_the_first_of_equal_elements_gets_the_gradient():
    x = torch.tensor([[[2.0, 2.0, 1.0, 3.0]]]).requires_grad_()
    F.max_pool1d(x, 2).sum().backward()
    assert x.grad.tolist() == [[[1.0, 0.0, 0.0, 1.0]]]


def test_batch_norm_divides_by_the_biased_and_keeps_the_unbiased_variance():
    x = np.array([[2.0, 15.0], [2.0, 17.0], [-4.0, -2.0]], np.float32)
    module = torch.nn.BatchNorm1d(2, momentum=1.0, eps=1e-12)
    out = module(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(out, (x - x.mean(0)) / x.std(0), rtol=1e-5)
    np.testing.assert_allclose(module.running_var.numpy(), x.var(0, ddof=1), rtol=1e-5)


def test_shapes_without_data():
    x = torch.empty(2, 4, 9, 9, device="meta")
    out = F.conv2d(x, torch.empty(6, 4, 3, 3, device="meta"), stride=2)
    assert F.max_pool2d(out, 2).shape == (2, 6, 2, 2)
    assert F.interpolate(x, scale_factor=2, mode="bilinear").shape == (2, 4, 18, 18)
