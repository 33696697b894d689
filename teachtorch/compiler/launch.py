"""Running a group's kernel: where each tensor's rows lie, results to write into, a loop split over threads."""
import functools
import math

import numpy as np

from ..core import observer
from ..kernels.cache import load_module
from ..kernels.parallel import get_num_threads, parallel_for
from ..kernels.strided import GRAIN, collapse, loop_order, window
from .fuse import COLUMNS, ROW, TOTAL
from .kernel_text import KernelText


class Launch:
    """A group's kernel with the sizes and strides of one graph. Call it with the arrays read; it returns those written.

    Attributes: group; reads and writes (values); source (the kernel's module); bytes_before and bytes_after.
    """

    def __init__(self, group, wanted):
        self.group = group
        tensors = group.reads()
        outs = group.writes(wanted)
        self.sums = [v for v, lv in group.levels.items() if lv in (TOTAL, COLUMNS)]
        stored = [v for v in outs if v not in self.sums]
        strides = [group.strides_of(v, level) for v, level in tensors]
        strides += [group.strides_of(v, group.write_level(v)) for v in stored]
        sizes, steps = walk(group, strides)
        self.outer = len(sizes) - 1
        self.rows, self.row = math.prod(sizes[:-1]), sizes[-1]
        letters = [{1: "c", 0: "s"}.get(s[-1], "x") for s in steps]
        self.reads, self.writes = [v for v, _ in tensors], outs
        self.stored = stored
        text = KernelText(group, [(v, lv, letter) for (v, lv), letter in zip(tensors, letters)],
                          list(zip(stored, letters[len(tensors):])), self.outer)
        self.source = text.module()
        self.sizes = np.array(sizes, np.int64)
        self.strides = np.array(steps, np.int64).reshape(len(steps), len(sizes))
        self.expected = [tuple([s * v.dtype.itemsize for s in v.strides]) for v in self.reads]
        self.has_rows = group.inner is not None and any(lv == ROW for lv in group.levels.values())
        self.name = group.name
        self.kernel = self.compile()
        if observer.active:
            observer.report("compile", action="kernel", name=self.name, values=[v.name for v in group.values],
                            bytes_before=self.bytes_before, bytes_after=self.bytes_after, source=self.source)

    def compile(self):
        """The compiled function; from disk, if any process has compiled the same text before."""
        allow_many_pointers()
        return load_module("fused", self.source).kernel

    # ---- traffic -------------------------------------------------------------------------------------------

    @property
    def bytes_after(self):
        """Bytes that the kernel reads from and writes to tensors."""
        return sum(v.nbytes for v in dict.fromkeys(self.reads)) + sum(v.nbytes for v in self.writes)

    @property
    def bytes_before(self):
        """Bytes that the same values take if each is computed by itself."""
        return sum(v.nbytes + sum({id(o): o.nbytes for o in v.operands if hasattr(o, "nbytes")}.values())
                   for v in self.group.values)

    # ---- a call --------------------------------------------------------------------------------------------

    def __call__(self, *arrays):
        windows = [flat(a, e) for a, e in zip(arrays, self.expected)]
        results = [empty(v) for v in self.stored]
        windows += [window_of(r) for r in results]
        sums = self.run(windows) if self.rows * self.row else []
        if self.sums:
            sums = self.total(sums)
            results = [sums[v] if v in sums else results[self.stored.index(v)] for v in self.writes]
        return results

    def run(self, windows):
        """Run the kernel on all rows; return each part's sums with where it began."""
        parts = []

        def part(row, last_row, begin, end):
            sums = [np.zeros(self.row if self.group.levels[v] == COLUMNS else 1) for v in self.sums]
            self.kernel(*windows, *sums, self.sizes, self.strides, row, last_row, begin, end)
            parts.append(((row, begin), sums))

        total = self.rows * self.row
        if total <= GRAIN:
            part(0, self.rows, 0, self.row)
        elif self.has_rows or self.rows >= 2 * get_num_threads():
            parallel_for(self.rows, max(GRAIN // self.row, 1), lambda begin,
                         end: part(begin, end, 0, self.row))
        else:
            parallel_for(self.row, max(GRAIN // self.rows, 1), lambda begin,
                         end: part(0, self.rows, begin, end))
        return parts

    def total(self, parts):
        """{value: its array}, the sums of the parts in the order of what they went over."""
        parts = [sums for _, sums in sorted(parts, key=lambda part: part[0])]
        found = {}
        for i, v in enumerate(self.sums):
            size = self.row if self.group.levels[v] == COLUMNS else 1
            whole = functools.reduce(np.add, [sums[i] for sums in parts], np.zeros(size))
            found[v] = whole.astype(v.dtype.numpy).reshape(v.shape)
        return found


def walk(group, strides):
    """(sizes, strides of each tensor) of the loops, the last over a row."""
    shape, inner = group.shape, group.inner
    if inner is None:
        order = loop_order(shape, strides) if len(shape) > 1 else range(len(shape))
        return collapse([shape[d] for d in order], [[s[d] for d in order] for s in strides])
    outer = len(shape) - inner
    sizes, steps = collapse(shape[:outer], [s[:outer] for s in strides])
    row_sizes, row_steps = collapse(shape[outer:], [s[outer:] for s in strides])
    return sizes + row_sizes, [a + b for a, b in zip(steps, row_steps)]


def flat(array, expected):
    """The memory of an array that is read, as a flat array; laid out anew if it is not as was foreseen."""
    if array.strides != expected and array.size > 1:
        copy = np.lib.stride_tricks.as_strided(np.empty(extent(array.shape, expected, array.itemsize),
                                                        array.dtype),
                                               array.shape, expected)
        np.copyto(copy, array)
        array = copy
    return window_of(array)


def extent(shape, strides, itemsize):
    return sum((size - 1) * stride for size, stride in zip(shape, strides)) // itemsize + 1


def window_of(array):
    return array.reshape(-1) if array.flags.c_contiguous else window(array)


def empty(value):
    """An array for a value, in its strides."""
    order = sorted(range(len(value.shape)), key=lambda d: -value.strides[d])
    if order == list(range(len(value.shape))):
        return np.empty(value.shape, value.dtype.numpy)
    array = np.empty([value.shape[d] for d in order], value.dtype.numpy)
    return array.transpose(np.argsort(order))


@functools.cache
def allow_many_pointers():
    """Let LLVM vectorise loops over many arrays: it checks at run time that they do not overlap, at most 8 by
    default."""
    import llvmlite.binding as llvm

    llvm.set_option("teachtorch", "-runtime-memory-check-threshold=256")
