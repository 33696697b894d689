"""torch.nn.attention: choosing the implementation, and causal masks for unequal numbers of queries and keys."""
from importlib import import_module

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import assert_same


def module(lib, path="nn.attention"):
    return import_module(f"{lib.__name__}.{path}")


def tensors(lib, queries=3, keys=3):
    q, k = [lib.arange(4.0 * n).reshape(1, 2, n, 2) / 10 for n in (queries, keys)]
    return q, k, k + 1


def with_backends(*names, is_list=True):
    """The result and its node when only these implementations may be used."""
    def code(lib):
        members = [getattr(module(lib).SDPBackend, name) for name in names]
        q, k, v = tensors(lib)
        with module(lib).sdpa_kernel(members if is_list else members[0]):
            found = lib.nn.functional.scaled_dot_product_attention(q.requires_grad_(), k, v)
            switches = lib.backends.cuda.math_sdp_enabled(), lib.backends.cuda.flash_sdp_enabled()
        return found, found.grad_fn.name(), switches, lib.backends.cuda.math_sdp_enabled()
    return code


def with_mask(corner, queries, keys, **options):
    def code(lib):
        bias = module(lib, "nn.attention.bias")
        mask = getattr(bias, f"causal_{corner}")(queries, keys)
        return lib.nn.functional.scaled_dot_product_attention(*tensors(lib, queries, keys), mask, **options), repr(mask)
    return code


CODES = {
    "math": with_backends("MATH"),
    "math alone": with_backends("MATH", is_list=False),
    "flash": with_backends("FLASH_ATTENTION"),
    "both": with_backends("FLASH_ATTENTION", "MATH"),
    "a GPU's": with_backends("EFFICIENT_ATTENTION", "CUDNN_ATTENTION"),
    "none": with_backends(),
    "a string": lambda lib: module(lib).sdpa_kernel("math").__enter__(),
    "upper left": with_mask("upper_left", 2, 3),
    "lower right": with_mask("lower_right", 2, 3),
    "as many": with_mask("lower_right", 3, 3),
    "causal twice": with_mask("upper_left", 2, 3, is_causal=True),
    "one size": lambda lib: module(lib, "nn.attention.bias").causal_upper_left(3),
}


@pytest.mark.parametrize("name", CODES)
def test_the_same(name):
    assert_same(torch, CODES[name], check_message=True)
