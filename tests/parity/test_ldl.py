"""LDL factorisations and solutions against PyTorch: factors, exchanges of rows, layouts, errors."""
import numpy as np
import pytest

import teachtorch
from tests.parity import same_call
from tests.parity.same_call import assert_same_error, assert_same_result

torch = pytest.importorskip("torch")


def symmetric(*shape, seed=0):
    a = np.random.default_rng([seed, *shape]).uniform(-1, 1, shape)
    return a + a.swapaxes(-1, -2)


MATRICES = {
    "A": symmetric(5, 5), "AA": symmetric(2, 3, 6, 6), "W": symmetric(80, 80), "f": symmetric(4, 4).astype(np.float32),
    "H": symmetric(6, 6) * (1 - np.eye(6)),             # with zeros on the diagonal steps of two are needed
    "U": np.random.default_rng(1).uniform(-1, 1, (4, 4)), "D": np.diag([2.0, 3.0, 4.0]), "c": np.zeros((3, 3)),
    "S": np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0])]), "e": np.zeros((0, 0)), "ee": np.zeros((2, 0, 0)),
    "i": np.arange(9).reshape(3, 3), "h": np.ones((3, 3), np.float16), "T": np.ones((4, 3)), "b": np.ones(3),
    "B": np.random.default_rng(2).uniform(-1, 1, (5, 2)), "BB": np.random.default_rng(3).uniform(-1, 1, (3, 6, 2)),
    "p": np.array([1, 2, 3], np.int32),
}


@pytest.fixture(autouse=True)
def matrices(monkeypatch):
    monkeypatch.setattr(same_call, "ARRAYS", MATRICES)


RESULTS = [f"torch.linalg.ldl_factor({name})" for name in ("A", "AA", "W", "f", "H", "U", "D", "e", "ee", "A.mT[::2, ::2]")]
RESULTS += [f"torch.linalg.ldl_factor_ex({name}, hermitian=True)" for name in ("A", "c", "S")]
RESULTS += [f"torch.linalg.ldl_solve({call})" for call in (
    "*torch.linalg.ldl_factor(A), B", "*torch.linalg.ldl_factor(AA), BB", "*torch.linalg.ldl_factor(H), BB",
    "*torch.linalg.ldl_factor(AA), BB[0]", "D, p, T[:3], hermitian=True", "D, p.long(), T[:3, :2]", "c, p, D",
    "*torch.linalg.ldl_factor(e), torch.ones(0, 2, dtype=torch.float64)")]

ERRORS = [f"torch.linalg.ldl_factor({name})" for name in ("b", "T", "i", "h")]
ERRORS += [f"torch.linalg.ldl_solve({call})" for call in (
    "D, p, b", "D, p, B", "D, p.float(), D", "D, p[:2], D", "D, p, D.float()", "T, p, D", "i, p, i", "D[0], p, D")]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", ["torch.linalg.ldl_factor(c)", "torch.linalg.ldl_factor_ex(S, check_errors=True)"])
def test_a_singular_d_is_refused(call):
    """In words of ours: PyTorch asks for a bug report."""
    for T in (teachtorch, torch):
        assert isinstance(same_call.evaluated(T, call), RuntimeError)
    assert "is zero" in str(same_call.evaluated(teachtorch, call))


def test_backward_says_that_there_is_no_formula():
    messages = []
    for T in (teachtorch, torch):
        A = T.tensor(MATRICES["A"], requires_grad=True)
        LD, pivots = T.linalg.ldl_factor(A)
        for result in (LD, T.linalg.ldl_solve(LD.detach(), pivots, A)):
            assert result.requires_grad
            with pytest.raises(RuntimeError) as refused:
                result.sum().backward()
            messages.append(str(refused.value))
    assert messages[:2] == messages[2:]
