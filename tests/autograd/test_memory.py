"""What graphs keep, and that reference counting alone frees them: no cycles."""
import gc
import weakref

import pytest

import teachtorch as torch
from teachtorch.autograd.node import Node
from teachtorch.memory.storage import UntypedStorage


@pytest.fixture
def no_collector():
    """The cyclic garbage collector is off: what is freed is freed by reference counts."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive():
    """How many tensors, storages and nodes there are."""
    counts = {torch.Tensor: 0, UntypedStorage: 0, Node: 0}
    for thing in gc.get_objects():
        for kind in counts:
            counts[kind] += issubclass(type(thing), kind)
    return list(counts.values())


def mlp(layers, width=8):
    return [(torch.randn(width, width).mul_(0.3).requires_grad_(), torch.zeros(width, requires_grad=True))
            for _ in range(layers)]


def loss_of(parameters, x):
    for weight, bias in parameters:
        x = torch.relu(x @ weight + bias)
    return (x * x).mean()


def train(parameters, steps):
    x = torch.randn(4, 8)
    for _ in range(steps):
        loss_of(parameters, x).backward()
        with torch.no_grad():
            for pair in parameters:
                for p in pair:
                    p.sub_(p.grad, alpha=0.01)
                    p.grad = None


def test_a_thousand_steps_leave_nothing_behind(no_collector):
    parameters = mlp(3)
    train(parameters, 3)
    before = alive()
    train(parameters, 1000)
    assert alive() == before


def growth(action, times=20):
    action()
    before = alive()
    for _ in range(times):
        action()
    return [after - b for after, b in zip(alive(), before)]


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x ** 3
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * 3 * y / x


def second_derivative():
    x = torch.ones(3, requires_grad=True)
    first, = torch.autograd.grad(x.exp().tanh().sum(), x, create_graph=True)
    torch.autograd.grad(first.sum(), x)


def graph_without_backward():
    x = torch.ones(3, requires_grad=True)
    (x.exp() * x.sigmoid()).softmax(0).sum()


def custom_function():
    x = torch.ones(3, requires_grad=True)
    Cube.apply(x).sum().backward()
    Cube.apply(x).sum()


def custom_function_twice():
    x = torch.ones(3, requires_grad=True)
    first, = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    torch.autograd.grad(first.sum(), x)


def views_in_place():
    x = torch.ones(4, requires_grad=True)
    a = x * 1
    view = a[:2]
    view.mul_(2)
    a[2:].exp_()
    (view.sum() + a.sum()).backward()


def hooks():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 2)
    y.grad_fn.register_hook(lambda grad_inputs, grads: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    y.sum().backward()


def saved_tensor_hooks():
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x.exp().sin()
    y.sum().backward()


def checkpointed():
    x = torch.ones(3, requires_grad=True)
    torch.utils.checkpoint.checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False).sum().backward()


def several_outputs():
    x = torch.ones(4, requires_grad=True)
    values, _ = x.sort()
    (values.sum() + sum(part.sum() for part in x.unbind())).backward()


def forward_mode():
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3)).exp()


def functional():
    torch.func.hessian(lambda t: (t ** 3).sum())(torch.ones(2))
    torch.autograd.functional.jacobian(torch.exp, torch.ones(2))


@pytest.mark.parametrize("action", [
    second_derivative, graph_without_backward, custom_function, custom_function_twice, views_in_place, hooks,
    saved_tensor_hooks, checkpointed, several_outputs, forward_mode, functional])
def test_graphs_make_no_cycles(no_collector, action):
    assert growth(action) == [0, 0, 0]


def test_a_backward_frees_what_was_saved(no_collector):
    x = torch.ones(3, requires_grad=True)
    middle = x.exp()
    seen = weakref.ref(middle._array)
    y = middle.sin().sum()
    del middle
    assert seen() is not None
    y.backward()
    assert seen() is None


def test_retain_graph_keeps_it(no_collector):
    x = torch.ones(3, requires_grad=True)
    middle = x.exp()
    seen = weakref.ref(middle._array)
    y = middle.sin().sum()
    del middle
    y.backward(retain_graph=True)
    assert seen() is not None
    del y
    assert seen() is None


def test_gradients_of_the_way_are_not_kept(no_collector):
    x = torch.ones(3, requires_grad=True)
    a = x * 2
    kept = []
    a.register_hook(lambda grad: kept.append(weakref.ref(grad)))
    a.sum().backward()
    assert kept[0]() is None
