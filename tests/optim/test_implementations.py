"""The three implementations: how many launches each takes, that they agree, what they leave alone."""
import numpy as np
import pytest

import teachtorch as torch
from teachtorch.optim.launches import counting_launches, multi_tensor_launches

PARAMETERS = 5

# Kernels per parameter in the for-loop, and operators in foreach, after the first step (FACTS of PyTorch, by
# device).
LAUNCHES = [
    ("SGD", {}, 1, 1),
    ("SGD", {"momentum": 0.9}, 3, 3),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, 5, 5),
    ("Adam", {}, 7, 7),
    ("Adam", {"weight_decay": 0.1}, 8, 8),
    ("Adam", {"amsgrad": True}, 8, 8),
    ("AdamW", {}, 8, 8),
    ("RMSprop", {}, 5, 5),
    ("Adagrad", {}, 4, 5),
]


def parameters(shape=(4, 3), count=PARAMETERS, dtype=torch.float32):
    values = np.random.default_rng(0)
    params = [torch.nn.Parameter(torch.tensor(values.standard_normal(shape),
                                              dtype=dtype)) for _ in range(count)]
    for p in params:
        p.grad = torch.tensor(values.standard_normal(shape), dtype=dtype)
    return params


def launches(optimizer):
    optimizer.step()
    with counting_launches() as counts:
        optimizer.step()
    return sum(counts.values())


@pytest.mark.parametrize("name, options, kernels, operators", LAUNCHES)
def test_launches(name, options, kernels, operators):
    make = getattr(torch.optim, name)
    assert launches(make(parameters(), **options, foreach=False)) == kernels * PARAMETERS
    assert launches(make(parameters(), **options, foreach=True)) == operators


@pytest.mark.parametrize("name", ("SGD", "Adam", "AdamW", "Adagrad"))
def test_fused_is_one_launch(name):
    assert launches(getattr(torch.optim, name)(parameters(), fused=True)) == 1


def test_the_default_is_the_for_loop():
    assert launches(torch.optim.Adam(parameters())) == 7 * PARAMETERS


def test_dtypes_are_launched_apart():
    params = parameters() + parameters(dtype=torch.float64)
    assert launches(torch.optim.Adam(params, foreach=True)) == 14
    assert launches(torch.optim.Adam(params, fused=True)) == 2


@pytest.mark.parametrize("count, lists, scalars, expected", (
    (1000, 2, False, (16, 3)),
    (1000, 1, False, (10, 2)),
    (1000, 1, True, (11, 2)),
    (1000, 3, True, (21, 3)),
    (1000, 4, False, (28, 4)),
))
def test_launches_of_many_small_tensors(count, lists, scalars, expected):
    sizes = [1000] * count
    assert (multi_tensor_launches(sizes, lists, scalars),
            multi_tensor_launches(sizes, lists, scalars, 32768)) == expected


def test_launches_of_large_tensors_are_closed_by_chunks():
    chunk = 65536
    assert multi_tensor_launches([chunk * 320], 1) == 1
    assert multi_tensor_launches([chunk * 320 + 1], 1) == 2
    assert multi_tensor_launches([0, 0], 1) == 0


def test_adam_over_a_thousand_small_tensors():
    """Seven operators: lerp, mul, addcmul, sqrt, div and add of numbers, addcdiv with a number for each tensor."""
    operators = [(2, False), (1, False), (3, False), (2, False), (1, True), (1, False), (3, True)]
    counts = [[multi_tensor_launches([1000] * 1000, lists, scalars, room) for lists, scalars in operators]
              for room in (4096, 32768)]
    assert [sum(found) for found in counts] == [105, 18]


# ---- agreement ---------------------------------------------------------------------------------------------

SIZES = {"small": (4, 3), "large": (90, 80)}             # the latter is worth compiled code


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
@pytest.mark.parametrize("name, options", (
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
))
def test_implementations_agree(name, options, dtype, size):
    found = []
    for kind in ({"foreach": False}, {"foreach": True}, {"fused": True}):
        params = parameters(SIZES[size], dtype=dtype)
        optimizer = getattr(torch.optim, name)(params, **options, **kind)
        for _ in range(3):
            optimizer.step()
        found.append(np.stack([p.detach().numpy() for p in params]))
    tolerance = 1e-6 if dtype is torch.float32 else 1e-13
    np.testing.assert_allclose(found[1], found[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found[2], found[0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", ("foreach", "fused"))
def test_any_layout_is_updated(kind):
    plain = parameters((6, 4), 1)
    odd = torch.nn.Parameter(torch.zeros(4, 12)[:, ::2].t())
    with torch.no_grad():
        odd.copy_(plain[0])
    odd.grad = plain[0].grad.clone()
    for params in (plain, [odd]):
        torch.optim.Adam(params, 0.1, **{kind: True}).step()
    np.testing.assert_array_equal(odd.detach().numpy(), plain[0].detach().numpy())


@pytest.mark.parametrize("kind", ("foreach", "fused"))
def test_halves_are_updated(kind):
    params = parameters(dtype=torch.float16)
    before = [p.detach().clone() for p in params]
    torch.optim.Adam(params, 0.1, **{kind: True}).step()
    for p, old in zip(params, before):
        change = np.abs((p.detach() - old).numpy().astype(float))
        np.testing.assert_allclose(change, 0.1, rtol=0.05)       # Adam's first step is lr long


@pytest.mark.parametrize("kind", ("foreach", "fused"))
def test_an_empty_parameter_is_no_hindrance(kind):
    params = [torch.nn.Parameter(torch.ones(0)), torch.nn.Parameter(torch.ones(2))]
    for p in params:
        p.grad = torch.ones_like(p)
    torch.optim.SGD(params, 0.5, **{kind: True}).step()
    assert params[1].tolist() == [0.5, 0.5]


def test_gradients_are_left_alone():
    for kind in ({"foreach": False}, {"foreach": True}, {"fused": True}):
        params = parameters()
        before = [p.grad.clone() for p in params]
        torch.optim.Adam(params, weight_decay=0.1, maximize=True, **kind).step()
        assert all(torch.equal(p.grad, old) for p, old in zip(params, before))


@pytest.mark.parametrize("kind", ({"foreach": False}, {"foreach": True}, {"fused": True}))
def test_parameters_at_different_steps(kind):
    """Each parameter has a count of its own: the correction of the bias must not be shared."""
    together, apart = parameters(count=2), parameters(count=2)
    optimizer = torch.optim.Adam(together, 0.1, **kind)
    late, together[1].grad = together[1].grad, None
    optimizer.step()
    together[1].grad = late
    optimizer.step()
    for p, steps in zip(apart, (2, 1)):
        one = torch.optim.Adam([p], 0.1)
        for _ in range(steps):
            one.step()
    for p, q in zip(together, apart):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-6)


def test_versions_go_up():
    params = parameters()
    before = [p._version for p in params]
    torch.optim.Adam(params, fused=True).step()
    assert [p._version for p in params] == [v + 1 for v in before]
