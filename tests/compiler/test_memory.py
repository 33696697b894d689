"""In-place operators, views, and results that share memory: right, or left to the function itself."""
import pytest

import teachtorch as torch
from teachtorch.compiler import explain
from teachtorch.nn import functional as F

from .helpers import check


def both(function, *args, **options):
    """(results, arguments afterwards) of a compiled call and of a call as it is."""
    mine, theirs = [a.clone() for a in args], [a.clone() for a in args]
    compiled = torch.compile(function, **options)
    found, wanted = compiled(*mine), function(*theirs)
    return (found, mine), (wanted, theirs)


def test_in_place_on_fresh_memory():
    def function(x):
        y = x + 1
        y.mul_(2)
        y += x
        return y
    check(function, torch.arange(6.0).reshape(2, 3))


def test_in_place_through_a_view():
    def function(x):
        y = x * 2
        y[0].add_(10)
        y.view(-1)[5] = 7
        z = y.t()
        z.mul_(3)
        return y + 1, z
    compiled = torch.compile(lambda x: function(x)[0], fullgraph=True)
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(compiled(x), function(x)[0])
    assert torch.equal(compiled(x + 1), function(x + 1)[0])


def test_an_argument_is_changed():
    def function(x, y):
        x.add_(y)
        return x * 2
    (found, mine), (wanted, theirs) = both(function, torch.ones(3), torch.arange(3.0), fullgraph=True)
    assert torch.equal(found, wanted) and torch.equal(mine[0], theirs[0])


def test_an_argument_is_changed_and_returned():
    x = torch.ones(3)
    f = torch.compile(lambda x: x.mul_(3), fullgraph=True)
    version = x._version
    assert f(x) is x and x.tolist() == [3, 3, 3] and x._version == version + 1


def test_changed_arguments_that_share_memory_run_as_they_are():
    def function(x, y):
        x.mul_(2)
        return y + 1
    base = torch.ones(4)
    f = torch.compile(function)
    f(torch.ones(4), torch.ones(4))
    found = f(base, base.view(4))
    assert found.tolist() == [3, 3, 3, 3]


def test_results_that_look_at_arguments():
    f = torch.compile(lambda x: x.view(-1)[1:], fullgraph=True)
    x = torch.zeros(2, 2)
    f(x)[0] = 5
    assert x.tolist() == [[0, 5], [0, 0]]
    g = torch.compile(lambda x: (x, x + 1), fullgraph=True)
    assert g(x)[0] is x


def test_results_that_share_memory():
    def function(x):
        y = x + 1
        return y, y.view(-1)
    f = torch.compile(function)
    a, b = f(torch.zeros(2, 2))
    b[0] = 9
    assert a[0, 0].item() == 9
    assert "share memory" in str(explain(function)(torch.zeros(2, 2)))


def test_equal_results_are_two_tensors():
    a, b = torch.compile(lambda x: (x + 1, x + 1), fullgraph=True)(torch.zeros(2))
    a.add_(1)
    assert b.tolist() == [1, 1]
    y, z = torch.compile(lambda x: (x + 1,) * 2, fullgraph=True)(torch.zeros(2))
    assert y is z


def test_a_view_of_an_argument_with_gradients_runs_as_it_is():
    x = torch.ones(2, 3, requires_grad=True)
    y = torch.compile(lambda x: x.t())(x)
    assert y._base is x and y.requires_grad


def test_in_place_on_what_requires_grad_runs_as_it_is():
    def function(x, w):
        y = x * 1
        y[0].mul_(w)
        x.add_(w.sum())
        return y
    w = torch.full((2,), 3.0, requires_grad=True)
    found, wanted = torch.compile(function)(torch.ones(2, 2), w), function(torch.ones(2, 2), w)
    assert torch.equal(found, wanted)
    assert torch.equal(*[torch.autograd.grad(t.sum(), w)[0] for t in (found, wanted)])


def test_what_was_saved_may_not_be_changed():
    w = torch.ones(3, requires_grad=True)
    x = torch.ones(3)
    y = torch.compile(lambda x: (x * w).sum(), fullgraph=True)(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_moves_its_statistics(training):
    torch.manual_seed(0)
    mine, theirs = torch.nn.BatchNorm1d(4).train(training), torch.nn.BatchNorm1d(4).train(training)
    compiled = torch.compile(mine, fullgraph=True)
    for step in range(3):
        x = torch.randn(5, 4) * step
        assert torch.allclose(compiled(x), theirs(x), atol=1e-6)
    for a, b in zip(mine.buffers(), theirs.buffers()):
        assert torch.allclose(a.double(), b.double(), atol=1e-6)


def test_dropout_draws_the_numbers_of_eager():
    def function(x):
        return F.dropout(x * 2, 0.5) + F.dropout(x, 0.3)
    compiled = torch.compile(function, fullgraph=True)
    x = torch.ones(50, requires_grad=True)
    for _ in range(2):
        torch.manual_seed(3)
        found = compiled(x)
        later = torch.rand(2)
        torch.manual_seed(3)
        wanted = function(x)
        assert torch.equal(found, wanted) and torch.equal(later, torch.rand(2))
        assert torch.equal(*[torch.autograd.grad(t.sum(), x)[0] for t in (found, wanted)])


def test_on_another_device_operators_run_one_by_one():
    x = torch.ones(4, device="sim", requires_grad=True)
    y = torch.compile(lambda x: (x * 2 + 1).relu().sum(), fullgraph=True)(x)
    y.backward()
    assert y.device.type == "sim" and y.item() == 12 and x.grad.tolist() == [2, 2, 2, 2]
