"""Module: what is registered, what is saved, what hooks see. Facts about PyTorch, checked without it."""
import copy
import pickle

import numpy as np
import pytest

import teachtorch as torch
from teachtorch import nn


class Scale(nn.Module):
    """Multiplies by a parameter; counts its calls in a buffer."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.full((2,), 3.0))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.hidden = [nn.Linear(1, 1)]

    def forward(self, x):
        self.calls += 1
        return x * self.factor


def test_members_are_what_was_assigned():
    m = nn.Sequential(Scale(), nn.Linear(2, 1))
    assert [n for n, _ in m.named_parameters()] == ["0.factor", "1.weight", "1.bias"]
    assert [n for n, _ in m.named_buffers()] == ["0.calls"]
    assert list(m.state_dict()) == ["0.factor", "0.calls", "1.weight", "1.bias"]


def test_modules_in_a_plain_list_are_invisible():
    assert not any("hidden" in name for name, _ in Scale().named_modules())


def test_a_shared_parameter_is_listed_once_and_saved_twice():
    a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    b.weight = a.weight
    m = nn.Sequential(a, b)
    assert [n for n, _ in m.named_parameters()] == ["0.weight"]
    assert list(m.state_dict()) == ["0.weight", "1.weight"]


def test_operations_on_a_parameter_give_plain_tensors():
    p = nn.Parameter(torch.ones(2))
    assert type(p + 1) is type(p[0]) is type(p.detach()) is torch.Tensor
    assert isinstance(p, torch.Tensor) and p.is_leaf and p.requires_grad


def test_a_property_that_fails_hides_behind_its_own_name():
    class Trap(nn.Module):
        @property
        def size(self):
            return self.missing
    with pytest.raises(AttributeError, match="no attribute 'size'"):
        _ = Trap().size


def test_loading_reports_everything_at_once_and_keeps_the_dtype():
    m = nn.Linear(2, 1)
    with pytest.raises(RuntimeError) as caught:
        m.load_state_dict({"weight": torch.ones(3, 3), "more": torch.ones(1)})
    for part in ('Missing key(s) in state_dict: "bias"', 'Unexpected key(s) in state_dict: "more"',
                 "size mismatch for weight"):
        assert part in str(caught.value)
    m.load_state_dict({"weight": torch.ones(1, 2, dtype=torch.float64)}, strict=False)
    assert m.weight.dtype is torch.float32 and m.weight.tolist() == [[1.0, 1.0]]


def test_saved_values_are_the_live_ones():
    m = nn.Linear(1, 1)
    state = m.state_dict()
    with torch.no_grad():
        m.bias.fill_(5)
    assert state["bias"].item() == 5 and not state["bias"].requires_grad


def test_conversion_keeps_parameters_and_their_optimizer():
    m = nn.Linear(2, 1)
    before = m.weight
    optimizer = torch.optim.SGD(m.parameters(), 0.1)
    m.double()
    m(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    start = m.weight.detach().clone()
    optimizer.step()
    assert m.weight is before and m.weight.dtype is torch.float64
    np.testing.assert_allclose(m.weight.detach().numpy(), start.numpy() - 0.1)


def test_copies_are_independent_and_pickles_compute_the_same():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    other, x = copy.deepcopy(m), torch.ones(1, 2)
    with torch.no_grad():
        m[0].weight.zero_()
    assert other[0].weight.abs().sum().item() > 0
    assert pickle.loads(pickle.dumps(other))(x).tolist() == other(x).tolist()


def test_forward_hooks_run_around_forward_in_order():
    order, m = [], Scale()
    m.register_forward_pre_hook(lambda *a: order.append("before"))
    m.register_forward_hook(lambda *a: order.append("after"))
    handle = m.register_forward_hook(lambda *a: order.append("removed"))
    handle.remove()
    m(torch.ones(2))
    assert order == ["before", "after"]


def test_calling_forward_itself_skips_the_hooks():
    m = nn.Identity()
    m.register_forward_hook(lambda module, args, out: out + 1)
    assert m(1) == 2 and m.forward(1) == 1


def test_full_backward_hooks_see_both_sides():
    seen, m = [], Scale()
    m.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append((grad_in[0].tolist(),
                                                                                 grad_out[0].tolist())))
    m(torch.ones(2, requires_grad=True)).sum().backward()
    assert seen == [([3.0, 3.0], [1.0, 1.0])]


def test_inputs_of_a_module_with_full_backward_hooks_cannot_be_changed_in_place():
    m = nn.ReLU(inplace=True)
    m.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        m(torch.ones(2, requires_grad=True) * 1)


def test_dropout_acts_in_training_only_and_keeps_the_mean():
    torch.manual_seed(0)
    m, x = nn.Dropout(0.25), torch.ones(10000)
    y = m(x)
    assert set(np.unique(y.numpy())) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(y.mean().item() - 1) < 0.03
    assert m.eval()(x) is x


@pytest.mark.parametrize("make", (lambda: nn.Linear(100, 50), lambda: nn.Linear(100, 50, bias=False)))
def test_linear_starts_within_its_bound(make):
    torch.manual_seed(0)
    for p in make().parameters():
        largest = p.abs().max().item()
        assert 0.09 < largest <= 0.1


def test_orthogonal_filling_has_orthonormal_rows():
    w = nn.init.orthogonal_(torch.empty(3, 5))
    np.testing.assert_allclose((w @ w.t()).numpy(), np.eye(3), atol=1e-5)


def test_truncated_normal_stays_inside():
    w = nn.init.trunc_normal_(torch.empty(2000), 0.0, 1.0, -0.5, 0.7)
    assert w.min().item() >= -0.5 and w.max().item() <= 0.7


def test_losses_agree_with_their_definitions():
    x, t = torch.tensor([[0.2, 1.5], [-0.3, 0.4]]), torch.tensor([1, 0])
    logs = np.log(np.exp(x.numpy()) / np.exp(x.numpy()).sum(1, keepdims=True))
    assert nn.CrossEntropyLoss()(x, t).item() == pytest.approx(-(logs[0, 1] + logs[1, 0]) / 2, rel=1e-6)
    p, q = torch.tensor([0.2, 0.9]), torch.tensor([0.0, 1.0])
    assert nn.BCELoss()(p, q).item() == pytest.approx(-(np.log(0.8) + np.log(0.9)) / 2, rel=1e-6)
    assert nn.MSELoss()(p, q).item() == pytest.approx((0.04 + 0.01) / 2, rel=1e-6)
    assert nn.BCEWithLogitsLoss()(torch.logit(p), q).item() == pytest.approx(nn.BCELoss()(p, q).item(), rel=1e-5)


def test_clipping_returns_the_norm_before():
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(5.0)
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8], rtol=1e-5)
