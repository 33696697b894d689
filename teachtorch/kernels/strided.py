"""Plans a pointwise loop: the result's layout, and the fewest dimensions that describe all operands."""

import functools
import threading

import numpy as np

from .parallel import get_num_threads, parallel_for

__all__ = ["CHEAP_GRAIN", "GRAIN", "broadcast_strides", "collapse", "empty_result", "loop_order", "plan_loop"]

GRAIN = 1 << 17  # elements that are worth a thread: of functions that call others, such as exp
CHEAP_GRAIN = 1 << 19  # of functions of a few operations
LOOPS = 3  # as many nested loops as `codegen.strided_loop` writes


def broadcast_strides(shape, own_shape, own_strides):
    """Return strides over ``shape`` of an array of ``own_shape``: 0 wherever it is repeated."""
    missing = len(shape) - len(own_shape)
    repeated = [
        0 if own == 1 and size != 1 else stride
        for size, own, stride in zip(shape[missing:], own_shape, own_strides)
    ]
    return (0,) * missing + tuple(repeated)


def loop_order(shape, strides):
    """Return the dimensions, outermost first, in the order of the operands' strides.

    The first operand that tells two dimensions apart decides; a dimension along which it is repeated tells
    nothing. Dimensions that no operand tells apart stay as they were. This is the insertion sort of PyTorch's
    ``TensorIteratorBase::reorder_dimensions`` (aten/src/ATen/TensorIterator.cpp), which fixes what a result's
    strides are.

    Args:
        shape: the common shape.
        strides: one tuple over ``shape`` per operand.
    """
    order = list(reversed(range(len(shape))))  # innermost first while sorting
    for place in range(1, len(order)):
        for inner in range(place - 1, -1, -1):
            sign = _compare(order[inner], order[place], shape, strides)
            if sign < 0:
                break
            if sign > 0:
                order[inner], order[place] = order[place], order[inner]
                place = inner
    return order[::-1]


def _compare(inner, outer, shape, strides):
    """Return -1 if the dimensions stand rightly, 1 if they must swap, 0 if no operand tells them apart."""
    for operand in strides:
        near, far = operand[inner], operand[outer]
        if near == 0 or far == 0:
            continue
        if near != far:
            return -1 if near < far else 1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def collapse(shape, strides):
    """Merge neighbouring dimensions that every operand walks as one, and drop those of size 1.

    Args:
        shape: sizes, outermost first.
        strides: one tuple per operand, in elements.

    Returns:
        The sizes and, per operand, the strides of the remaining dimensions; always at least one.
    """
    sizes, steps = [], [[] for _ in strides]
    for d, size in enumerate(shape):
        if size == 1:
            continue
        if sizes and all(step[-1] == size * operand[d] for step, operand in zip(steps, strides)):
            sizes[-1] *= size
            for step, operand in zip(steps, strides):
                step[-1] = operand[d]
            continue
        sizes.append(size)
        for step, operand in zip(steps, strides):
            step.append(operand[d])
    if not sizes:
        return (1,), [(1,) for _ in strides]
    return tuple(sizes), [tuple(step) for step in steps]


class Loop:
    """One call's result and operands, ready for a kernel of `codegen`.

    ``kind`` is "flat" (every operand is one run of memory, or one element) or "strided"; ``pattern`` says how
    each operand moves; ``run(kernel, grain)`` fills ``result``, on a thread for each ``grain`` of elements.
    """

    def __init__(self, kind, pattern, result, dtypes, run):
        self.kind, self.pattern, self.result, self.dtypes, self.run = kind, pattern, result, dtypes, run


def plan_loop(arrays, out, dtype):
    """Return the `Loop` over ``arrays``, which broadcast, into ``out`` or a new array of ``dtype``."""
    arrays = [_apart(array, out) for array in arrays]
    return _plan_flat(arrays, out, dtype) or _plan_strided(arrays, out, dtype)


def _plan_flat(arrays, out, dtype):
    """Return the loop if every operand is contiguous in the result's shape or one element, else None."""
    whole = [array for array in (*arrays, out) if array is not None and array.size != 1]
    if not whole:
        return None
    shape = whole[0].shape
    longest = max(array.ndim for array in arrays)
    if longest > len(shape) or any(x.shape != shape or not x.flags.c_contiguous for x in whole):
        return None
    result = out
    if out is None and (result := _taken_offer(shape, dtype)) is None:
        result = np.empty(shape, dtype)
    pattern = "".join("o" if x is out else "s" if x.size == 1 else "c" for x in arrays)
    operands = [result, *(x for x in arrays if x is not out)]
    run = functools.partial(_run_flat, [x.reshape(-1) for x in operands])
    return Loop("flat", pattern, result, tuple(x.dtype for x in arrays), run)


def _run_flat(operands, kernel, grain):
    parallel_for(operands[0].size, grain, functools.partial(kernel, *operands))


def _plan_strided(arrays, out, dtype):
    result = empty_result(arrays, dtype) if out is None else out
    sizes, strides = _common_loops(result.shape, *map(_steps, (result, *arrays)))
    if len(sizes) > LOOPS:
        alike = [_laid_out_like(result, array) for array in arrays]
        return _plan_strided(alike, result, dtype) if out is None else _plan_copied(alike, out)
    pattern = _letter(strides[0][-1])
    pattern += "".join("o" if x is out else _letter(s[-1]) for x, s in zip(arrays, strides[1:]))
    kept = [(result, strides[0])] + [(x, s) for x, s in zip(arrays, strides[1:]) if x is not out]
    table = np.array([_pad(s, 0) for _, s in kept], np.int64)
    run = functools.partial(_run_strided, _pad(sizes, 1), [window(x) for x, _ in kept], table)
    return Loop("strided", pattern, result, tuple([x.dtype for x in arrays]), run)


def _plan_copied(arrays, out):
    """Plan into a dense array, for an ``out`` that too few loops can walk, and copy that when done."""
    loop = _plan_strided(arrays, None, out.dtype)
    dense, run = loop.result, loop.run

    def run_and_copy(kernel, grain):
        run(kernel, grain)
        np.copyto(out, dense)

    return Loop(loop.kind, loop.pattern, out, loop.dtypes, run_and_copy)


def _run_strided(sizes, windows, table, kernel, grain):
    """Split the rows between threads, or every row where there are few."""
    outer, middle, inner = sizes
    rows = outer * middle
    if rows >= 2 * get_num_threads():
        def body(begin, end):
            kernel(*windows, middle, table, begin, end, 0, inner)
        parallel_for(rows, max(grain // max(inner, 1), 1), body)
        return

    def body(begin, end):
        kernel(*windows, middle, table, 0, rows, begin, end)
    parallel_for(inner, grain // max(rows, 1), body)


def _steps(array):
    """The array's shape, its strides, and the bytes of an element: all that a plan depends on."""
    return array.shape, array.strides, array.itemsize


# A loop over small arrays takes less time than its plan; in a training step the same layouts come again and again.
REMEMBERED = 1024


@functools.lru_cache(REMEMBERED)
def _result_order(*layouts):
    """The shape of a result of operands with these `_steps`, and in which order its dimensions lie in memory."""
    shape = np.broadcast_shapes(*[own_shape for own_shape, _, _ in layouts])
    return shape, tuple(loop_order(shape, [_strides_over(shape, *layout) for layout in layouts]))


@functools.lru_cache(REMEMBERED)
def _common_loops(shape, *layouts):
    """Return sizes and strides of the fewest loops, the first operand's (the result's) smallest steps innermost."""
    strides = [_strides_over(shape, *layout) for layout in layouts]
    order = loop_order(shape, strides)
    return collapse([shape[d] for d in order], [[operand[d] for d in order] for operand in strides])


def _strides_over(shape, own_shape, own_strides, itemsize):
    return broadcast_strides(shape, own_shape, [stride // itemsize for stride in own_strides])


def _letter(step):
    return {1: "c", 0: "s"}.get(step, "x")


def _pad(values, filler):
    return (filler,) * (LOOPS - len(values)) + tuple(values)


def empty_in_order(shape, dtype, order):
    """Return a dense uninitialised array whose dimensions lie in memory in ``order``, outermost first."""
    if list(order) == sorted(order):
        return np.empty(shape, dtype)
    return np.empty([shape[d] for d in order], dtype).transpose(np.argsort(order))


class _Offer(threading.local):
    """Memory that a thread has ready for its next result; an accelerator's threads offer the device's."""

    array = None


_offer = _Offer()


def offer_memory(array):
    """Let the next pointwise result of this thread be written into ``array``, if it fits; None takes it back."""
    _offer.array = array


def _taken_offer(shape, dtype):
    """Return the array that was offered, which is then offered no more, if it fits; None if it does not."""
    found, _offer.array = _offer.array, None
    return found if found is not None and found.shape == shape and found.dtype == dtype else None


def empty_result(arrays, dtype):
    """Return an uninitialised array for a pointwise result of ``arrays``, laid out as PyTorch does."""
    shape, order = _result_order(*map(_steps, arrays))
    found = _taken_offer(shape, dtype)
    if found is not None and all(array.flags.c_contiguous for array in arrays):
        return found
    return empty_in_order(shape, dtype, order)


def _laid_out_like(result, array):
    """Return a copy of ``array`` with the result's shape and memory order; one element stays one."""
    if array.size == 1:
        return array
    copy = empty_in_order(result.shape, array.dtype, _result_order(_steps(result))[1])
    np.copyto(copy, array)
    return copy


def window(array):
    """Return the memory from the array's first element to its last as a flat array."""
    if array.size == 0 or array.flags.c_contiguous:
        return array.reshape(-1)
    if array.flags.f_contiguous:
        return array.T.reshape(-1)
    last = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides))
    return np.lib.stride_tricks.as_strided(array, (last // array.itemsize + 1,), (array.itemsize,))


def _apart(array, out):
    """Return ``array``, ``out`` if it is the same elements in order, or a copy if it overlaps otherwise."""
    if out is None or array is out or not np.may_share_memory(array, out):
        return array
    return out if _same_elements(array, out) else array.copy()


def _same_elements(array, out):
    layouts = [(x.__array_interface__["data"][0], x.shape, x.strides, x.dtype) for x in (array, out)]
    return layouts[0] == layouts[1]
