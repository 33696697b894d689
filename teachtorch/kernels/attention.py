"""Softmax of attention scores, and its gradient, in place: (rows, keys), one row per query.

`limit` queries form one head: with is_causal, query i of a head sees keys 0 to i. A row that sees nothing
is zero. NumPy serves small arrays, compiled loops large ones.
"""

import functools

import numpy as np

from . import codegen, scalar
from .blas import matmul
from .cache import load_module
from .parallel import parallel_for
from .pointwise import SMALL

GRAIN = 1 << 13

_LOOPS = """
OPTIONS = dict(nogil=True, cache=True, error_model="numpy", fastmath={{"contract"}})


@njit(error_model="numpy", fastmath={{"contract", "reassoc", "nsz"}})
def total(row):
    found = row[0] * 0
    for i in range(row.size):
        found += row[i]
    return found


@njit(error_model="numpy", fastmath={{"contract", "reassoc", "nsz"}})
def largest(row):
    found = row[0]
    for i in range(row.size):
        found = row[i] if row[i] > found else found
    return found


@njit(**OPTIONS)
def weights(scores, lse, queries, is_causal, begin, end):
    for r in range(begin, end):
        whole = scores[r]
        seen = min(whole.size, r % queries + 1) if is_causal else whole.size
        row = whole[:seen]
        top = largest(row)
        if top == -np.inf:
            whole[:], lse[r] = 0, np.inf
            continue
        for i in range(seen):
            row[i] = {exp}(row[i] - top)
        mass = total(row)
        scale = whole.dtype.type(1) / mass
        for i in range(seen):
            row[i] *= scale
        whole[seen:] = 0
        lse[r] = top + {log}(mass)


@njit(**OPTIONS)
def gradient(scores, slopes, lse, shift, queries, is_causal, begin, end):
    for r in range(begin, end):
        whole, outer = scores[r], slopes[r]
        seen = min(whole.size, r % queries + 1) if is_causal else whole.size
        row, slope, less, mean = whole[:seen], outer[:seen], lse[r], shift[r]
        for i in range(seen):
            row[i] = {exp}(row[i] - less)
            slope[i] = row[i] * (slope[i] - mean)
        whole[seen:], outer[seen:] = 0, 0
"""


@functools.lru_cache(maxsize=None)
def _loops(dtype):
    translator = codegen.Translator(dtype)
    names = {"exp": translator.add(scalar.exp), "log": translator.add(scalar.log)}
    return load_module(
        f"attention_{dtype}", codegen.module_text("attention", translator, _LOOPS.format(**names))
    )


def to_weights(scores, queries, is_causal):
    """Replace scores (rows, keys) by their softmax; return the logarithm of each row's sum of exponentials."""
    if scores.size <= SMALL:
        return small_weights(scores, queries, is_causal)
    lse = np.empty(len(scores), scores.dtype)
    parallel_for(
        len(scores),
        max(1, GRAIN // scores.shape[1]),
        lambda begin, end: _loops(scores.dtype).weights(scores, lse, queries, is_causal, begin, end),
    )
    return lse


def small_weights(scores, queries, is_causal):
    hide_later(scores, queries, is_causal, -np.inf)
    top = np.maximum.reduce(scores, 1, None, None, True)
    top[top == -np.inf] = 0
    scores -= top
    np.exp(scores, scores)
    mass = np.add.reduce(scores, 1, None, None, True)
    is_empty = mass == 0
    mass[is_empty] = 1
    scores /= mass
    return np.where(is_empty, np.inf, top + np.log(mass)).reshape(-1).astype(scores.dtype, copy=False)


def hide_later(scores, queries, is_causal, value):
    """Set what a query may not see."""
    if is_causal:
        keys = scores.shape[1]
        scores.reshape(-1, queries, keys)[:, np.arange(queries)[:, None] < np.arange(keys)] = value


def to_slopes(scores, slopes, lse, shift, queries, is_causal):
    """Replace scores by their softmax P, given `lse`, and the gradients of P by those of the scores:
    P (slopes - shift), `shift` being one number per row."""
    if scores.size <= SMALL:
        scores -= lse[:, None]
        np.exp(scores, scores)
        hide_later(scores, queries, is_causal, 0)
        slopes -= shift[:, None]
        slopes *= scores
        return
    parallel_for(
        len(scores),
        max(1, GRAIN // scores.shape[1]),
        lambda begin, end: _loops(scores.dtype).gradient(
            scores, slopes, lse, shift, queries, is_causal, begin, end
        ),
    )


# ---- attention ---------------------------------------------------------------------------------------------


def scores_of(query, key, mask, scale):
    """(query @ keyᵀ) * scale + mask: (batch, heads, queries, keys). A bool mask says what may be seen."""
    scores = matmul(query * query.dtype.type(scale), key.swapaxes(-1, -2))
    if mask is None:
        return scores
    if mask.dtype == np.bool_:
        np.copyto(scores, -np.inf, where=~mask)
    else:
        scores += mask
    return scores


def as_rows(scores):
    return scores.reshape(-1, scores.shape[-1])


def forward(query, key, value, mask, is_causal, scale):
    """(output, logarithms of the sums) of (batch, heads, length, features); the output lies in memory as the query."""
    scores = scores_of(query, key, mask, scale)
    lse = to_weights(as_rows(scores), scores.shape[2], is_causal)
    out = matmul(scores, value, out=np.empty_like(query))
    return out, lse.reshape(scores.shape[:3])


def backward(grad, grad_lse, query, key, value, mask, output, lse, is_causal, scale):
    """The gradients of query, key and value, each in its order of memory. `grad_lse` may be None."""
    scores = scores_of(query, key, mask, scale)
    slopes = matmul(grad, value.swapaxes(-1, -2))
    shift = (grad * output).sum(-1)
    shift = shift if grad_lse is None else shift - grad_lse
    to_slopes(
        as_rows(scores),
        as_rows(slopes),
        lse.reshape(-1),
        np.ascontiguousarray(shift).reshape(-1),
        scores.shape[2],
        is_causal,
    )
    scale = query.dtype.type(scale)
    by_query = matmul(slopes, key, out=np.empty_like(query))
    by_query *= scale
    by_key = matmul(slopes.swapaxes(-1, -2), query, out=np.empty_like(key))
    by_key *= scale
    return by_query, by_key, matmul(scores.swapaxes(-1, -2), grad, out=np.empty_like(value))
