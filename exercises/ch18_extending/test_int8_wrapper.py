"""Grades int8_wrapper.py."""

import teachtorch as torch
from exercises.grading import close, equal, points

nn = torch.nn
W = [[1.0, -2.0, 4.0], [8.0, 0.5, -16.0]]


def made(yours):
    """An Int8 whose numbers are known."""
    return yours.Int8(torch.tensor([[32, -64, 127], [64, 4, -127]], dtype=torch.int8),
                      torch.tensor([[4 / 127], [16 / 127]]))


def kind(t):
    return type(t).__name__


@points(1, "the numbers and the scale")
def test_quantize(yours):
    numbers, scale = yours.quantize(torch.tensor(W))
    equal(str(numbers.dtype), "torch.int8", "one byte for each number")
    equal(tuple(scale.shape), (2, 1), "one scale for each row")
    close(scale.flatten().tolist(), [4 / 127, 16 / 127], "the largest of each row becomes 127")


@points(1, "rounded, not cut off")
def test_rounded(yours):
    numbers, _ = yours.quantize(torch.tensor(W))
    equal(numbers.tolist(), [[32, -64, 127], [64, 4, -127]], "1 / (4 / 127) = 31.75, and the nearest is 32")


@points(2, "it stays what it is")
def test_stays(yours):
    w = made(yours)
    equal(kind(w.detach()), "Int8", "a Parameter is made of detach(): what comes out must still be an Int8")
    equal(kind(w.clone()), "Int8", "a clone of an Int8 is an Int8")


@points(1, "a clone is its own")
def test_clone(yours):
    w = made(yours)
    c = w.clone()
    c.numbers.zero_()
    equal(w.numbers.flatten().tolist()[0], 32, "clone copies the numbers; detach shares them")


@points(2, "transposed, with its scale")
def test_transposed(yours):
    t = made(yours).t()
    equal(tuple(t.shape), (3, 2), "the shape is turned")
    why = "the rows have become columns, and each scale belongs to its column now: (1, 2)"
    equal(tuple(t.scale.shape), (1, 2), why)


@points(2, "a product")
def test_product(yours):
    x = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    w = made(yours)
    expected = x @ (w.numbers.to(torch.float32) * w.scale).t()
    got = nn.functional.linear(x, w)
    close(got.detach().tolist(), expected.tolist(), "x @ W.t() of the dequantised matrix")


@points(2, "a product that is no Int8")
def test_kind(yours):
    equal(kind(nn.functional.linear(torch.ones(1, 3), made(yours))), "Tensor", "activations stay in floating point")


@points(1, "a parameter, and x wants a gradient")
def test_gradient(yours):
    x = torch.ones(1, 3, requires_grad=True)
    w = nn.Parameter(made(yours), requires_grad=False)
    equal(kind(w), "Int8", "a parameter of it stays an Int8")
    y = nn.functional.linear(x, w)
    equal(y.requires_grad, True, "autograd stands above __torch_dispatch__: it has recorded the call")
