"""Optimizers against their formulas, worked out in NumPy."""
import math

import numpy as np
import pytest

import teachtorch as torch


def parameter(*values):
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def steps(optimizer, p, gradients):
    """The parameter after a step with each of the gradients."""
    path = []
    for gradient in gradients:
        p.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        path.append(p.detach().numpy().copy())
    return np.array(path)


GRADIENTS = [[1.0, -2.0], [0.5, 0.0], [-1.0, 3.0]]


@pytest.mark.parametrize("fused", (None, False))
@pytest.mark.parametrize("nesterov, dampening", ((False, 0.0), (False, 0.3), (True, 0.0)))
def test_sgd_is_its_formula(nesterov, dampening, fused):
    lr, mu, decay = 0.1, 0.9, 0.01
    p = parameter(1.0, 2.0)
    optimizer = torch.optim.SGD([p], lr, mu, dampening, decay, nesterov, fused=fused)
    found = steps(optimizer, p, GRADIENTS)
    value, buffer, wanted = np.array([1.0, 2.0]), None, []
    for gradient in GRADIENTS:
        g = gradient + decay * value
        buffer = g if buffer is None else mu * buffer + (1 - dampening) * g
        value = value - lr * (g + mu * buffer if nesterov else buffer)
        wanted.append(value)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("decoupled", (False, True))
def test_adam_is_its_formula(decoupled):
    lr, b1, b2, eps, decay = 0.1, 0.8, 0.95, 1e-3, 0.1
    p = parameter(1.0, 2.0)
    cls = torch.optim.AdamW if decoupled else torch.optim.Adam
    found = steps(cls([p], lr, (b1, b2), eps, decay), p, GRADIENTS)
    value, m, v, wanted = np.array([1.0, 2.0]), 0.0, 0.0, []
    for t, gradient in enumerate(GRADIENTS, 1):
        value = value * (1 - lr * decay) if decoupled else value
        g = np.array(gradient) if decoupled else gradient + decay * value
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        value = value - lr / (1 - b1 ** t) * m / (np.sqrt(v) / math.sqrt(1 - b2 ** t) + eps)
        wanted.append(value)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("cls", (torch.optim.SGD, torch.optim.AdamW))
def test_a_parameter_without_gradient_is_left_alone(cls):
    p, q = parameter(1.0), parameter(1.0)
    optimizer = cls([p, q], lr=0.1, weight_decay=0.5)
    p.grad = torch.zeros(1, dtype=torch.float64)
    optimizer.step()
    assert q.item() == 1.0 and q not in optimizer.state
    assert p.item() < 1.0                                  # a gradient of zero still decays


def test_large_and_small_parameters_take_the_same_step():
    small, large = torch.nn.Parameter(torch.ones(8)), torch.nn.Parameter(torch.ones(50000))
    optimizer = torch.optim.SGD([small, large], 0.1, 0.9, weight_decay=0.1)
    for step in range(3):
        small.grad, large.grad = torch.full((8,), 1.0 + step), torch.full((50000,), 1.0 + step)
        optimizer.step()
    np.testing.assert_allclose(large.detach().numpy()[:8], small.detach().numpy(), rtol=1e-6)


def test_a_step_counts_as_one_change():
    p = parameter(1.0)
    p.grad = torch.ones(1, dtype=torch.float64)
    torch.optim.SGD([p], 0.1).step()
    assert p._version == 1 and p.is_leaf and p.requires_grad


def test_backward_after_a_step_through_its_old_values_is_an_error():
    p = parameter(1.0)
    loss = (p * p * p).sum()
    loss.backward(retain_graph=True)
    torch.optim.SGD([p], 0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_an_expanded_parameter_is_refused_and_stays():
    p = torch.ones(1).expand(3).requires_grad_()
    p.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.optim.SGD([p], 0.1).step()
    assert p.tolist() == [1.0, 1.0, 1.0]


def test_state_dicts_match_parameters_by_order():
    p, q = parameter(1.0), parameter(5.0)
    first = torch.optim.SGD([p, q], 0.1, 0.9)
    for each, gradient in ((p, 1.0), (q, 2.0)):
        each.grad = torch.tensor([gradient], dtype=torch.float64)
    first.step()
    second = torch.optim.SGD([parameter(0.0), parameter(0.0)], 0.5)
    second.load_state_dict(first.state_dict())
    buffers = [second.state[each]["momentum_buffer"].item() for each in second.param_groups[0]["params"]]
    assert buffers == [1.0, 2.0] and second.param_groups[0]["lr"] == 0.1


def test_a_state_dict_that_does_not_fit_changes_nothing():
    optimizer = torch.optim.SGD([parameter(1.0)], 0.1)
    with pytest.raises(ValueError, match="size of optimizer's group"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1], "lr": 7}]})
    assert optimizer.param_groups[0]["lr"] == 0.1
