"""Sorting and searching against PyTorch."""
import math

import numpy as np
import pytest

import teachtorch
from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")

RESULTS = ["x.sort()", "y.sort(0, True)", "p.sort(1)", "n.sort()", "n.sort(descending=True)", "s.sort()",
           "e.sort(0)", "b.sort()",
           "d.sort(stable=True)", "d.sort(dim=1, descending=True, stable=True)", "i.sort(dim=0, stable=True)",
           "h.sort()",
           "x.argsort(0, True)", "d.argsort(stable=True)", "torch.sort(x, axis=0)", "x.msort()", "s.msort()",
           "p.argsort(1)",
           "x.topk(2)", "x.topk(2, 0, False)", "p.topk(2, 1)", "n.topk(2)", "n.topk(2, largest=False)",
           "s.topk(1)", "x.topk(0)"]
RESULTS += [f"torch.searchsorted({args})" for args in (
    "x.sort()[0], x", "x[0].sort()[0], s", "x[0].sort()[0], 1", "x[0].sort()[0], 1, right=True",
    "d[1], d, side='right'",
    "x[0].sort()[0], x, out_int32=True", "x[0], x, sorter=x[0].argsort()",
    "x[0].sort()[0], torch.tensor([nan, inf])")]
RESULTS += ["torch.bucketize(x, x[0].sort()[0])", "torch.bucketize(2, d[1])",
            "torch.bucketize(d, d[1], right=True)"]
RESULTS += [f"torch.unique({args})" for args in (
    "i", "i, return_inverse=True", "i, return_counts=True", "i, True, True, True", "u, dim=0",
    "u, return_inverse=True, dim=1", "e",
    "e, dim=0", "n", "b", "s")]
RESULTS += [f"torch.unique_consecutive({args})" for args in (
    "u", "d, return_inverse=True, return_counts=True", "d, dim=1, return_counts=True", "e", "n", "e, dim=0")]
ERRORS = ["x.sort(dim=3)", "x.topk(5)", "x.topk(-1)", "x.topk(1, 5)", "s.topk(2)", "b.topk(1)",
          "e.unique(dim=1)", "x.unique(dim=5)",
          "torch.unique(s, dim=0)", "torch.unique_consecutive(e, dim=1)", "torch.bucketize(x, x)",
          "torch.bucketize(x, s)"]
ERRORS += [f"torch.searchsorted({args})" for args in (
    "x, s", "x, x[0]", "x, x.t()", "x[0], x, side='foo'", "x[0], x, side='left', right=True", "s, x",
    "x[0], x, sorter=x[0, :2].long()",
    "x[0], x, sorter=x[0]", "x[0], x, sorter=torch.tensor([0, 1, 2, 9])",
    "x[0], x, out_int32=True, out=torch.zeros(3, 4, dtype=torch.int64)")]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ["y.sort(1)", "y.topk(2, 0)", "y.msort()", "y.sort(-1, True)"])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "y")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", ["x.sort()", "x.topk(1)", "x.msort()"])
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, call, "x")


@pytest.mark.parametrize("fill", [0.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_topk_tells_places_apart(k, largest, fill):
    """Values are PyTorch's, and no place is named twice, also where many elements are the same extreme."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 100)).astype(np.float32)
    values.reshape(-1)[rng.integers(0, values.size, 1500)] = fill
    values[0] = fill
    found = teachtorch.tensor(values).topk(k, -1, largest)
    expected = torch.tensor(values).topk(k, -1, largest)
    np.testing.assert_array_equal(found.values.numpy(), expected.values.numpy())
    np.testing.assert_array_equal(np.take_along_axis(values, found.indices.numpy(), -1), found.values.numpy())
    assert all(len(set(row)) == k for row in found.indices.tolist())
