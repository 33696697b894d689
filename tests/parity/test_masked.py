"""torch.masked against PyTorch: values, dtypes, gradients, errors."""
import pytest

import teachtorch
from tests.parity.same_call import assert_same_error, assert_same_gradient, assert_same_result

torch = pytest.importorskip("torch")
pytest.importorskip("torch.masked")

# x: 3 by 4; p: (6, 4, 5), permuted; i: int64; u: uint8; b: bool; e: (0, 3); s: 0-dim; n: with NaN and infinities
MASKS = {"x": ("x > 0", "(x > 0)[:, :1]", "i", "x > 9", "None"), "p": ("p > 0", "(p > 0)[0]"), "n": ("n == n",),
         "s": ("s > 0", "s < 0"), "e": ("e > 0",)}
REDUCTIONS = "sum prod mean norm var std logsumexp amax amin".split()
ELEMENTWISE = "cumsum cumprod softmax log_softmax softmin".split()

CALLS = [f"torch.masked.{name}({array}, {dim}mask={mask})"
         for name in REDUCTIONS for array, masks in MASKS.items() for mask in masks
         for dim in ("", "dim=-1, keepdim=True, ") if not (name in ("amax", "amin") and array == "e" and not dim)]
CALLS += [f"torch.masked.{name}({array}, -1, mask={mask})"
          for name in ELEMENTWISE for array, masks in MASKS.items() for mask in masks]
CALLS += [f"torch.masked.{call}" for call in (
    "sum(p, (0, 2), mask=p > 0)", "sum(p, (), mask=p > 0)", "sum(u, 0, mask=b)", "sum(b, 1, mask=i > 0)",
    "sum(i, 1, dtype=torch.float64, mask=b)", "sum(x, 0, mask=x.to_sparse())", "prod(p, (2, 0), mask=p > 0)",
    "prod(u, 0, mask=b)", "amax(i, 0, mask=b)", "amin(u, 1, mask=b)", "amax(x, 0, dtype=torch.float64, mask=b)",
    "argmax(x, mask=b)", "argmin(x, 0, keepdim=True, mask=b)", "argmax(i, 1, mask=b)", "argmin(u, 1, mask=b)",
    "mean(i, 1, dtype=torch.float32, mask=b)", "mean(x, (0, 1), mask=b)", "median(x, 1, mask=b)",
    "median(x, mask=x > 9)", "median(i, 1, mask=i > -3)", "median(x, 0, keepdim=True)", "norm(x, 1.0, 1, mask=b)",
    "norm(x, -inf, 0, mask=b)", "norm(x, inf, mask=b)", "var(x, 1, False, mask=b)",
    "var(x, 1, correction=2, mask=b)", "var(i, 0, mask=b)", "std(i, 0, mask=b)",
    "std(x, 0, correction=0, keepdim=True, mask=b)", "var(x, 0, dtype=torch.float64, mask=b)",
    "cumsum(i, 0, mask=b)", "cumsum(x, 1, dtype=torch.float64, mask=b)", "cumprod(i, 1, mask=b)",
    "softmax(x, 0, dtype=torch.float64, mask=b)", "normalize(x, 2.0, 1, mask=b)",
    "normalize(x, 1.0, 0, eps=100, mask=b)", "normalize(x, 2.0, 1)", "logsumexp(i, 0, mask=b)",
    "logaddexp(x, x + 1, input_mask=b)", "logaddexp(x, x[0], input_mask=b, other_mask=b[0])")]

ERRORS = [f"torch.masked.{call}" for call in (
    "sum(x, 0, mask=torch.ones(1, 3, 4))", "sum(x, 0, mask=torch.ones(5))", "sum(x, 2, mask=b)",
    "sum(x, (0, 0), mask=b)", "sum(x, (0, -2), mask=b)", "amax(b, 0, mask=b)", "argmin(b, mask=b)",
    "mean(i, 0, mask=b)", "mean(x, 0, dtype=torch.int64, mask=b)", "median(i, 1, mask=i > 9)",
    "median(x.to_sparse(), 0)", "norm(i, 2.0, 0, mask=b)", "var(x, 0, True, correction=2, mask=b)",
    "softmax(x, 5, mask=b)", "cumsum(x.to_sparse(), 0)", "amax(e, mask=e > 0)")]

GRADIENTS = [call for call in CALLS if "(x" in call and "arg" not in call and "n ==" not in call]


@pytest.mark.parametrize("call", CALLS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


def test_names_are_pytorchs_but_for_masked_tensors():
    import torch.masked

    missing = set(torch.masked.__all__) - set(teachtorch.masked.__all__)
    assert missing == {"MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"}
