"""Quantiles, covariance and counts against PyTorch."""
import pytest

from tests.parity.same_call import assert_same_error, assert_same_gradient, assert_same_result

torch = pytest.importorskip("torch")

RESULTS = [f"torch.quantile({args})" for args in (
    "x, 0.3", "x, 0.3, 1", "x, torch.tensor([0.2, 0.9]), dim=0",
    "x, torch.tensor([0.2, 0.9]), dim=1, keepdim=True",
    "x, torch.tensor([0.5, 0.2]), keepdim=True", "p, 0.25, 1", "x, 0.5, interpolation='nearest'", "s, 0.5",
    "x, 0.4, 0, interpolation='lower'", "x, 0.4, 0, interpolation='higher'",
    "x, 0.4, 0, interpolation='midpoint'", "n, 0.5, 1",
    "p, torch.tensor([0.2, 0.3]), dim=1")]
RESULTS += ["torch.nanquantile(n[:, 1:3], 0.5, dim=1)", "torch.nanquantile(x, 0.5, 0, True)",
            "x.nanquantile(0.2)"]
RESULTS += [f"x.cov({args})" for args in ("", "correction=0", "fweights=torch.tensor([1, 2, 3, 1])",
                                          "aweights=torch.tensor([1.0, 2, 3, 1])",
                                          "fweights=u[0].long() + 1, aweights=torch.tensor([1.0, 2, 3, 1])")]
RESULTS += ["x[0].cov()", "s.cov()", "i.cov()", "x.corrcoef()", "x[0].corrcoef()", "i.corrcoef()",
            "torch.zeros(3, 0).cov()"]
RESULTS += [f"torch.bincount(torch.tensor([1, 1, 3]){args})" for args in (
    "", ", minlength=6", ", torch.tensor([1.0, 2.0, 3.0])", ", torch.tensor([1, 2, 3])")]
RESULTS += ["torch.bincount(torch.tensor([], dtype=torch.int64), minlength=3)"]
RESULTS += [f"torch.histc({args})" for args in ("x", "x, bins=3", "x, bins=3, min=-1, max=1", "e, 3",
                                                "torch.tensor([1.0, 1.0]), 3",
                                                "torch.tensor([1.0, nan, 2.0]), 3, 0, 3")]

ERRORS = ["torch.quantile(x, 1.5)", "torch.quantile(x, torch.tensor([0.0, 1.5]))", "torch.quantile(i, 0.5)",
          "torch.quantile(x, torch.tensor(0.5, dtype=torch.float64))",
          "torch.quantile(x, 0.5, interpolation='x')",
          "torch.quantile(e, 0.5)", "torch.quantile(h, 0.5)", "torch.quantile(x, torch.tensor([[0.5]]))",
          "torch.quantile(x, 0.5, 5)", "y.cov()", "b.cov()", "y.corrcoef()",
          "x.cov(fweights=torch.tensor([1.0, 2, 3, 1]))",
          "x.cov(aweights=torch.tensor([1, 2, 3, 1]))", "x.cov(fweights=torch.tensor([1, 2]))",
          "x.cov(fweights=torch.tensor([[1, 2, 3, 1]]))", "x.cov(fweights=torch.tensor([-1, 2, 3, 1]))",
          "x.cov(fweights=torch.tensor([0, 0, 0, 0]))", "torch.bincount(torch.tensor([1, 1]), minlength=-1)",
          "torch.bincount(torch.tensor([1, 1]), torch.tensor([1]))", "torch.bincount(torch.tensor([1.0]))",
          "torch.bincount(torch.tensor([-1, 1]))", "torch.bincount(i)",
          "torch.bincount(torch.tensor([True]))",
          "torch.histc(x, 3, 4, 1)", "torch.histc(x, 0)", "torch.histc(i, 3)"]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ["torch.quantile(x, 0.3, 1)", "torch.quantile(x, torch.tensor([0.2, 0.9]))",
                                  "x.cov()",
                                  "x.corrcoef()", "torch.nanquantile(x, 0.7, 0)"])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)
