"""Small programs run on PyTorch and on teachtorch: what they return must be the same.

A program is `program(torch)`; it may return tensors, numbers, texts, and lists, tuples and dicts of them. An error it
raises counts as its result: the same type and text, up to the library's name.
"""

import collections
import math
import re
import warnings

import numpy as np
import pytest

import teachtorch


def plain(value):
    """A result in Python's own types, to compare: tensors as (dtype, shape, values)."""
    if hasattr(value, "requires_grad"):
        return tensor_facts(value)
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return [plain(v) for v in value]
    return named(value) if isinstance(value, str) else value


def tensor_facts(t):
    wide = t.detach().double() if t.dtype.is_floating_point else t.detach()
    return [named(str(t.dtype)), list(t.shape), t.requires_grad, wide.tolist()]


def named(text):
    """Texts without what must differ: the library's name, its modules' paths, addresses, PyTorch's hints in brackets.
    """
    text = text.replace("teachtorch", "torch")
    return re.sub(r"torch\.(nn|optim|utils\.data)\.[\w.]*\.(?=\w)", r"torch.\1.", text)


def outcome(program, library):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(program(library))
        except Exception as error:
            result = [type(error).__name__, named(str(error))]
    return result, sorted({w.category.__name__ for w in caught})


def programs(*functions):
    """Run a test with each of the programs."""
    return pytest.mark.parametrize("program", functions, ids=lambda f: f.__name__)


def assert_same(torch, program, rtol=1e-5):
    """The program does the same in both libraries, warnings included."""
    wanted, found = outcome(program, torch), outcome(program, teachtorch)
    assert_close(found[0], wanted[0], rtol)
    assert found[1] == wanted[1]


def assert_same_error_type(torch, program):
    """Both libraries refuse, with the same type of error."""
    wanted, found = outcome(program, torch)[0], outcome(program, teachtorch)[0]
    assert wanted[0].endswith("Error") and found[0] == wanted[0]


def assert_close(found, wanted, rtol):
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted), f"{found} instead of {wanted}"
        for f, w in zip(found, wanted):
            assert_close(f, w, rtol)
    elif isinstance(wanted, float) and not math.isnan(wanted):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)
    elif isinstance(wanted, float):
        assert math.isnan(found)
    else:
        assert found == wanted and type(found) is type(wanted)
