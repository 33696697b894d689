"""Calls with one wrong argument, made from the signatures in teachtorch/dispatch/pytorch_signatures.txt.

A call is made of values that stand for arguments: an Array becomes a tensor of the library that is called. The first
choice of values with which PyTorch accepts the call is the right one; then one argument after the other is replaced.
"""
import itertools
import re
import warnings

import numpy as np

from teachtorch.dispatch.call_rules import Rule, texts


class Array:
    """Stands for a tensor."""

    def __init__(self, values, dtype="float32"):
        self.values = np.array(values, dtype)

    def __repr__(self):
        return f"<{self.values.dtype}{list(self.values.shape)}>"


SQUARE = Array([[2.0, 0.5, 0.25], [0.5, 3.0, 0.25], [0.25, 0.5, 1.5]])
MATRIX = Array([[0.5, 1.0, 0.25], [0.75, 0.5, 1.0]])
VECTOR = Array([0.5, 0.25, 1.0])
INTS = Array([0, 1, 1], "int64")
INT_MATRIX = Array([[0, 1, 1], [1, 0, 0], [1, 1, 0]], "int64")
MASK = Array([[True, False, True], [True, True, False], [False, False, True]], "bool")
NUMBER = Array(1.0)
CUBE = Array(np.linspace(0.1, 1, 27).reshape(3, 3, 3))
FOUR = Array(np.linspace(0.1, 1, 16).reshape(1, 1, 4, 4))
FIVE = Array(np.linspace(0.1, 1, 64).reshape(1, 1, 4, 4, 4))
TENSORS = [SQUARE, VECTOR, INT_MATRIX, INTS, MASK, CUBE, MATRIX, FOUR, FIVE, NUMBER]

RIGHT = {
    "Tensor": TENSORS, "Scalar": [1, 0.5], "int64_t": [1, 0, 3], "SymInt": [1, 0, 3], "double": [0.5],
    "TensorList": [[SQUARE, SQUARE], [VECTOR, VECTOR], [INTS, INTS]], "IntArrayRef": [(0,), (1,), (2,), (0, 1), (3, 3), (1, 1)],
    "SymIntArrayRef": [(9,), (3, 3), (1,), (2,), (0,), (1, 3, 3)], "bool": [False, True], "PyObject*": [1],
    "ArrayRef<double>": [(0.5, 0.5)], "ScalarType": ["float32"], "c10::string_view": ["none", "ij", "sum"],
    "c10::List<::std::optional<Tensor>>": [[INTS]], "Device": ["cpu"], "ScalarList": [(1, 2)],
}
WRONG = ["text", True, 1.5, 7, -9, None, [], [1], ("a",), [VECTOR], VECTOR, NUMBER, Array(1, "int64"), object, "dtype"]


def right_calls(torch, name, rules, most=200):
    """For each signature: the arguments of a call that PyTorch accepts, if one is found among the first few."""
    for text in rules:
        rule = Rule(text)
        needed = [p for p in rule.parameters if not p.optional]
        if any(p.kind not in RIGHT for p in needed) or rule.hidden:
            continue
        choices = [RIGHT[p.kind] for p in needed]
        same = [[c[min(i, len(c) - 1)] for c in choices] for i in range(10)]
        for values in itertools.islice(itertools.chain(same, itertools.product(*choices)), most):
            args = [v for p, v in zip(needed, values) if not p.keyword_only]
            kwargs = {p.name: v for p, v in zip(needed, values) if p.keyword_only}
            if not isinstance(outcome(torch, name, args, kwargs), Exception):
                yield rule, args, kwargs
                break


def wrong_calls(rule, args, kwargs):
    """The call with one argument replaced, each in turn; arguments that have a default by their names."""
    for place in range(len(args)):
        for wrong in WRONG:
            yield [*args[:place], wrong, *args[place + 1:]], kwargs
    given = len(args)
    for parameter in rule.parameters[given:]:
        if parameter.name not in ("out", "device", "layout", "pin_memory", "generator", "names"):
            for wrong in WRONG:
                yield args, {**kwargs, parameter.name: wrong}
    yield [*args, *[1] * 9], kwargs
    yield args, {**kwargs, "nonsense": 1}
    if args:
        yield args[:-1], kwargs


def outcome(library, name, args, kwargs):
    """What the call returns or raises. `name`: "Tensor.add_", "linalg.norm", "sum"."""
    def real(value):
        if isinstance(value, Array):
            return library.tensor(value.values)
        if isinstance(value, (list, tuple)):
            return type(value)(map(real, value))
        return {"float32": library.float32, "dtype": library.int8, object: object()}.get(value, value) \
            if isinstance(value, str | type) else value

    function = library
    for part in name.split("."):
        function = getattr(function, part)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*map(real, args), **{n: real(v) for n, v in kwargs.items()})
        except Exception as error:
            return error


def all_rules():
    """{name users call: signatures}; methods with `self` as their first argument."""
    found = {}
    for key, signatures in texts().items():
        name = re.sub("^(linalg|special)_", r"\1.", key)
        if key.startswith("Tensor."):
            signatures = [text.replace("(", "(Tensor self, ", 1).replace(", )", ")") for text in signatures]
        found[name] = signatures
    return found


def difference(wanted, found):
    """In words, how teachtorch's outcome is not PyTorch's; None if it is. Errors about values are not looked at here."""
    if not isinstance(wanted, Exception):
        is_refused = isinstance(found, TypeError) and PARSER.search(str(found))
        return f"{found!r} where PyTorch accepts it" if is_refused else None
    if not PARSER.search(str(wanted)):
        return None
    if not isinstance(found, Exception):
        return f"accepted where PyTorch says {wanted!r}"
    if type(found) is not type(wanted):
        return f"{found!r} instead of {wanted!r}"
    if not COUNTED.search(str(found)) and said(found) != said(wanted):
        return f"{said(found)} instead of {said(wanted)}"
    return None


# What PyTorch's argument parser says; and Python in its place, where the number or the names of arguments are wrong.
PARSER = re.compile(r"\(\): argument '|received an invalid combination of arguments")
COUNTED = re.compile(r"\(\) (missing|takes|got an unexpected|got multiple)")


def said(error):
    """The part of a message that must be the same: not the place of the argument, which differs between function and
    method, nor how the call was written, which teachtorch has to guess."""
    line = str(error).split("\n")[0]
    line = re.sub(r"^.*?\(\)", "", line.partition(" - got")[0])
    return re.sub(r" \(position \d+\)", "", line)
