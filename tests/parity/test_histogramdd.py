"""histogramdd against PyTorch: counts, edges, errors."""
import numpy as np
import pytest

import teachtorch
from tests.parity import same_call
from tests.parity.same_call import assert_same_error, assert_same_result

torch = pytest.importorskip("torch")

random = np.random.default_rng(3)
ARRAYS = {
    "x": random.uniform(-1, 1, (30, 2)).astype(np.float32), "y": random.uniform(-1, 1, (4, 5, 3)),
    "g": np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [1.0, 1.0], [0.25, 0.75]], np.float32),
    "w": random.uniform(0, 2, 30).astype(np.float32), "v": random.uniform(0, 2, (4, 5)),
    "a": np.array([-1.0, -0.2, 0.3, 1.0], np.float32), "b": np.array([-0.5, 0.0, 0.5], np.float32),
    "z": np.array([0.4, -0.6, 0.9, -0.2, 0.5], np.float32),                   # in no order
    "n": np.array([[np.nan, 0.1], [0.2, np.inf], [0.3, 0.3]], np.float32), "e": np.zeros((0, 2), np.float32),
    "i": np.zeros((3, 2), np.int64), "h": np.zeros((3, 2), np.float16), "c": np.ones((3, 2), np.float32),
}


@pytest.fixture(autouse=True)
def arrays(monkeypatch):
    monkeypatch.setattr(same_call, "ARRAYS", ARRAYS)


RESULTS = [f"torch.histogramdd({call})" for call in (
    "x, 3", "x, [3, 5]", "x, (2, 2)", "y, [2, 3, 4]", "x, [3, 2], range=[-0.5, 0.5, 0.0, 1.0]", "x, [3, 2], weight=w",
    "x, [3, 2], density=True", "y, 2, weight=v, density=True", "x, [a, b]", "x, [a, b], weight=w, density=True",
    "g, [2, 4]", "g, [2, 2], range=[0.0, 1.0, 0.0, 1.0]", "c, 4", "e, [2, 3]", "n, [a, b]", "x, [z, a]", "x, [a, z]",
    "x[::2].flip(1), 3", "x, [3, 2], range=[5.0, 6.0, 5.0, 6.0], density=True")]

ERRORS = [f"torch.histogramdd({call})" for call in (
    "x, [3]", "x, 0", "x, [2, 0]", "x[0], [2, 2]", "i, 2", "h, 2", "x, [a, b.double()]", "x, [a, b[None]]",
    "x, [a, b[:0]]", "x, [a, b[:1]]", "x, 2, weight=w[:3]", "x, 2, weight=w.double()", "x, 2, range=[0.0, 1.0]",
    "x, 2, range=[1.0, 0.0, 0.0, 1.0]", "x, 2, range=[0.0, inf, 0.0, 1.0]", "n, 2", "x, 2.5")]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


def test_backward_is_refused():
    for T in (teachtorch, torch):
        x = T.ones(3, 2, requires_grad=True)
        hist = T.histogramdd(x, 2).hist
        assert hist.requires_grad
        with pytest.raises(RuntimeError, match="is not implemented"):
            hist.sum().backward()


@pytest.mark.parametrize("call", [f"torch.histogram({arguments})" for arguments in (
    "x", "x, 7", "x, a", "x, z", "x, bins=b, weight=x * x, density=True", "x=x, bins=a", "x[:0]", "n, a",
    "y, 4, range=[0, 0.5]")])
def test_one_dimension_is_pytorchs(call):
    assert_same_result(torch, call)


def test_backward_of_one_dimension_is_refused():
    for T in (teachtorch, torch):
        for result in T.histogram(T.ones(3, requires_grad=True), 2):
            assert result.requires_grad
            with pytest.raises(RuntimeError, match="is not implemented"):
                result.sum().backward()
