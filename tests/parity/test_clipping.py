"""The norm of gradients: short floats do not overflow on the way, odd inputs are refused alike."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import assert_same

LISTS = {
    "float16": ([300.0, 400.0], "float16"),
    "bfloat16": ([300.0, -400.0], "bfloat16"),
    "float32": ([3.0, -4.0], "float32"),
    "float64": ([1e200, 1e-200], "float64"),
    "integers": ([3, 4], "int64"),
}


@pytest.mark.parametrize("order", [2, 1, 3, 0.5, 0, float("inf"), -float("inf")])
@pytest.mark.parametrize("name", LISTS)
def test_total_norm(name, order):
    assert_same(torch, lambda lib, t: lib.nn.utils.get_total_norm([t, t], order), LISTS[name], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_clipped_gradients(dtype):
    def code(lib, grad):
        p = lib.nn.Parameter(lib.zeros_like(grad))
        p.grad = grad
        return lib.nn.utils.clip_grad_norm_([p], 1.0), p.grad
    assert_same(torch, code, ([300.0, 400.0], dtype))


@pytest.mark.parametrize("target", [([1, 0], "int64"), ([True, False], "bool"), ([1.0, 0.0], "float32")])
def test_targets_of_binary_cross_entropy_are_floats(target):
    assert_same(torch, lambda lib, x, y: lib.nn.functional.binary_cross_entropy_with_logits(x, y),
                ([0.5, -1.0], "float32"), target, check_message=True)
