"""Snippets of user code, run on both libraries: values, dtypes, strides, nodes, warnings and errors must be the same.

A table of snippets is a text: one a line; a line that begins with "|" continues the one before. The last expression of
a snippet is what is compared. `torch` is the library; nn, F, L (linalg), np, io, nan and inf are there.
"""
import ast
import contextlib
import copy
import io
import math
import re
import warnings

import numpy as np

import teachtorch

TOLERANCES = {"torch.float16": 2e-3, "torch.bfloat16": 1.6e-2, "torch.float64": 1e-9}
# What a C++ message says of its place, and links.
PLACES = re.compile(r"(?s) \(Triggered internally at.*| See github\.com/\S+ for more information\.")


def snippets_of(text):
    """The snippets of a table."""
    found = []
    for line in text.strip().splitlines():
        line = line.strip()
        if line.startswith("|"):
            found[-1] += "\n" + line[1:].removeprefix(" ")
        elif line and not line.startswith("#"):
            found.append(line)
    return found


def outcome(library, code):
    """[value or error, warnings] of a snippet, as plain lists."""
    library.manual_seed(0)
    names = {"torch": library, "nn": library.nn, "F": library.nn.functional, "L": library.linalg, "np": np, "io": io,
             "copy": copy, "nan": math.nan, "inf": math.inf, "__name__": "snippet"}
    with warnings.catch_warnings(record=True) as given, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            value = shown(library, evaluated(code, names))
        except Exception as error:
            value = ["error", type(error).__name__.lstrip("_"), plain(error)]
    return [value, [[w.category.__name__, plain(w.message)] for w in given]]


def evaluated(code, names):
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<snippet>", "exec"), names)
    return None if last is None else eval(compile(last, "<snippet>", "eval"), names)


def plain(text):
    """A message without what the two libraries cannot have in common: the package's name, places, additions of ours."""
    text = PLACES.sub("", str(text)).replace("teachtorch", "torch").replace("torch.nn.modules.", "torch.nn.")
    return re.sub(r"\n\w+\(\): got .*", "", text)


def shown(library, value):
    """A value as lists, numbers and strings."""
    if isinstance(value, library.Tensor):
        node = None if value.grad_fn is None else type(value.grad_fn).__name__
        return ["Tensor", str(value.dtype).replace("teachtorch", "torch"), list(value.shape),
                list(value.stride()) if value.numel() else None, value.requires_grad, node, value.detach().tolist()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[shown(library, part) for part in value]]
    if isinstance(value, (bool, int, float, type(None))):
        return value
    return plain(value if isinstance(value, str) else repr(value))


def equal(one, other, tolerance=2e-5):
    """Whether two outcomes are equal, numbers nearly so."""
    if isinstance(one, list) and isinstance(other, list):
        if len(one) > 1 and one[0] == "Tensor":
            tolerance = TOLERANCES.get(one[1], tolerance)
        return len(one) == len(other) and all([equal(a, b, tolerance) for a, b in zip(one, other)])
    if isinstance(one, float) and isinstance(other, float):
        if math.isfinite(one) and math.isfinite(other):
            return abs(one - other) <= tolerance * max(1, abs(one), abs(other))
        return one == other or one != one and other != other
    return type(one) is type(other) and one == other


@contextlib.contextmanager
def warning_always(*libraries):
    """Warnings that are given once per program are given each time."""
    before = [library.is_warn_always_enabled() for library in libraries]
    for library in libraries:
        library.set_warn_always(True)
    try:
        yield
    finally:
        for library, was in zip(libraries, before):
            library.set_warn_always(was)


def assert_same(torch, code):
    """Both libraries do the same."""
    with warning_always(torch, teachtorch):
        wanted, found = outcome(torch, code), outcome(teachtorch, code)
    assert equal(found, wanted), f"\n{code}\nfound  {found}\nwanted {wanted}"
