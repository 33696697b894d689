"""The reference solutions of the exercises on modules against PyTorch's own modules."""

import math

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from tests.parity.solutions import solution  # noqa: E402


@pytest.mark.parametrize("shape", [(3, 5), (8, 2, 3, 3), (4, 6, 5), (1, 1)])
def test_initial_bounds(shape):
    ask, init, t = solution("initial_bounds"), torch.nn.init, torch.empty(shape)
    assert ask.fans(shape) == init._calculate_fan_in_and_fan_out(t)
    for name, slope in (
        ("relu", 0.01),
        ("leaky_relu", 0.3),
        ("tanh", 0.01),
        ("selu", 0.01),
        ("linear", 0.01),
        ("sigmoid", 0.01),
    ):
        assert math.isclose(
            ask.gain(name, slope), init.calculate_gain(name, slope if name == "leaky_relu" else None)
        )
    big = torch.empty(40 * shape[0], 40 * shape[1], *shape[2:])
    init.kaiming_uniform_(big, a=0.2, mode="fan_out")
    bound = ask.kaiming_bound(tuple(big.shape), "fan_out", "leaky_relu", 0.2)
    assert 0.98 * bound < big.abs().max() <= bound * 1.0001
    init.xavier_uniform_(big, 2.0)
    assert 0.98 < big.abs().max() / ask.xavier_bound(tuple(big.shape), 2.0) <= 1.0001


def test_default_bounds():
    for layer in (torch.nn.Linear(50, 200), torch.nn.Conv2d(8, 100, 5, groups=2)):
        weight, bias = solution("initial_bounds").default_bounds(tuple(layer.weight.shape))
        assert 0.98 * weight < layer.weight.abs().max() <= weight * 1.0001
        assert 0.8 * bias < layer.bias.abs().max() <= bias * 1.0001


@pytest.mark.parametrize("momentum", [0.1, 0.7, None])
def test_batch_norm(momentum):
    ours, theirs = (
        solution("batch_norm").BatchNorm(3, 1e-4, momentum),
        torch.nn.BatchNorm1d(3, 1e-4, momentum).double(),
    )
    numbers = np.random.default_rng(0)
    for k in range(4):
        if k == 3:
            ours.eval(), theirs.eval()
        x = numbers.normal(2, 3, (5, 3, 4))
        assert np.allclose(ours(x), theirs(torch.tensor(x)).detach().numpy())
        assert np.allclose(ours.running_mean, theirs.running_mean) and np.allclose(
            ours.running_var, theirs.running_var
        )
        assert ours.num_batches == int(theirs.num_batches_tracked)


def test_cross_entropy():
    ask, numbers = solution("cross_entropy").cross_entropy, np.random.default_rng(0)
    z, w = numbers.normal(0, 30, (7, 4)), numbers.uniform(0.5, 2, 4)
    t = np.array([0, 1, 2, 3, -1, 2, -1])
    for smoothing in (0.0, 0.3, 1.0):
        for weight in (None, w):
            wanted = torch.nn.functional.cross_entropy(
                torch.tensor(z),
                torch.tensor(t),
                None if weight is None else torch.tensor(weight),
                ignore_index=-1,
                label_smoothing=smoothing,
            )
            assert math.isclose(ask(z, t, weight, -1, smoothing), wanted.item(), rel_tol=1e-9)
    none = torch.nn.functional.cross_entropy(torch.tensor(z), torch.full((7,), -100))
    assert math.isnan(none) and math.isnan(ask(z, np.full(7, -100)))


def everything(module_class, hooked):
    """What a module with many hooks returns and records; `hooked` makes one of a function."""
    order, m = [], hooked(module_class, lambda x, k=0: x + k)
    m.register_forward_pre_hook(lambda m, args: args[0] * 2)
    m.register_forward_pre_hook(
        lambda m, args, kwargs: ((args[0] + 1,), {"k": 5}), with_kwargs=True, prepend=True
    )
    handle = m.register_forward_hook(lambda m, args, out: order.append([args, out]))
    m.register_forward_hook(lambda m, args, kwargs, out: out * 10, with_kwargs=True, prepend=True)
    m.register_forward_hook(lambda *_: order.append("always"), always_call=True)
    first = m(1, k=3)
    handle.remove()
    m.forward = None
    with pytest.raises(TypeError):
        m(1)
    return first, order


def test_hook_pipeline():
    def theirs(cls, function):
        m = cls()
        m.forward = function
        return m

    assert everything(solution("hook_pipeline").Module, lambda cls, f: cls(f)) == everything(
        torch.nn.Module, theirs
    )


def registered(library, parameter, module):
    """named_parameters of a small tree with a shared parameter."""
    root, child, other = module(), module(), module()
    root.a, root.scale = child, parameter(1.0)
    child.weight = parameter(2.0)
    other.weight, other.bias = child.weight, parameter(3.0)
    root.b, root.c = other, child
    root.hidden = [module()]
    root.scale = None
    return [path for path, _ in root.named_parameters()]


def test_registration():
    ours = solution("registration")
    theirs = registered(torch, lambda x: torch.nn.Parameter(torch.tensor(x)), torch.nn.Module)
    assert registered(ours, ours.Parameter, ours.Module) == theirs
