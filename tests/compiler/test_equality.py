"""What is compiled computes what the function computes, element by element and gradient by gradient."""
import math

import pytest

import teachtorch as torch
from teachtorch.nn import functional as F

from .helpers import check


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def rand(*shape, grad=False, dtype=torch.float32, seed=0):
    torch.manual_seed(seed + len(shape))
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)


@pytest.mark.parametrize("grad", [False, True])
def test_gelu_written_by_hand(grad):
    check(gelu, rand(37, 11, grad=grad))


def test_broadcasting_of_every_kind():
    def function(x, row, column, one, number):
        return (x * row + column - one) / number + row, row * column
    check(function, rand(4, 1, 6), rand(6), rand(3, 1), rand(1).sum(), 2.5)
    check(lambda x, row, one: x * row - one, rand(3, 4, grad=True), rand(4, grad=True), rand(1).sum().requires_grad_())


def test_a_result_that_is_expanded():
    check(lambda x: (x * 2).expand(3, 4), rand(1, 4, grad=True))


def test_strides_are_those_of_eager():
    def function(x, y):
        return x.t() * 2 + y, (x.t() + 1).sum(0), x.t().contiguous() - 1
    check(function, rand(5, 7, grad=True), rand(7, 5, grad=True))
    check(lambda x: x * 2 + 1, rand(4, 6).t()[1:, ::2])
    check(lambda x: x.permute(2, 0, 1) * 3, rand(3, 4, 5))


def test_integers_bools_and_mixed_dtypes():
    def function(i, x, mask):
        y = torch.where(mask, x, 0.0) + i
        return y, i * 2 - 1, mask & (x > 0), ~mask, (i == 3) | mask, x.masked_fill(mask, 7.0), i.float() / 3
    torch.manual_seed(1)
    check(function, torch.randint(0, 9, (5, 6)), rand(5, 6), rand(5, 6, seed=4) > 0)
    check(lambda a, b: a * b + a, torch.tensor([100, 200], dtype=torch.uint8), torch.tensor([3, 2], dtype=torch.uint8))


def test_16_bits_stay_with_their_operators():
    check(lambda x: (x * 2 + 1).tanh(), rand(5, 6).half(), tolerance=1e-3)
    check(lambda x: (x * 2 + 1).tanh(), rand(5, 6).bfloat16(), tolerance=1e-3)


def test_no_dimensions_and_no_elements():
    check(lambda x, y: (x * y + 1, x.sum() + y), rand(1).sum(), rand(1, seed=2).sum())
    check(lambda x: (x * 2 + 1, x.sum(), x.sum(0)), torch.zeros(0, 4))
    check(lambda x: torch.softmax(x, -1) * 2, torch.zeros(3, 0))
    check(lambda x: (x - x.mean(-1, keepdim=True)).exp(), rand(4, 1, grad=True))


def test_powers_and_functions():
    def function(x):
        y = x.abs() + 0.1
        return (x ** 2, x ** 3, y ** 0.5, y ** -1, y ** 1.7, y.log(), y.sqrt(), y.rsqrt(), x.sin(), x.erf(), y.log1p(),
                x.square(), x.reciprocal(), torch.maximum(x, y), x.clamp(min=0.2), F.leaky_relu(x), F.softplus(x))
    check(function, rand(4, 9))


def test_gradients_of_powers_and_functions():
    check(lambda x: (x ** 3 + x.abs().sqrt() + F.leaky_relu(x)) * x.sin(), rand(4, 9, grad=True))


def test_nested_results_and_keywords():
    def function(x, *, scale, shift=None):
        y = x * scale
        return {"y": y, "parts": [y + 1, (y - 1, 3)], "none": shift, "text": "a"}
    compiled = check(function, rand(3, 2, grad=True), scale=2.0)
    assert list(compiled(rand(3, 2), scale=2.0)) == ["y", "parts", "none", "text"]


def test_arguments_in_containers():
    def function(pair, table):
        return pair[0] * table["a"] + pair[1]
    compiled = torch.compile(function, fullgraph=True, backend="eager")
    a, b, c = rand(3), rand(3, seed=1), rand(3, seed=2)
    assert torch.equal(compiled((a, b), {"a": c}), a * c + b)


def test_the_same_tensor_twice():
    x = rand(5, grad=True)
    compiled = torch.compile(lambda a, b: a * b + a, fullgraph=True)
    found, = torch.autograd.grad(compiled(x, x).sum(), x)
    wanted, = torch.autograd.grad((x * x + x).sum(), x)
    assert torch.equal(found, wanted)
