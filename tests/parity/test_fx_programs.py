"""Graphs, their classes and what they refuse, beside torch.fx."""
import re

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.fx_programs import PROGRAMS  # noqa: E402
from tests.parity.programs import assert_close, outcome  # noqa: E402

KINDS = {"NumberNotKnown": "TypeError"}            # ours -> PyTorch's, which it is a kind of
OTHER_WORDS = ("index_of_a_range",)                # PyTorch's words are Python's own there


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    wanted, found = [outcome(PROGRAMS[name], library) for library in (torch, teachtorch)]
    assert found[1] == wanted[1]
    if is_error(wanted[0]):
        assert_same_error(name, found[0], wanted[0])
    else:
        assert_close(alike(found[0]), alike(wanted[0]), 1e-6)


def is_error(result):
    return isinstance(result, list) and len(result) == 2 and str(result[0]).endswith("Error")


def assert_same_error(name, found, wanted):
    """The same type; the text is PyTorch's, and may say more: the line of the traced code, a way out."""
    assert KINDS.get(found[0], found[0]) == wanted[0]
    assert name in OTHER_WORDS or re.sub(r" \(at .*?`\)", "", found[1]).startswith(beginning(wanted[1]))


def beginning(text):
    """Without hints to PyTorch's pages and the names of its own classes."""
    for mark in ("\nOriginal traceback", ". See the torch.fx docs", " [<"):
        text = text.partition(mark)[0]
    return text


def alike(value):
    """Results without names that only one library has: C functions behind torch.nn, private modules."""
    if isinstance(value, (list, tuple)):
        return [alike(v) for v in value]
    if not isinstance(value, str):
        return value
    for name, other in (("torch._C._nn.", "torch.nn."), ("torch_fx_tracer_", "torch.fx._symbolic_trace."),
                        ("_operator.", "operator.")):
        value = value.replace(name, other)
    return value
