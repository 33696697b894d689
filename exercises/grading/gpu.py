"""A GPU on which nothing goes well by luck: kernels run thread by thread, in an order that the test chooses.

Real hardware and Numba's simulator let many a mistake pass: a barrier that is missing usually is not missed,
and what is read behind an array's end is somebody else's memory. Here

- a thread runs alone until it comes to a barrier or to its end, and the next one of the order follows;
- shared memory starts as NaN, and an access that another thread makes between the same two barriers is a
  race;
- two threads that write to one element of device memory without an atomic are a race;
- an index outside an array is an error, and so is an element that changes without having been written to.

`launch` gives a kernel this machine in place of `numba.cuda`.
"""

from __future__ import annotations

import math
import sys
import threading
import types
from itertools import product

import numpy as np

from exercises.grading.compare import Mismatch

STACK = 1 << 19  # bytes for each thread's stack: there are many


class KernelError(AssertionError):
    """What a kernel did that a GPU does not forgive."""


class Place:
    """Three numbers: threadIdx, blockIdx, blockDim, gridDim."""

    def __init__(self, x, y=1, z=1):
        self.x, self.y, self.z = x, y, z

    def __repr__(self):
        return f"({self.x}, {self.y})"


class Thread:
    """One thread of a block: a thread of Python that runs only while it holds the baton."""

    def __init__(self, block, number, work):
        self.block, self.number = block, number
        self.index = Place(number % block.dim.x, number // block.dim.x, 0)
        self.baton, self.has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.error, self.is_done, self.waits_at, self.shared_calls = None, False, None, 0
        self.python = threading.Thread(target=self._live, args=(work,), daemon=True)
        usual = threading.stack_size(STACK)
        self.python.start()
        threading.stack_size(usual)

    def _live(self, work):
        self.baton.acquire()
        if self.block.is_over:
            return
        try:
            work()
        except BaseException as error:
            self.error = error
        self.is_done = True
        self.has_stopped.release()

    def run(self):
        """Let it run to its next barrier, or to its end."""
        self.waits_at = None
        self.baton.release()
        self.has_stopped.acquire()
        if self.error is not None:
            raise self.error

    def stop_at_barrier(self, line):
        self.waits_at = line
        self.has_stopped.release()
        self.baton.acquire()
        if self.block.is_over:
            raise SystemExit

    def __repr__(self):
        return f"thread {self.index} of block {self.block.index}"


class Block:
    """The threads of a block, and its shared memory."""

    def __init__(self, machine, index, dim):
        self.machine, self.index, self.dim = machine, index, dim
        self.phase, self.shared, self.is_over = 0, [], False

    def run(self, work, order):
        threads = [Thread(self, number, work) for number in range(self.dim.x * self.dim.y)]
        try:
            while alive := [threads[number] for number in order if not threads[number].is_done]:
                for thread in alive:
                    self.machine.current = thread
                    thread.run()
                self._check_barrier([thread for thread in alive if not thread.is_done])
                self.phase += 1
        finally:
            self._end(threads)

    def _check_barrier(self, waiting):
        lines = {thread.waits_at for thread in waiting}
        if len(lines) > 1:
            raise Mismatch(
                f"the threads of block {self.index} wait at different barriers: all of them must come "
                "to the same one"
            )

    def _end(self, threads):
        self.is_over = True
        for thread in threads:
            if not thread.is_done:
                thread.baton.release()
            thread.python.join()


class Memory:
    """An array as kernels see it: indices are checked, and so are accesses of two threads to one element."""

    def __init__(self, machine, array, name, is_shared):
        self._machine, self._array, self._name, self._is_shared = machine, array, name, is_shared
        self._written, self._read = {}, {}
        self.shape, self.size, self.ndim, self.dtype = array.shape, array.size, array.ndim, array.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        place, me = self._place(index), self._machine.current
        self._refuse("reads", place, self._written.get(place), "wrote")
        self._read.setdefault(place, {})[me] = me.block.phase
        self._machine.log.reads.append((self._name, me.block.index, me.index, place))
        return self._array[place]

    def __setitem__(self, index, value):
        place, me = self._place(index), self._machine.current
        self._refuse("writes", place, self._written.get(place), "wrote")
        for reader in self._read.get(place, {}).items() if self._is_shared else ():
            self._refuse("writes", place, reader, "read")
        self._written[place] = (me, me.block.phase)
        self._machine.log.append((self._name, me.block.index, me.index, place))
        self._array[place] = value

    def add(self, index, value):
        """An atomic addition; returns the old value."""
        place = self._place(index)
        old = self._array[place]
        self._written.setdefault(place, (self._machine.current, self._machine.current.block.phase))
        self._array[place] = old + value
        return old

    def check_untouched(self, before):
        """Elements change by `array[index] = value` alone: a GPU has nobody else to write them."""
        changed = np.argwhere(~np.isclose(self._array, before, rtol=0, atol=0, equal_nan=True))
        strangers = [tuple(map(int, place)) for place in changed if tuple(map(int, place)) not in self._written]
        if strangers:
            raise Mismatch(
                f"{self._name}{list(strangers[0])} changed, and no thread wrote it: a kernel is what one "
                "thread does, element by element"
            )

    def _place(self, index):
        place = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        if len(place) != self.ndim:
            raise KernelError(
                f"{self._name} has {self.ndim} dimensions, and is asked for {self._name}{list(place)}"
            )
        if not all(0 <= i < size for i, size in zip(place, self.shape)):
            raise KernelError(
                f"{self._machine.current} touches {self._name}{list(place)}, outside the shape {self.shape}: "
                "on a GPU that is somebody else's memory"
            )
        return place

    def _refuse(self, does, place, before, did):
        if before is None or not self._machine.is_strict:
            return
        other, phase = before
        me = self._machine.current
        if other is me or (other.block is me.block and phase < me.block.phase):
            return
        where = f"{self._name}{list(place)}"
        if self._is_shared:
            raise KernelError(f"{me} {does} {where}, which {other} {did} with no barrier between the two")
        raise KernelError(
            f"{me} {does} {where}, which {other} {did}: the order of the two is anybody's guess"
        )


class Log(list):
    """The writes of a launch; `reads`: its reads."""

    def __init__(self):
        self.reads = []


class Machine:
    """What stands for `numba.cuda` in a kernel. `log`: (array's name, block, thread, index) of every write,
    `log.reads` of every read.
    """

    def __init__(self, is_strict=True):
        self.current, self.log, self.is_strict = None, Log(), is_strict
        self.shared = types.SimpleNamespace(array=self._shared_array)
        self.atomic = types.SimpleNamespace(add=lambda array, index, value: array.add(index, value))

    threadIdx = property(lambda self: self.current.index)
    blockIdx = property(lambda self: self.current.block.index)
    blockDim = property(lambda self: self.current.block.dim)
    gridDim = property(lambda self: self.grid_dim)

    def grid(self, ndim):
        at, block, dim = self.threadIdx, self.blockIdx, self.blockDim
        x, y = block.x * dim.x + at.x, block.y * dim.y + at.y
        return x if ndim == 1 else (x, y)

    def gridsize(self, ndim):
        x, y = self.gridDim.x * self.blockDim.x, self.gridDim.y * self.blockDim.y
        return x if ndim == 1 else (x, y)

    def syncthreads(self):
        self.current.stop_at_barrier(sys._getframe(1).f_lineno)

    def _shared_array(self, shape, dtype):
        thread = self.current
        place, thread.shared_calls = thread.shared_calls, thread.shared_calls + 1
        block = thread.block
        if place == len(block.shared):
            array = np.full(
                shape, np.nan, np.dtype(str(np.dtype(dtype) if isinstance(dtype, type) else dtype))
            )
            block.shared.append(Memory(self, array, "shared", True))
        return block.shared[place]


def launch(kernel, blocks, threads, *arguments, order="up", is_strict=True):
    """Run a kernel, and return the log of its writes.

    kernel: as `cuda.jit` returned it, or a plain function. blocks, threads: an int, or (x, y). arguments:
    NumPy arrays, which change, and numbers. order: in which the threads of a block run: up, down, or a NumPy
    generator. is_strict: whether races are errors, even if all goes well.
    """
    machine, function = Machine(is_strict), function_of(kernel)
    names = function.__code__.co_varnames
    given = [
        Memory(machine, a, name, False) if isinstance(a, np.ndarray) else a
        for a, name in zip(arguments, names)
    ]
    before = [each._array.copy() for each in given if isinstance(each, Memory)]
    on_machine = with_cuda(function, machine)
    machine.grid_dim, dim = sizes(blocks), sizes(threads)
    for y, x in product(range(machine.grid_dim.y), range(machine.grid_dim.x)):
        with np.errstate(all="ignore"):
            Block(machine, Place(x, y, 0), dim).run(
                lambda: on_machine(*given), order_of(order, dim.x * dim.y)
            )
    for each, old in zip([each for each in given if isinstance(each, Memory)], before):
        each.check_untouched(old)
    return machine.log


def sizes(given):
    return Place(given) if isinstance(given, int) else Place(*given)


def order_of(order, count):
    if order in ("up", "down"):
        return range(count) if order == "up" else range(count - 1, -1, -1)
    return [int(number) for number in order.permutation(count)]


def function_of(kernel):
    """The Python function of a kernel of numba.cuda, or of its simulator."""
    for name in ("py_func", "fn"):
        if isinstance(getattr(kernel, name, None), types.FunctionType):
            return getattr(kernel, name)
    return kernel


def exp(x):
    """As on a GPU: infinite where the C library's is, no error."""
    return math.exp(x) if x < 709 else math.inf


DEVICE_MATH = types.SimpleNamespace(**{**vars(math), "exp": exp})


def with_cuda(function, machine):
    """The function with this machine wherever it says `cuda`, and a GPU's `math`."""
    scope = {**function.__globals__, "cuda": machine, "math": DEVICE_MATH}
    return types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
