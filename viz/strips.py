"""The first values of a gradient, kept small: enough to draw, and to add two of them."""

import math
from dataclasses import dataclass
from typing import Any

from viz.engines import library_of
from viz.tensors import element_count, has_values, heat, number_text

CELLS = 3


@dataclass
class Head:
    """values: a tensor of the first elements, or None on a device that holds shapes only. count: of all."""

    values: Any
    count: int


def head(tensor):
    """The ``Head`` of a tensor; None stays None."""
    if tensor is None:
        return None
    plain = tensor.detach()
    if getattr(plain, "is_sparse", False):
        plain = plain.to_dense()
    values = plain.reshape(-1)[:CELLS].clone() if has_values(plain) else None
    return Head(values, element_count(plain.shape))


def added(first, second):
    """The Head of the sum of two gradients of one shape; an undefined one (None) adds nothing."""
    if first is None or second is None:
        return second if first is None else first
    if first.values is None or second.values is None:
        return Head(None, first.count)
    with library_of(first.values).no_grad():
        return Head(first.values + second.values, first.count)


def fitted(gradient, shape):
    """A gradient summed to ``shape``, as the engine does where an operation broadcast its input."""
    if gradient is None or list(gradient.shape) == list(shape):
        return gradient
    with library_of(gradient).no_grad():
        extra = len(gradient.shape) - len(shape)
        total = gradient.detach().sum(dim=tuple(range(extra))) if extra > 0 else gradient.detach()
        return _summed_ones(total, shape)


def _summed_ones(total, shape):
    ones = tuple(d for d, size in enumerate(shape) if size == 1 and total.shape[d] != 1)
    return total.sum(dim=ones, keepdim=True) if ones else total


def strip(kept):
    """A Head for a renderer: texts, heats in -1..1, and how many values are left out."""
    if kept is None:
        return {"cells": [["undefined", 0]], "more": 0}
    values = [] if kept.values is None else kept.values.tolist()
    cells = [[short(v), h] for v, h in zip(values, heat(values), strict=True)]
    return {"cells": cells, "more": kept.count - len(cells)}


def short(value):
    """A number of at most eight letters: ``0.0099``, ``-1.2e-7``."""
    if isinstance(value, float) and value and not 1e-3 <= abs(value) < 1e4 and math.isfinite(value):
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return number_text(value, 3)


def strip_text(kept):
    """``[1 2 +4]``"""
    shown = strip(kept)
    words = [text for text, _ in shown["cells"]] + ([f"+{shown['more']}"] if shown["more"] else [])
    return f"[{' '.join(words)}]" if kept is not None else "undefined"
