"""Recurrent layers and attention, against mathematics: central differences, and one kernel against the other."""

import itertools

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.autograd import forward_ad
from teachtorch.autograd import gradcheck as check_gradient
from teachtorch.kernels import attention, recurrent

MODES = ["RNN_TANH", "RNN_RELU", "LSTM", "GRU"]


def drawn(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def leaf(*shape, seed=0):
    return torch.from_numpy(drawn(*shape, seed=seed)).requires_grad_()


def weights_of(mode, inputs, hidden, state, dtype=np.float64):
    rows = hidden * {"LSTM": 4, "GRU": 3}.get(mode, 1)
    shapes = (rows, inputs), (rows, state), (rows,), (rows,)
    return [drawn(*shape, seed=i, dtype=dtype) / hidden**0.5 for i, shape in enumerate(shapes)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_derivatives_equal_central_differences(kind, packed):
    module = getattr(torch.nn, kind)(2, 3, 2, bidirectional=True, dtype=torch.float64)

    def function(input, *parameters):
        given = torch.nn.utils.rnn.pack_padded_sequence(input, [3, 2]) if packed else input
        out, hidden = module(given)
        return (out.data if packed else out), *(hidden if kind == "LSTM" else (hidden,))

    assert check_gradient(function, (leaf(3, 2, 2), *module.parameters()))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batch_sizes", [[30] * 40, [40] * 20 + [25] * 10 + [1] * 10])
def test_compiled_steps_equal_numpys(mode, batch_sizes, monkeypatch):
    """The passes over the gates do the same, compiled or not."""
    x, batch = drawn(sum(batch_sizes), 8), batch_sizes[0]
    weights = [w.astype(np.float64) for w in weights_of(mode, 8, 32, 32)]
    h, c = drawn(batch, 32), drawn(batch, 32, seed=1) if mode == "LSTM" else None
    grads = drawn(len(x), 32, seed=2), drawn(batch, 32, seed=3), c
    found = []
    for small in (0, 1 << 30):
        monkeypatch.setattr(recurrent, "SMALL", small)
        out, state, cell, reserve = recurrent.forward(mode, x, batch_sizes, False, h, c, *weights, None)
        slopes = recurrent.backward(mode, grads, x, batch_sizes, False, *weights[:2], None, reserve)
        found.append([a for a in (out, state, cell, *slopes) if a is not None])
    for compiled, plain in zip(*found):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("is_causal", [False, True])
def test_compiled_attention_equals_numpys(is_causal, monkeypatch):
    query, key, value, grad = (drawn(2, 3, 9, 5, seed=i) for i in range(4))
    mask = drawn(9, 9) < 0.5
    mask[4] = False
    found = []
    for small in (0, 1 << 30):
        monkeypatch.setattr(attention, "SMALL", small)
        out, lse = attention.forward(query, key, value, mask, is_causal, 0.4)
        found.append(
            [out, lse, *attention.backward(grad, None, query, key, value, mask, out, lse, is_causal, 0.4)]
        )
    for compiled, plain in zip(*found):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-10)
    assert not found[0][0][:, :, 4].any() and np.isfinite(found[0][2]).all()


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_forward_mode_equals_a_difference(kind):
    module = getattr(torch.nn, kind)(2, 3, dtype=torch.float64)
    x, direction = drawn(4, 2, 2), drawn(4, 2, 2, seed=1)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.from_numpy(x), torch.from_numpy(direction))
        tangent = forward_ad.unpack_dual(module(dual)[0]).tangent
    above, below = (module(torch.from_numpy(x + step * direction))[0] for step in (1e-6, -1e-6))
    np.testing.assert_allclose(tangent.detach().numpy(), ((above - below) / 2e-6).detach().numpy(), atol=1e-7)


def test_half_precision_is_composed():
    module = torch.nn.LSTM(3, 4).bfloat16()
    out, _ = module(torch.ones(2, 1, 3, dtype=torch.bfloat16))
    out.sum().backward()
    assert out.dtype == torch.bfloat16 and module.weight_ih_l0.grad.dtype == torch.bfloat16


def test_meta_layers_have_shapes():
    out, (h, c) = torch.nn.LSTM(3, 4, 2, bidirectional=True, device="meta")(
        torch.empty(5, 2, 3, device="meta")
    )
    assert [tuple(t.shape) for t in (out, h, c)] == [(5, 2, 8), (4, 2, 4), (4, 2, 4)]


def test_changed_weights_are_used():
    module = torch.nn.GRU(2, 3)
    module.weight_ih_l0 = torch.nn.Parameter(torch.zeros(9, 2))
    x = torch.ones(1, 1, 2)
    assert torch.equal(module(x)[0], module(5 * x)[0])


def test_ctc_loss_sums_over_all_alignments():
    """The loss is minus the log of the summed probability of every way that collapses to the target."""
    log_probs = torch.from_numpy(drawn(4, 1, 3)).log_softmax(2)
    probabilities = log_probs.exp().numpy()[:, 0]
    total = 0.0
    for way in itertools.product(range(3), repeat=4):
        collapsed = [label for label, _ in itertools.groupby(way)]
        if [label for label in collapsed if label] == [1, 1]:
            total += np.prod(probabilities[range(4), way])
    loss = torch.nn.functional.ctc_loss(log_probs, torch.tensor([[1, 1]]), (4,), (2,), reduction="sum")
    np.testing.assert_allclose(loss.item(), -np.log(total))


def test_ctc_gradient_equals_central_differences():
    log_probs = torch.from_numpy(drawn(6, 2, 4)).log_softmax(2).requires_grad_()
    targets = torch.tensor([[1, 2, 2], [3, 1, 0]])
    assert check_gradient(
        lambda x: torch.nn.functional.ctc_loss(x.log_softmax(2), targets, (6, 4), (3, 2)), (log_probs,)
    )
