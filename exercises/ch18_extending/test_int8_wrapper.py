"""Grades int8_wrapper.py."""

import teachtorch as torch
from exercises.grading import array_of, close, equal, points, raises

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
    w.detach().numbers.zero_()
    equal(w.numbers.flatten().tolist()[0], 0, "detach shares the numbers; only clone copies them")


@points(2, "transposed, with its scale")
def test_transposed(yours):
    t = made(yours).t()
    equal(tuple(t.shape), (3, 2), "the shape is turned")
    why = "the rows have become columns, and each scale belongs to its column now: (1, 2)"
    equal(tuple(t.scale.shape), (1, 2), why)
    equal(t.numbers.tolist(), [[32, 64], [-64, 4], [127, -127]], "the numbers are turned, too")
    close(t.scale.flatten().tolist(), [4 / 127, 16 / 127], "and each scale is what it was", tolerance=1e-6)


@points(2, "a product")
def test_product(yours):
    x = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    w = made(yours)
    expected = x @ (w.numbers.to(torch.float32) * w.scale).t()
    got = nn.functional.linear(x, w)
    close(got.detach().tolist(), expected.tolist(), "x @ W.t() of the dequantised matrix")


@points(1, "what it has no answer for, it does not answer")
def test_others(yours):
    why = "int8 numbers without their scale mean something else: return NotImplemented, and the library says so"
    for operator in (torch.cos, torch.exp):
        raises(TypeError, operator, made(yours), why=why)


@points(1, "any matrix, in a Linear")
def test_any(yours, rng):
    torch.manual_seed(rng.randrange(10**6))
    layer, x = nn.Linear(rng.randint(2, 9), rng.randint(2, 9)), torch.randn(4, 1)
    x = x * torch.linspace(-1, 1, layer.in_features)
    weight = layer.weight.detach()
    numbers, scale = yours.quantize(weight)
    equal([numbers.abs().amax(1).tolist(), numbers.dtype == torch.int8], [[127] * len(weight), True],
          "the largest of each row becomes 127 or -127", what="the largest number of each row, and whether they are int8")
    error = ((numbers * scale - weight).abs() / scale).max().item()
    equal(error < 0.51, True, "rounding is off by half a step at most", what=f"whether an error of {error:.2f} steps is allowed")
    layer.weight = nn.Parameter(yours.Int8(numbers, scale), requires_grad=False)
    layer.bias = None
    expected = x @ (numbers * scale).t()
    close(array_of(layer(x)), array_of(expected), "x @ W.t() of the dequantised matrix", tolerance=1e-5)


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
