"""Normalisation by channel and group against PyTorch: values, first and second gradients, running statistics."""

import numpy as np
import pytest

import teachtorch
from tests.parity.space import assert_same, assert_same_refusal, function

torch = pytest.importorskip("torch")

SHAPES = [(6, 4), (3, 4, 5), (2, 4, 3, 2), (8, 16, 12, 13)]


def batch_norm(library, x, weight, bias):
    return library.nn.functional.batch_norm(x, None, None, weight, bias, True)


def evaluating(library, x, weight, bias):
    mean, variance = [library.from_numpy(np.linspace(low, 2, x.shape[1])) for low in (-1, 0.5)]
    return library.nn.functional.batch_norm(x, mean, variance, weight, bias)


@pytest.mark.parametrize("call", (batch_norm, evaluating))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm_and_its_derivatives(call, shape):
    assert_same(torch, call, shape, shape[1:2], shape[1:2], order=2 if np.prod(shape) < 100 else 1)


@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_group_and_layer_norm_and_their_derivatives(shape):
    order = 2 if np.prod(shape) < 100 else 1
    assert_same(
        torch,
        lambda library, x, w, b: library.nn.functional.group_norm(x, 2, w, b),
        shape,
        shape[1:2],
        shape[1:2],
        order=order,
    )
    assert_same(
        torch,
        lambda library, x, w, b: library.nn.functional.layer_norm(x, shape[-1:], w, b),
        shape,
        shape[-1:],
        shape[-1:],
        order=order,
    )
    assert_same(torch, function("instance_norm"), shape, order=order)


@pytest.mark.parametrize(
    "case",
    [
        ("normalize", {}, (3, 4)),
        ("normalize", {"p": 1.0, "dim": 0}, (3, 4)),
        ("local_response_norm", {"size": 2}, (2, 4, 3)),
        ("local_response_norm", {"size": 3, "k": 2.0}, (2, 4, 3, 3)),
        ("rms_norm", {"normalized_shape": (4,)}, (3, 4)),
    ],
    ids=str,
)
def test_others_and_their_derivatives(case):
    name, settings, shape = case
    assert_same(torch, function(name, **settings), shape)


@pytest.mark.parametrize("name", ("BatchNorm2d", "InstanceNorm2d"))
@pytest.mark.parametrize("momentum", (0.1, 1.0, None))
def test_running_statistics(name, momentum):
    if name == "InstanceNorm2d" and momentum is None:
        return
    data, found = np.random.default_rng(0).standard_normal((3, 4, 3, 5, 2)).astype(np.float32), []
    for library in (teachtorch, torch):
        module = getattr(library.nn, name)(3, momentum=momentum, affine=True, track_running_stats=True)
        results = [module(library.from_numpy(batch)) for batch in data]
        results.append(module.eval()(library.from_numpy(data[0])))
        found.append([t.detach().numpy() for t in (*results, *module.state_dict().values())])
    for own, other in zip(*found):
        np.testing.assert_allclose(own, other, rtol=2e-5, atol=2e-5)


def test_two_passes_before_a_backward():
    found = []
    for library in (teachtorch, torch):
        module, x = library.nn.BatchNorm1d(2), library.ones(3, 2) * library.arange(3.0).view(3, 1)
        x.requires_grad_()
        first, _ = module(x), module(x * 2)
        (first * first * library.arange(6.0).view(3, 2)).sum().backward()
        found.append((x.grad.numpy(), module.running_mean._version))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-5)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda library, x: library.nn.functional.batch_norm(x, None, None), (2, 4)),
        (lambda library, x: library.nn.functional.batch_norm(x, library.zeros(3), library.ones(4)), (2, 4)),
        (lambda library, x: library.nn.functional.batch_norm(x, None, None, training=True), (1, 4)),
        (lambda library, x: library.nn.functional.batch_norm(x, None, None, training=True), (4,)),
        (lambda library, x: library.nn.functional.group_norm(x, 3), (2, 4)),
        (lambda library, x: library.nn.functional.group_norm(x, 2, library.ones(3)), (2, 4, 3)),
        (lambda library, x: library.nn.functional.group_norm(x, 1), (4,)),
        (lambda library, x: library.nn.functional.instance_norm(x), (2, 4)),
        (lambda library, x: library.nn.functional.instance_norm(x, use_input_stats=False), (2, 4, 3)),
        (lambda library, x: library.nn.functional.local_response_norm(x, 2), (2, 4)),
        (lambda library, x: library.nn.BatchNorm1d(4).double()(x), (2, 4, 2, 2)),
        (lambda library, x: library.nn.BatchNorm2d(4).double()(x), (2, 4, 2)),
    ],
)
def test_refusal(call, shape):
    assert_same_refusal(torch, call, shape)
