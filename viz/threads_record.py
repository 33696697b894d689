"""Runs a CUDA kernel as Python, thread by thread, and writes down every access to an array.

A thread runs alone up to its next barrier or its end, then the next one: what is recorded does not depend on
luck. Stands for `numba.cuda` in the kernel and in the device functions that it calls; needs no GPU and no
Numba.
"""

import linecache
import math
import sys
import threading
from types import FunctionType, SimpleNamespace

import numpy as np

MOST_THREADS = 4096


class Access:
    """One element read, written or added to: by which thread, between which barriers, on which line."""

    __slots__ = ("array", "block", "does", "line", "phase", "place", "thread")

    def __init__(self, array, place, does, lane, line):
        self.array, self.place, self.does, self.line = array, place, does, line
        self.block, self.thread, self.phase = lane.block.number, lane.number, lane.phase


class Seen:
    """An array as the kernel gets it. `accesses` of all arrays go to one list, in the order of the run."""

    def __init__(self, run, array, name, is_shared):
        self.run, self.array, self.name, self.is_shared = run, array, name, is_shared
        self.shape, self.size, self.ndim, self.dtype = array.shape, array.size, array.ndim, array.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self.array[self.note(index, "read")]

    def __setitem__(self, index, value):
        self.array[self.note(index, "write")] = value

    def add(self, index, value):
        """What `cuda.atomic.add` does."""
        place = self.note(index, "add", 3)
        old = self.array[place]
        self.array[place] = old + value
        return old

    def note(self, index, does, depth=2):
        place = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        lane = self.run.lane
        if len(place) != self.ndim or not all(0 <= i < size for i, size in zip(place, self.shape)):
            raise IndexError(
                f"thread {lane.number} of block {lane.block.number} touches {self.name}{list(place)}, outside "
                f"the shape {self.shape}: a guard is missing"
            )
        self.run.accesses.append(Access(self.name, place, does, lane, sys._getframe(depth).f_lineno))
        return place


class Lane:
    """One thread of a block, a thread of Python that runs while it holds the baton."""

    def __init__(self, block, number, work):
        self.block, self.number, self.phase, self.shared = block, number, 0, 0
        x, y, _ = block.run.threads
        self.index = place_of(number, x, y)
        self.baton, self.stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.error, self.is_done, self.line = None, False, None
        self.python = threading.Thread(target=self.live, args=(work,), daemon=True)
        self.python.start()

    def live(self, work):
        self.baton.acquire()
        try:
            if not self.block.is_over:
                work()
        except BaseException as error:
            self.error = error
        self.is_done = True
        self.stopped.release()

    def go_on(self):
        """Run to the next barrier or to the end."""
        self.block.run.lane = self
        self.baton.release()
        self.stopped.acquire()
        if self.error is not None:
            raise self.error

    def wait(self, line):
        self.line = line
        self.stopped.release()
        self.baton.acquire()
        if self.block.is_over:
            raise SystemExit
        self.phase += 1


class Block:
    def __init__(self, run, number):
        self.run, self.number, self.shared, self.is_over = run, number, [], False
        x, y, _ = run.blocks
        self.index = place_of(number, x, y)

    def finish(self, work):
        lanes = [Lane(self, number, work) for number in range(math.prod(self.run.threads))]
        try:
            while waiting := [lane for lane in lanes if not lane.is_done]:
                for lane in waiting:
                    lane.go_on()
                lines = {lane.line for lane in waiting if not lane.is_done}
                if lines and self.number == 0:
                    self.run.barriers.append(min(lines))
        finally:
            self.is_over = True
            for lane in lanes:
                if not lane.is_done:
                    lane.baton.release()
                lane.python.join()


def place_of(number, x, y):
    return SimpleNamespace(x=number % x, y=number // x % y, z=number // (x * y))


class Run:
    """A launch: `accesses`; `arrays` by name, shared ones too; `barriers`, the lines that block 0 waited at."""

    def __init__(self, kernel, blocks, threads, arguments):
        self.blocks, self.threads = three(blocks), three(threads)
        if math.prod(self.blocks) * math.prod(self.threads) > MOST_THREADS:
            raise ValueError(f"viz.threads runs at most {MOST_THREADS} threads: launch fewer on smaller arrays")
        self.accesses, self.barriers, self.arrays, self.lane = [], [], {}, None
        self.function = function_of(kernel)
        names = self.function.__code__.co_varnames
        given = [self.seen(value, name) for value, name in zip(arguments, names)]
        work = self.rebuilt(self.function, {})
        for number in range(math.prod(self.blocks)):
            with np.errstate(all="ignore"):
                Block(self, number).finish(lambda: work(*given))

    def seen(self, value, name):
        if hasattr(value, "copy_to_host"):
            value = value.copy_to_host()
        if not isinstance(value, np.ndarray):
            return value
        self.arrays[name] = Seen(self, value.copy(), name, False)
        return self.arrays[name]

    def rebuilt(self, function, known):
        """The function with this run wherever it, or a device function that it calls, says `cuda`."""
        if function not in known:
            scope = dict(function.__globals__)
            found = FunctionType(
                function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
            )
            known[function] = found
            for name in function.__code__.co_names:
                inner = function_of(scope.get(name))
                if isinstance(inner, FunctionType) and inner is not scope.get(name):
                    scope[name] = self.rebuilt(inner, known)
            scope["cuda"] = self
        return known[function]

    # ---- what a kernel asks `cuda` for ---------------------------------------------------------------------

    threadIdx = property(lambda self: self.lane.index)
    blockIdx = property(lambda self: self.lane.block.index)
    blockDim = property(lambda self: SimpleNamespace(**dict(zip("xyz", self.threads))))
    gridDim = property(lambda self: SimpleNamespace(**dict(zip("xyz", self.blocks))))
    shared = property(lambda self: SimpleNamespace(array=self.shared_array))
    local = property(lambda self: SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, numpy_of(dtype))))
    atomic = property(lambda self: SimpleNamespace(add=lambda array, index, value: array.add(index, value)))

    def grid(self, ndim):
        at, block, dim = self.threadIdx, self.blockIdx, self.blockDim
        found = block.x * dim.x + at.x, block.y * dim.y + at.y, block.z * dim.z + at.z
        return found[0] if ndim == 1 else found[:ndim]

    def gridsize(self, ndim):
        found = [count * size for count, size in zip(self.blocks, self.threads)]
        return found[0] if ndim == 1 else tuple(found[:ndim])

    def syncthreads(self):
        self.lane.wait(sys._getframe(1).f_lineno)

    def shared_array(self, shape, dtype):
        """The block's array of this call: each thread's calls come in the same order."""
        lane = self.lane
        number, lane.shared = lane.shared, lane.shared + 1
        if number == len(lane.block.shared):
            name = shared_name(sys._getframe(1), number)
            lane.block.shared.append(Seen(self, np.zeros(shape, numpy_of(dtype)), name, True))
            self.arrays.setdefault(name, lane.block.shared[-1])
        return lane.block.shared[number]


def shared_name(frame, number):
    """What the kernel calls a shared array: the first name that its line assigns, else its number."""
    left, sign, _ = linecache.getline(frame.f_code.co_filename, frame.f_lineno).partition("=")
    name = left.strip()
    return name if sign and name.isidentifier() else f"shared {number}"


def numpy_of(dtype):
    return np.dtype(dtype if isinstance(dtype, (type, np.dtype)) else str(dtype))


def three(sizes):
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return sizes + (1,) * (3 - len(sizes))


def function_of(kernel):
    """The Python function of a kernel or a device function of Numba, or of its simulator."""
    for name in ("py_func", "fn"):
        if isinstance(getattr(kernel, name, None), FunctionType):
            return getattr(kernel, name)
    return kernel
