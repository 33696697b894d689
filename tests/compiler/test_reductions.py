"""Reductions, and operators made of them: layer norm, softmax, losses."""
import math

import teachtorch as torch
from teachtorch.nn import functional as F

from .helpers import check


def rand(*shape, grad=False, dtype=torch.float32, seed=0):
    torch.manual_seed(seed + len(shape))
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)


def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-5) * weight + bias


def test_layer_norm_from_primitives():
    check(layer_norm, rand(9, 33, grad=True), rand(33, grad=True), rand(33, grad=True), tolerance=2e-6)


def test_float64():
    x, w, b = [rand(*shape, dtype=torch.float64) for shape in ((9, 33), (33,), (33,))]
    check(layer_norm, x, w, b, tolerance=1e-14)


def test_large_inputs_are_split_over_threads():
    check(layer_norm, rand(300, 500), rand(500), rand(500), tolerance=3e-6)
    check(lambda x: ((x * x).sum(), x.sum(0)), rand(300, 500), tolerance=2e-6)


def test_composite_operators_are_taken_apart():
    def function(x, w, b):
        y = F.layer_norm(x, (12,), w, b)
        return torch.softmax(y, -1), torch.log_softmax(x, -1), x.var(-1)
    check(function, rand(6, 12, grad=True), rand(12, grad=True), rand(12, grad=True), tolerance=3e-6)


def test_losses():
    def function(x, y, t):
        return F.mse_loss(x, y) + F.mse_loss(x, y, reduction="sum") + F.cross_entropy(x, t) + F.l1_loss(x, y)
    check(function, rand(8, 5, grad=True), rand(8, 5, seed=3), torch.tensor([0, 4, 2, 1, 1, 3, 0, 2]), tolerance=3e-6)


def test_special_values():
    x = torch.tensor([[math.nan, 1.0, -math.inf], [math.inf, -0.0, 3.0], [1.0, 2.0, -5.0]])
    check(lambda x: (x.amax(-1), x.amin(-1), x.clamp(-1, 1), x.relu(), torch.softmax(x, -1), x.sigmoid(), x / 0), x)


def test_reductions_of_every_kind():
    def function(x):
        return (x.sum(), x.sum(0), x.sum((0, 2)), x.mean(1), x.mean((1, 2), keepdim=True), x.amax(2),
                ((x - x.mean(-1).unsqueeze(-1)) ** 2).sum(-1))
    check(function, rand(3, 4, 5, grad=True), tolerance=2e-6)
