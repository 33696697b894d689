"""Scans against PyTorch."""
import pytest

from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")

SCANS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
RESULTS = [f"{t}.{op}({dim})" for op in SCANS for t, dim in (("x", 0), ("y", -1), ("p", 1), ("s", 0),
                                                             ("e", 1), ("n", 1), ("h", 0),
                                                             ("d", 1))]
RESULTS += [f"{t}.{op}(1)" for op in SCANS[:-1] for t in ("i", "b", "u")]
RESULTS += ["x.cumsum(0, dtype=torch.int64)", "torch.cumprod(i, axis=0)", "x.clone().cumsum_(0)",
            "x.clone().cumprod_(1)"]
RESULTS += [f"x.diff({args})" for args in ("", "n=0", "n=2", "n=5", "dim=0",
                                           "prepend=x[:, :1], append=x")] + ["b.diff()"]
ERRORS = ["x.cumsum(2)", "s.cummax(1)", "x.cumsum(0, dtype=torch.bool)", "i.logcumsumexp(0)", "x.diff(n=-1)",
          "s.diff()",
          "x.diff(prepend=torch.zeros(2))", "x.diff(prepend=torch.zeros(2, 1))", "x.diff(dim=3)"]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize(("call", "name"), [("cumsum(0)", "x"), ("cumprod(1)", "x"), ("cumprod(1)", "z"),
                                            ("cumprod(0)", "z"),
                                            ("cummax(1)", "d"), ("cummin(1)", "d"), ("logcumsumexp(1)", "y"),
                                            ("diff()", "x"), ("cumprod(0)", "s")])
def test_gradient_is_pytorchs(call, name):
    assert_same_gradient(torch, f"{name}.{call}", name)


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("op", SCANS)
def test_node_has_pytorchs_name(op):
    assert_same_node(torch, f"x.{op}(0)", "x")
