"""Grades repair_listing.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points


def images(rng, *shape):
    """Random pictures with positive pixels, of shape (N, 1, H, W)."""
    numbers = np.random.default_rng(rng.randrange(10**6)).random(shape)
    return torch.tensor(numbers.astype(np.float32))


def fill(parameter, value):
    """Write one value into every element."""
    with torch.no_grad():
        parameter.fill_(value)


@points(1, "the parameters are registered")
def test_parameters(yours):
    named = {name: tuple(each.shape) for name, each in yours.FullBasicModel(channels=4).named_parameters()}
    expected = {"conv.weight": (4, 3, 3), "conv.bias": (4,), "fc.weight": (4, 10), "fc.bias": (10,)}
    why = "an optimizer asks the module for its parameters: an attribute that is a Parameter is one"
    equal(dict(sorted(named.items())), dict(sorted(expected.items())), why, what="named_parameters()")


@points(1, "the linear layer")
def test_linear(yours, rng):
    layer = yours.LinearLayer(3, 2)
    close(
        array_of(layer.bias),
        np.zeros(2, np.float32),
        "a bias begins at 0",
        what="the bias of LinearLayer(3, 2)",
    )
    fill(layer.bias, 2.0)
    x = images(rng, 5, 3)
    expected = array_of(x) @ array_of(layer.weight) + np.float32(2.0)
    close(array_of(layer(x)), expected, "x @ weight + bias", what="LinearLayer(3, 2)(x)", tolerance=1e-5)


@points(1, "ten numbers for each picture, whatever its size")
def test_shape(yours, rng):
    model = yours.FullBasicModel(channels=4)
    for size in (28, 9):
        answer = model(images(rng, 3, 1, size, size))
        shape = tuple(answer.shape) if isinstance(answer, torch.Tensor) else answer
        equal(
            shape,
            (3, 10),
            "one row of ten for each picture",
            what=f"the shape for 3 pictures of {size} by {size}",
        )


@points(1, "probabilities of one picture sum to 1")
def test_rows_sum_to_one(yours, rng):
    rows = array_of(yours.FullBasicModel(channels=4)(images(rng, 3, 1, 8, 8)))
    why = "each row is one picture: softmax goes over the ten classes, not over the pictures"
    close(rows.sum(-1), np.ones(3, np.float32), why, what="the sum of each row", tolerance=1e-5)


@points(1, "the activation is used")
def test_relu(yours, rng):
    model = yours.FullBasicModel(channels=4)
    fill(model.conv.weight, -1.0)
    rows = array_of(model(images(rng, 2, 1, 8, 8)))
    why = "the convolution is negative, so relu gives 0, and only the bias, 0, is left: all ten are equal"
    close(
        rows,
        np.full((2, 10), 0.1, np.float32),
        why,
        what="a model whose convolution is negative",
        tolerance=1e-5,
    )


@points(1, "every pixel has a say")
def test_every_pixel(yours, rng):
    model = yours.FullBasicModel(channels=4)
    fill(model.conv.weight, 1.0)
    pictures = images(rng, 1, 1, 8, 8).requires_grad_()
    model(pictures)[0, 0].backward()
    reached = (array_of(pictures.grad)[0, 0] != 0).astype(int)
    why = "the average takes every position: no pixel's gradient is 0"
    drawn = "\n".join("".join(".x"[cell] for cell in row) for row in reached)
    holds(bool(reached.all()), why, what="where the gradient of the picture is not 0", picture=drawn)


@points(1, "any picture")
def test_any(yours, rng):
    model, pictures = yours.FullBasicModel(channels=5), images(rng, 2, 1, 7, 6)
    expected = by_hand(*(array_of(each).astype(float) for each in (*weights(model), pictures)))
    why = "convolution, relu, average, linear, softmax"
    close(array_of(model(pictures)).astype(float), expected, why, what="model(pictures)", tolerance=1e-5)


def weights(model):
    """Its four parameters."""
    return model.conv.weight, model.conv.bias, model.fc.weight, model.fc.bias


def by_hand(kernel, kernel_bias, weight, bias, pictures):
    """The same with NumPy."""
    windows = np.lib.stride_tricks.sliding_window_view(pictures[:, 0], (3, 3), axis=(1, 2))
    active = np.maximum(np.einsum("nhwij,cij->nchw", windows, kernel) + kernel_bias[:, None, None], 0)
    scores = np.exp(active.mean((2, 3)) @ weight + bias)
    return scores / scores.sum(1, keepdims=True)
