"""softmax and relatives against PyTorch."""
import pytest

from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")

FUNCTIONS = ("torch.softmax", "torch.log_softmax", "torch.nn.functional.softmax",
             "torch.nn.functional.log_softmax",
             "torch.nn.functional.softmin")
RESULTS = [f"{f}({args})" for f in FUNCTIONS for args in ("x, 1", "x, 0", "p, 1", "s, 0", "e, 1", "e, 0",
                                                          "h, -1", "n, 1",
                                                          "x, 1, dtype=torch.float64")]
RESULTS += [f"torch.softmax({t}, 1, dtype=torch.float32)" for t in ("i", "b", "h")]
RESULTS += ["x.softmax(axis=0)", "torch.special.softmax(x, 0)"]
RESULTS += [f"{f}({t})" for f in FUNCTIONS[2:] for t in ("x", "y", "s")]
ERRORS = ["torch.softmax(x, 2)", "torch.softmax(s, 1)", "torch.softmax(i, 1)", "torch.log_softmax(b, 1)",
          "torch.softmax(i, 0)"]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", [f"{f}(y, {dim})" for f in FUNCTIONS for dim in (1, -1)])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "y")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", [f"{f}(x, 1)" for f in FUNCTIONS])
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, call, "x")
