"""Comparisons that a learner's object cannot answer for itself.

Types are compared exactly before values are, so an object with its own `__eq__` is seen as what it is. The
names that the comparison needs are bound here, before any learner's file is imported: replacing
`numpy.allclose` or a builtin later changes nothing in this module.
"""

from __future__ import annotations

import builtins

import numpy as np

from exercises.grading import calls
from exercises.grading.pictures import beside

# Bound now, so that a later change of `builtins` or `numpy` does not reach the comparison.
type = builtins.type
isinstance = builtins.isinstance
len = builtins.len
zip = builtins.zip
enumerate = builtins.enumerate
repr = builtins.repr
abs = builtins.abs
range = builtins.range
sorted = builtins.sorted
str = builtins.str
_copy = np.array
_all_equal = np.array_equal
_max = np.max
_subtract = np.subtract
_absolute = np.absolute

PLAIN = (int, float, bool, str, bytes, builtins.type(None))
LONGEST = 400
VALUE = "the value"


class Mismatch(AssertionError):
    """An answer is not the expected one; the text says what was asked, what came, what was expected."""


def equal(
    got, expected, why: str = "", *, what: str = "", picture: str = "", names: list[str] | None = None
) -> None:
    """Demand that `got` is `expected`: the same types and the same values, all the way down.

    got, expected: plain Python values, tuples, lists, dicts of them, or NumPy arrays. why: the reason, in
    the terms of the chapter. what: what was asked (default: the learner's function that was called last).
    picture: a text picture. names: what the items of a sequence are called, for the picture that is drawn
    when none is given.
    """
    __tracebackhide__ = True
    difference = first_difference(got, expected)
    if difference:
        raise Mismatch(
            _text(what, show(got), show(expected), difference, why, picture or _draw(got, expected, names))
        )


def close(
    got, expected, why: str = "", *, what: str = "", tolerance: float = 1e-9, picture: str = ""
) -> None:
    """Demand that a float or an array of floats is near the expected one."""
    __tracebackhide__ = True
    difference = _kind_difference(got, expected, "") or _far(got, expected, tolerance)
    if difference:
        raise Mismatch(_text(what, show(got), show(expected), difference, why, picture))


def holds(
    condition, why: str, *, what: str = "", got: str = "", expected: str = "", picture: str = ""
) -> None:
    """Demand that a condition which the test computed itself is true."""
    __tracebackhide__ = True
    if condition is not True:
        raise Mismatch(_text(what, got, expected, "", why, picture))


def raises(error, function, *arguments, why: str = "", text: str = "") -> None:
    """Demand that the call raises `error`, with `text` somewhere in its message."""
    __tracebackhide__ = True
    try:
        answer = function(*arguments)
    except NotImplementedError:
        raise  # a RuntimeError, but not the learner's answer
    except error as raised:
        said = str(raised)
        equal(text in said, True, why, what=f'the message of the {error.__name__} has "{text}" in it: {said}')
        return
    raise Mismatch(_text("", show(answer), f"{error.__name__} is raised", "", why, ""))


def first_difference(got, expected, where: str = "") -> str:
    """Where the two differ first, in words; empty when they do not."""
    kind = _kind_difference(got, expected, where)
    if kind:
        return kind
    if type(expected) is np.ndarray:
        return _array_difference(got, expected, where)
    if type(expected) is dict:
        return _dict_difference(got, expected, where)
    if type(expected) in (tuple, list):
        return _sequence_difference(got, expected, where)
    return "" if got == expected else (_place(where) or VALUE)


def show(value) -> str:
    """A value in one short text; an object of an unknown type is named, not asked."""
    if not _is_known(value):
        return f"an object of type {type(value).__module__}.{type(value).__qualname__}"
    text = f"array({value.tolist()}, {value.dtype})" if type(value) is np.ndarray else repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _is_known(value) -> bool:
    if type(value) in (tuple, list):
        return all_known(value)
    if type(value) is dict:
        return all_known([*value.keys(), *value.values()])
    if type(value) is np.ndarray:
        return value.dtype.kind != "O"
    return type(value) in PLAIN or isinstance(value, np.generic)


def all_known(values) -> bool:
    """Whether every value is of a type whose text can be trusted."""
    for value in values:
        if not _is_known(value):
            return False
    return True


def _kind_difference(got, expected, where: str) -> str:
    if type(got) is type(expected) or _is_zero_dim(got, expected):
        return ""
    names = [
        f"{type(each).__module__}.{type(each).__qualname__}".removeprefix("builtins.")
        for each in (got, expected)
    ]
    return f"{_place(where)} the type is {names[0]}, expected {names[1]}".strip()


def _is_zero_dim(got, expected) -> bool:
    """NumPy's reductions give a scalar where a 0-dim array would be as good."""
    return type(expected) is np.ndarray and expected.ndim == 0 and isinstance(got, np.generic)


def _sequence_difference(got, expected, where: str) -> str:
    if len(got) != len(expected):
        return f"{_place(where)} the length is {len(got)}, expected {len(expected)}".strip()
    for position, (mine, theirs) in enumerate(zip(got, expected)):
        difference = first_difference(mine, theirs, f"{where}[{position}]")
        if difference:
            return difference
    return ""


def _dict_difference(got, expected, where: str) -> str:
    if sorted(map(repr, got)) != sorted(map(repr, expected)):
        return f"{_place(where)} the keys are {show(list(got))}, expected {show(list(expected))}".strip()
    for key in expected:
        difference = first_difference(got[key], expected[key], f"{where}[{key!r}]")
        if difference:
            return difference
    return ""


def _array_difference(got, expected, where: str) -> str:
    if got.dtype != expected.dtype:
        return f"{_place(where)} the dtype is {got.dtype}, expected {expected.dtype}".strip()
    if got.shape != expected.shape:
        return f"{_place(where)} the shape is {got.shape}, expected {expected.shape}".strip()
    return "" if _all_equal(_copy(got), _copy(expected)) else _place(where) or VALUE


def _far(got, expected, tolerance: float) -> str:
    if type(expected) is np.ndarray and (got.shape != expected.shape or got.dtype != expected.dtype):
        return _array_difference(got, expected, "")
    mine, theirs = _copy(got, dtype=float), _copy(expected, dtype=float)
    if mine.size == 0:
        return ""
    allowed = tolerance + tolerance * float(_max(_absolute(theirs)))
    distance = float(_max(_absolute(_subtract(mine, theirs))))
    return "" if distance <= allowed else f"they are {distance:.3g} apart, allowed {allowed:.1g}"


def _place(where: str) -> str:
    return f"at {where}:" if where else ""


def _draw(got, expected, names: list[str] | None) -> str:
    if type(got) in (tuple, list) and type(expected) in (tuple, list) and len(expected) > 1:
        return beside([show(each) for each in got], [show(each) for each in expected], names)
    return ""


def _text(what: str, got: str, expected: str, difference: str, why: str, picture: str) -> str:
    where = "" if difference == VALUE else difference
    rows = [
        ("", what or calls.last()),
        ("yours     ", got),
        ("expected  ", expected),
        ("first difference ", where),
    ]
    lines = [f"{label}{text.rstrip(':')}" for label, text in rows if text]
    return "\n".join([*lines, *([f"why: {why}"] if why else []), *([picture] if picture else [])])
