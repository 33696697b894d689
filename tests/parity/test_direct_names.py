"""Names that PyTorch has beside its usual functions: what nn.functional calls, and what older code calls."""
import pytest

from tests.parity.same_call import assert_same_error, assert_same_gradient, assert_same_result

torch = pytest.importorskip("torch")

# x: 3 by 4; y: (2, 3, 4), float64; p: (6, 4, 5), permuted; i: int64
IMAGE, GRID = "x[None, None]", "x.reshape(1, 2, 3, 2) / 3"
VOLUME, PLACES = "x.reshape(1, 1, 2, 3, 2)", "x.reshape(1, 2, 2, 1, 3) / 3"
CALLS = [f"torch.grid_sampler_2d({IMAGE}, {GRID}, {mode}, {padding}, {corners})"
         for mode in (0, 1, 2) for padding in (0, 1, 2) for corners in (False, True)]
CALLS += [f"torch.grid_sampler_3d({VOLUME}, {PLACES}, {mode}, {padding}, False)"
          for mode in (0, 1) for padding in (0, 2)]
CALLS += ["torch.norm_except_dim(x)", "torch.norm_except_dim(x, 1, 1)", "torch.norm_except_dim(x, 3, -1)",
          "torch.norm_except_dim(x[0])", "torch.addmv_(x[:, 0], x[:, 1:3], x[0, 1:3], beta=2)",
          "torch.ops.aten._safe_softmax(x, 1)", "torch.ops.aten._safe_softmax(x, 0, torch.float64)",
          "torch.ops.aten._safe_softmax(torch.where(x > -1, x, -inf).clamp(max=x[1]), 0)",
          "torch.ops.aten._safe_softmax(torch.full((2, 3), -inf), 1)",
          "torch.ops.aten._safe_softmax(x.masked_fill(torch.tensor([[True], [False], [False]]), -inf), 1)"]
ERRORS = [f"torch.grid_sampler_3d({IMAGE}, {GRID}, 0, 0, False)",
          f"torch.grid_sampler_2d({VOLUME}, {PLACES}, 0, 0, False)",
          f"torch.grid_sampler_3d({VOLUME}, {PLACES}, 2, 0, False)", "torch.norm_except_dim(p, 2, 3)",
          "torch.ops.aten._safe_softmax(i, 1)"]


@pytest.mark.parametrize("call", CALLS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", [call for call in CALLS if "addmv" not in call and "full" not in call])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)
