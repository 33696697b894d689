"""Grades lazy_linear.py."""

import math

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, holds, points


def is_lazy(parameter):
    return isinstance(parameter, torch.nn.UninitializedParameter)


@points(1, "before the first call")
def test_before(yours):
    m = yours.LazyLinear(3)
    names = [name for name, parameter in m.named_parameters() if is_lazy(parameter)]
    equal(sorted(names), ["bias", "weight"], "both wait for their shape", what="the uninitialized parameters")
    equal(
        (m.in_features, m.out_features),
        (0, 3),
        "the number of inputs is not known",
        what="in_features, out_features",
    )


@points(1, "the first call gives the shapes")
def test_shapes(yours):
    m = yours.LazyLinear(3)
    y = m(torch.ones(2, 4, 5))
    equal(tuple(y.shape), (2, 4, 3), "a Linear acts on the last dimension", what="the shape of the output")
    equal(
        (tuple(m.weight.shape), tuple(m.bias.shape), m.in_features),
        ((3, 5), (3,), 5),
        "5 inputs, 3 outputs",
        what="weight, bias, in_features",
    )


@points(1, "the output is that of the new weight")
def test_output(yours):
    m = yours.LazyLinear(2)
    x = torch.arange(6.0).reshape(2, 3)
    first = array_of(m(x))
    expected = array_of(x) @ array_of(m.weight).T + array_of(m.bias)
    holds(
        bool(np.allclose(first, expected, atol=1e-5)),
        "x times the weight, plus the bias",
        what="the first output",
    )
    holds(
        bool(np.allclose(array_of(m(x)), first)), "the parameters stay", what="the second output is the same"
    )


@points(1, "values as nn.Linear starts with")
def test_values(yours):
    m = yours.LazyLinear(400)
    m(torch.ones(1, 16))
    largest = max(float(m.weight.detach().abs().max()), float(m.bias.detach().abs().max()))
    why = "uniform up to 1 / sqrt(in_features)"
    holds(
        0.2 < largest <= 0.25,
        why,
        what="the largest of 6800 values for 16 inputs",
        got=f"{largest:.4g}",
        expected="just below 0.25",
    )
    holds(
        math.isfinite(float(m.weight.detach().sum())),
        "filled, not what was in the memory",
        what="the sum is finite",
    )


@points(1, "an ordinary Linear afterwards")
def test_class(yours):
    m = yours.LazyLinear(3)
    m(torch.ones(1, 2))
    why = "after the first call it is an ordinary nn.Linear"
    equal(
        (type(m) is torch.nn.Linear, repr(m)),
        (True, "Linear(in_features=2, out_features=3, bias=True)"),
        why,
        what="type(m) is nn.Linear, repr(m)",
    )
    holds(not any(is_lazy(p) for p in m.parameters()), why, what="no parameter is lazy")


@points(1, "an optimizer made before trains it")
def test_the_optimizer_trains_it(yours):
    m = yours.LazyLinear(1)
    held = list(m.parameters())
    m(torch.ones(1, 2))
    found = [one is other for one, other in zip(held, m.parameters())]
    why = "an optimizer made before the first call holds these very objects"
    equal(found, [True, True], why, what="the parameters are the same objects as before")


@points(1, "the dtype that was asked for")
def test_dtype(yours):
    m = yours.LazyLinear(3, dtype=torch.float64)
    y = m(torch.ones(1, 2, dtype=torch.float64)) if m.weight.dtype == torch.float64 else m.weight
    why = "the dtype that was asked for must outlive the wait"
    equal(
        (str(m.weight.dtype), str(y.dtype)),
        ("torch.float64", "torch.float64"),
        why,
        what="the dtypes of weight and output",
    )


@points(1, "converted while it waits")
def test_converted(yours):
    m = yours.LazyLinear(3).double()
    m(torch.ones(1, 2, dtype=torch.float64))
    equal(str(m.bias.dtype), "torch.float64", "double() before the first call", what="the dtype of the bias")


@points(1, "without a bias")
def test_without_bias(yours):
    m = yours.LazyLinear(3, bias=False)
    m(torch.ones(1, 2))
    equal(
        (m.bias, len(list(m.parameters()))),
        (None, 1),
        "no bias was asked for",
        what="m.bias, the number of parameters",
    )


@points(1, "gradients arrive")
def test_gradients(yours):
    m = yours.LazyLinear(1)
    m(torch.ones(4, 2)).sum().backward()
    equal(array_of(m.weight.grad).tolist(), [[4.0, 4.0]], "four rows of ones", what="weight.grad")
    equal(m.weight.is_leaf, True, "it was filled without a graph", what="weight.is_leaf")
