"""Runs one piece of code on PyTorch and on teachtorch and compares values, dtypes, strides and errors."""

import warnings

import numpy as np

import teachtorch

TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-12}


def outcome(code, library, *values):
    """What `code(library, *tensors)` returns or raises; `values`: (nested lists, dtype name) or numbers."""
    tensors = [
        library.tensor(v[0], dtype=getattr(library, v[1])) if isinstance(v, tuple) else v for v in values
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return code(library, *tensors)
        except Exception as error:
            return error


def assert_same(torch, code, *values, check_message=False, rtol=None):
    """`code` does the same in both libraries: the same result, or an error of the same type."""
    wanted, found = outcome(code, torch, *values), outcome(code, teachtorch, *values)
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        assert type(found) is type(wanted), f"{found!r} instead of {wanted!r}"
        assert not check_message or str(found) == str(wanted)
        return
    assert_same_value(torch, found, wanted, rtol)


def assert_same_value(torch, found, wanted, rtol=None):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted):
            assert_same_value(torch, f, w, rtol)
        return
    if not isinstance(wanted, torch.Tensor):
        assert found == wanted and type(found) is type(wanted)
        return
    assert isinstance(found, teachtorch.Tensor), f"{found!r} instead of {wanted!r}"
    assert str(found.dtype) == str(wanted.dtype)
    assert tuple(found.shape) == tuple(wanted.shape)
    assert not wanted.numel() or found.stride() == wanted.stride()
    name = str(wanted.dtype).removeprefix("torch.")
    have, want = [np.asarray(t.detach().tolist(), np.float64) for t in (found, wanted)]
    tolerance = TOLERANCES.get(name, 0) if rtol is None else rtol
    np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance if name in TOLERANCES else 0)
