"""Derivatives at infinity where they are better than PyTorch's."""
import math

import teachtorch


def test_logsumexp_of_nothing_but_minus_infinity_has_no_gradient():
    """No element has a share in the sum (PyTorch gives NaN, https://github.com/pytorch/pytorch/issues/31829)."""
    x = teachtorch.tensor([[-math.inf, -math.inf], [-math.inf, 0.0]], requires_grad=True)
    found, = teachtorch.autograd.grad(x.logsumexp(1).sum(), x)
    assert found.tolist() == [[0, 0], [0, 1]]
    found, = teachtorch.autograd.grad(x.logsumexp((0, 1)), x)
    assert found.tolist() == [[0, 0], [0, 1]]
