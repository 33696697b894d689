"""einsum, tensordot and bilinear against PyTorch."""
import numpy as np
import pytest

from tests.parity import same_call
from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")


def random(*shape):
    return np.random.default_rng([3, *shape]).uniform(-1, 1, shape)


ARRAYS = {"x": random(3, 4), "w": random(4, 2), "y": random(2, 3, 4), "z": random(2, 4, 5), "q": random(3, 3),
          "v": random(3),
          "u": random(4), "t": random(2, 2, 4), "s": np.array(1.5), "i": np.arange(12).reshape(3, 4),
          "e": np.zeros((3, 0)),
          "f": random(4, 2).astype(np.float32), "c": random(3, 3, 3), "k": random(5, 4, 3)}


@pytest.fixture(autouse=True)
def arrays(monkeypatch):
    monkeypatch.setattr(same_call, "ARRAYS", ARRAYS)


RESULTS = [f"torch.einsum({args})" for args in (
    "'ij,jk->ik', x, w", "'ij,jk', x, w", "'ij,kj->ik', x, x", "'i,j->ij', v, u", "'i,j->ji', v, u",
    "'i,i->', v, v",
    "'ij->ji', x", "'ij->', x", "'ij->j', x", "'ii', q", "'ii->i', q", "'iij->ij', t", "'iij->ji', t",
    "'iij,j->i', t, u",
    "'iii->i', c", "'bij,bjk->bik', y, z", "'bij,bjk->bki', y, z", "'bij,bjk', y, z",
    "'b...,b...->...', y, y",
    "'...ij,jk->...ik', y, w", "'...ij,...jk->...ik', y, z", "'i...,i...->i...', y, y", "'...', y",
    "'...->', y",
    "'...ij->...ji', y", "'ba,b->a', w.T, s.expand(2)", "'ij,jk,kl->il', x, w, w.T", "'ij,ij->ij', x, x[:1]",
    "',i->i', s, v",
    "'->', s", "' i j , j k -> i k ', x, w", "'aB,Bc', x, w", "'Ba', w", "'ij,jk->ik', i, i.T",
    "'ij,jk->ik', e, e.T",
    "'ij,kl->', x, w", "'ij,k->ik', x, u", "x, [0, 1], w, [1, 2]", "x, [0, 1], w, [1, 2], [2, 0]",
    "y, [..., 0, 1], [1, 0, ...]",
    "x, [30, 2]", "'ij,jk', [x, w]", "'bn,anm,bm->ba', y[:, :, 0], k.transpose(1, 2), z[:, :, 0]",
    "'ij->i...j', x",
    "'...ij->ij', y", "'ij,jk->ik', x.T.T, w.T.T")]
RESULTS += [f"torch.tensordot({args})" for args in (
    "x, w, 1", "x, x, 2", "x, x", "v, u, 0", "y, z, ([0, 2], [0, 1])", "x, x, ([-1], [1])",
    "x, x[:, :1], ([1], [1])",
    "x, w, torch.tensor(1)", "i, i.T, 1")]
RESULTS += [f"torch.nn.functional.bilinear({args})" for args in (
    "x, q, torch.ones(2, 4, 3).double()", "x, q, torch.ones(2, 4, 3).double(), s.expand(2)",
    "u, v, torch.ones(2, 4, 3).double()")]
RESULTS += ["torch.kron(x, w)", "torch.kron(v, y)", "torch.kron(s, x)", "torch.kron(i, i)"]
ERRORS = [f"torch.einsum({args})" for args in (
    "'ij,jk', x", "'ij', v", "'i', x", "'ij->k', x", "'ij->ii', x", "'i1', x", "'i..j', x", "'i...j...', x",
    "'ij,jk->ik', x, x",
    "'ii', x", "'', x", "'ij-k', x", "'ij->', x, x", "x, [0, 52]", "x, [0, -1]", "x", "'ij'", "3, x",
    "'...,...', x, k",
    "'i->>i', v", "'i->i->i', v", "'ij,jk->ik', x, f", "'ij,jk->ik', x, i.T", "'i.j', x", "'ij->....', x",
    "'...i->.', x",
    "x, [0, 1], w, [1, 2, 3]", "'...ijk', x")]
ERRORS += [f"torch.tensordot({args})" for args in (
    "x, w, 5", "x, w, -1", "x, x, 1", "x, w, ([0], [1])", "x, x, ([0, 1], [1])", "q, q, ([0, 0], [1, 1])",
    "x, x, ([5], [1])",
    "x, f, 1", "x, w, 1.5")]
ERRORS += [f"torch.nn.functional.bilinear({args})" for args in (
    "x, x, torch.ones(5, 4, 3).double()", "x, y, torch.ones(5, 4, 4).double()",
    "x, w[:2].T, torch.ones(5, 4, 2).double()",
    "x, x, torch.ones(5, 4, 4).double(), v")]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", [c for c in RESULTS if "x, w" in c and "torch.tensor" not in c])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", [f"torch.einsum({args})" for args in (
    "'ij,jk->ik', x, w", "'i,j->ij', x[0], u", "'ij->ji', x", "'ij,ij->', x, x", "'ij->i', x")]
                         + ["torch.tensordot(x, w, 1)"])
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)
