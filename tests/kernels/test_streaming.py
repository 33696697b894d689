"""Loops whose results go past the caches: the same numbers, whatever the array's place among the cache lines."""

import numpy as np
import pytest

from teachtorch.kernels import caches, codegen, pointwise
from teachtorch.kernels.cache import load_module


def subtract(x, y):
    return x - y


def loops(dtype, pattern):
    dtypes = (np.dtype(dtype),) * 2
    return [load_module(f"subtract_{write.__name__}", write(subtract, dtypes[0], dtypes, pattern)).kernel
            for write in (codegen.flat_loop, codegen.streaming_loop)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("pattern", ["cc", "cs"])
def test_the_same_elements_as_a_plain_loop_and_no_others(dtype, pattern):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3000)).astype(dtype)
    plain, streaming = loops(dtype, pattern)
    for offset in (0, 1, 5, 16):
        for begin, end in [(0, 0), (0, 1), (3, 19), (0, 512), (7, 520), (1, 513), (100, 2900)]:
            expected, found = np.zeros((2, 3000), dtype)[:, offset:]
            for kernel, out in ((plain, expected), (streaming, found)):
                kernel(out, x, y, begin, end)
            np.testing.assert_array_equal(found, expected)


def test_only_floating_results_larger_than_the_caches_stream(monkeypatch):
    monkeypatch.setattr(caches, "_largest", lambda: 1000)
    small, large = np.ones(80, np.float32), np.ones(100, np.float32)
    kind = pointwise._flat_kind
    assert kind(small, "cc", (small, small)) == "flat"
    assert kind(large, "cc", (large, large)) == "streaming"
    assert kind(large, "oc", (large, large)) == "flat"                # its lines are read anyway
    assert kind(large > 0, "cc", (large, large)) == "flat"


def test_operators_give_the_same_with_and_without(monkeypatch):
    x, y = np.random.default_rng(0).standard_normal((2, 50_000)).astype(np.float32)
    kernel = pointwise.Pointwise(subtract, np.subtract)
    cached = kernel(x, y)
    monkeypatch.setattr(caches, "_largest", lambda: 1000)
    np.testing.assert_array_equal(kernel(x, y), cached)
    assert any(key[0] == "streaming" for key in kernel._kernels)
