"""nll_loss, cross_entropy and one_hot against PyTorch."""
import pytest

from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")

F = "torch.nn.functional."
TARGET, IGNORED = "torch.tensor([1, 0, 3])", "torch.tensor([1, -100, 3])"
WEIGHT = "torch.tensor([1.0, 2.0, 0.5, 3.0])"
OPTIONS = ("", ", reduction='sum'", ", reduction='none'", f", weight={WEIGHT}",
           f", weight={WEIGHT}, reduction='none'",
           ", ignore_index=3", ", ignore_index=1, reduction='none'")
SMOOTH = (", label_smoothing=0.1", f", label_smoothing=0.3, weight={WEIGHT}",
          ", label_smoothing=0.3, reduction='none'",
          f", label_smoothing=0.2, weight={WEIGHT}, reduction='sum'")

LOSSES = [f"{F}{loss}(x, {target}{option})" for loss in ("nll_loss", "cross_entropy")
          for target in (TARGET, IGNORED)
          for option in OPTIONS[:7 if target == TARGET else 5]]
LOSSES += [f"{F}cross_entropy(x, {target}{option})" for target in (TARGET, IGNORED) for option in SMOOTH]
LOSSES += [f"{F}cross_entropy(x, x.softmax(1){option})" for option in (*OPTIONS[:5], *SMOOTH)]
RESULTS = LOSSES + [f"{F}{call}" for call in (
    "nll_loss(x[0], torch.tensor(1))", "nll_loss(x[0], torch.tensor([1]))",
    "nll_loss(x[0], torch.tensor([1]), reduction='none')",
    "nll_loss(y, torch.zeros(2, 4, dtype=torch.int64))",
    "nll_loss(y, torch.zeros(2, 4, dtype=torch.int64), reduction='none')",
    "nll_loss(e, torch.zeros(0, dtype=torch.int64))",
    "nll_loss(e, torch.zeros(0, dtype=torch.int64), reduction='sum')",
    "cross_entropy(x[0], torch.tensor(1))", "cross_entropy(x[0], x[0].softmax(0))",
    "cross_entropy(h, torch.tensor([0, 1, 2]))",
    "cross_entropy(y, torch.zeros(2, 4, dtype=torch.int64), label_smoothing=0.1)",
    "cross_entropy(y, y.softmax(1))",
    "cross_entropy(e, torch.zeros(0, dtype=torch.int64))", f"nll_loss(x, {TARGET}, size_average=False)",
    f"cross_entropy(x, {TARGET}, reduce=False)", f"nll_loss(x, {TARGET}.to(torch.uint8))",
    "one_hot(torch.tensor([0, 2]))", "one_hot(torch.tensor([[0, 2]]), 5)", "one_hot(torch.tensor(2))",
    "one_hot(torch.tensor([], dtype=torch.int64), 3)")]

ERRORS = [f"{F}{loss}({args})" for loss in ("nll_loss", "cross_entropy") for args in (
    "x, torch.tensor([0, 1, 4])", "x, torch.tensor([0, 1, -1])", "x, torch.tensor([0, 1])",
    "x, torch.tensor([0.0, 1, 2])",
    "x, torch.tensor([0, 1, 2], dtype=torch.int32)", "x, torch.tensor([0, 1, 2]), torch.tensor([1.0, 2])",
    "x, torch.tensor([0, 1, 2]), reduction='x'", "y, torch.zeros(2, 5, dtype=torch.int64)",
    "y, torch.zeros(3, 4, dtype=torch.int64)", "x, torch.zeros(3, 1, dtype=torch.int64)",
    "x[0], torch.tensor([1, 2])")]
ERRORS += [f"{F}{call}" for call in (
    "nll_loss(i, torch.tensor([0, 1, 2]))", "nll_loss(s, torch.tensor(0))",
    "cross_entropy(s, torch.tensor(0))",
    f"nll_loss(x, {TARGET}, {WEIGHT}.double())", f"cross_entropy(x, {TARGET}, label_smoothing=1.5)",
    "cross_entropy(x, i)",
    "cross_entropy(x, x, ignore_index=1)", "cross_entropy(x, x, torch.tensor([1.0, 2]))",
    "one_hot(torch.tensor([0, 2]), 2)",
    "one_hot(torch.tensor([0, -1]))", "one_hot(torch.tensor([0.0]))",
    "one_hot(torch.tensor([], dtype=torch.int64))",
    "one_hot(torch.tensor([1]), 0)", "one_hot(torch.tensor([], dtype=torch.int64), -2)")]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", LOSSES)
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", [f"nll_loss(x, {TARGET})", f"cross_entropy(x, {TARGET})"])
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, F + call, "x")


def test_images_have_their_own_node():
    assert_same_node(torch, F + "nll_loss(y.unsqueeze(-1), torch.zeros(2, 4, 1, dtype=torch.int64))", "y")
