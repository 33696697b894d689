"""Matrix products against PyTorch."""
import numpy as np
import pytest

from tests.parity import same_call
from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")


def random(*shape):
    return np.random.default_rng([4, *shape]).uniform(-1, 1, shape).astype(np.float32)


ARRAYS = {"x": random(3, 4), "w": random(4, 3), "v": random(3), "u": random(4), "y": random(2, 3, 4),
          "z": random(2, 4, 3),
          "s": random(), "d": random(4, 3).astype(np.float64), "i": np.arange(12).reshape(4, 3),
          "j": np.arange(24).reshape(2, 3, 4),
          "b": np.array([[True, False], [True, True]]), "h": random(3, 4).astype(np.float16),
          "e": random(0, 4),
          "E": random(0, 3, 4), "q": random(5, 1, 3, 4), "n": np.full((3, 3), np.nan, np.float32)}


@pytest.fixture(autouse=True)
def arrays(monkeypatch):
    monkeypatch.setattr(same_call, "ARRAYS", ARRAYS)


RESULTS = [f"torch.{call}" for call in (
    "mm(x, w)", "mm(i, i[:3])", "mm(h, h.T)", "mm(e, w)", "mm(e.T, e)", "mm(w.T, x.T)", "mv(x, u)",
    "mv(i, i[0])", "mv(e, u)",
    "dot(v, v)", "dot(i[0], i[1])", "vdot(v, v)", "bmm(y, z)", "bmm(j, j.transpose(1, 2))",
    "bmm(E, E.transpose(1, 2))",
    "matmul(x, w)", "matmul(x, u)", "matmul(u, w)", "matmul(v, v)", "matmul(y, w)", "matmul(y, u)",
    "matmul(x, z)",
    "matmul(u, z)", "matmul(y, z)", "matmul(q, z)", "matmul(E, w)", "matmul(E, w.expand(0, 4, 3))",
    "outer(v, u)", "ger(v, u)",
    "outer(v, i[0])", "inner(x, x)", "inner(v, v)", "inner(s, x)", "inner(y, x)", "addmm(v, x, w)",
    "addmm(s, x, w)",
    "addmm(v, x, w, beta=2, alpha=0.5)", "addmm(n, x, w, beta=0)", "addmm(i[:3], i.T, i, beta=0.5, alpha=2)",
    "addmv(v, x, u)", "addmv(s, x, u, beta=0.5)", "addmv(i[0], i.T, i[:, 0], alpha=0.5)",
    "addmv(n[0], x, u, beta=0)",
    "baddbmm(v, y, z)", "baddbmm(n, y, z, beta=0)", "baddbmm(s, y, z, alpha=3)", "addbmm(v, y, z)",
    "addbmm(n, y, z, beta=0)",
    "addr(x, v, u)", "addr(n[:, :1], v, u, beta=0)", "addr(b, b[0], b[1])", "addr(b, b[0], b[1], alpha=2)",
    "addr(x, v, i[:, 0])",
    "nn.functional.linear(x, x)", "nn.functional.linear(x, x, v)", "nn.functional.linear(y, x, v)",
    "nn.functional.linear(y, x)",
    "nn.functional.linear(u, x, v)", "nn.functional.linear(x, u)", "nn.functional.linear(E, x, v)")]
RESULTS += ["x @ w", "x.matmul(w)", "x.clone().addmm_(x, torch.ones(4, 4))", "x.clone().addr_(v, u, beta=2)",
            "v.clone().addmv_(x, u)", "y.clone().baddbmm_(y, torch.ones(2, 4, 4))",
            "x.clone().addbmm_(y, torch.ones(2, 4, 4))"]
ERRORS = [f"torch.{call}" for call in (
    "mm(x, x)", "mm(x, v)", "mm(v, x)", "mm(x, d)", "mm(x, 3)", "mm(x, i)", "mm(b, b)", "bmm(y, y)",
    "bmm(x, y)", "bmm(y, x)",
    "bmm(y, z.double())", "mv(x, v)", "mv(v, v)", "mv(x, x)", "mv(x, u.double())", "mv(b, b[0])", "dot(v, u)",
    "dot(v, x)",
    "dot(v, v.double())", "dot(v, 3)", "dot(b[0], b[0])", "matmul(s, x)", "matmul(v, u)", "matmul(x, x)",
    "matmul(y, y)",
    "matmul(y, x)", "matmul(x, 3)", "matmul(y, v)", "matmul(y, torch.ones(3, 4, 2))", "inner(x, w)",
    "inner(x, 3)",
    "inner(x, x.double())", "outer(v, x)", "outer(v, 3)", "outer(x, v)", "addmm(u, x, w)", "addmm(x, x, x)",
    "addmm(d, x, w)",
    "addmm(v, x, v)", "addmm(x, 3, x)", "addmv(v, x, v)", "addmv(v, v, v)", "addmv(u, x, u)",
    "addmv(v.double(), x, u)",
    "baddbmm(y, y, y)", "baddbmm(y, y, z)", "addbmm(x, y, y)", "addbmm(x, y, z)", "addr(x, x, v)",
    "addr(i[:3], i[0], i[1], beta=0.5)",
    "nn.functional.linear(x, w)", "nn.functional.linear(x, x, u)", "nn.functional.linear(x, v)",
    "nn.functional.linear(s, x)",
    "nn.functional.linear(x, s)", "nn.functional.linear(3, x)", "nn.functional.linear(x, 3)",
    "nn.functional.linear(x, u, s)")]
ERRORS += ["x @ 3", "x @ x"]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", [c for c in RESULTS if "x" in c.replace("ones", "")
                                  and "n" not in c.replace("nn.functional.linear", "")
                                  .replace("inner", "").replace("ones", "") and "i[" not in c
                                  and "clone" not in c])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", [f"torch.{call}" for call in (
    "mm(x, w)", "mv(x, u)", "dot(x[0], u)", "vdot(x[0], u)", "bmm(x[None], z[:1])", "addmm(v, x, w)",
    "addmv(v, x, u)",
    "addbmm(v, x[None], z[:1])", "baddbmm(v, x[None], z[:1])", "addr(x, v, u)", "outer(x[0], v)",
    "inner(x, x)",
    "matmul(y, x.T)", "matmul(x, u)", "matmul(x.expand(2, 3, 4), z)", "nn.functional.linear(x, x, v)",
    "nn.functional.linear(y, x, v)",
    "nn.functional.linear(y, x)", "nn.functional.linear(x, u)")])
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


def test_errors_name_operator_and_shapes():
    """Where PyTorch's words leave out the shapes, a second line gives them."""
    error = same_call.evaluated(__import__("teachtorch"), "torch.mm(x, v)")
    assert str(error).split("\n")[1] == "mm(): got shapes [3, 4] and [3]."
