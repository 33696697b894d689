"""Matrix products by NumPy's BLAS, large ones divided among our own threads.

OpenBLAS divides a product among threads that wait for each other in a busy loop: where another process holds
one of the cores, a product of a millisecond takes a hundred. Here every thread runs whole products of its own,
and whoever is held up leaves the rest of the parts to the others. Products that are already inside a loop of
`parallel_for` stay on its thread.
"""

import ctypes
import functools
import math
import pathlib
import threading

import numpy as np

from .parallel import get_num_threads, parallel_for

SMALL = 1 << 18  # multiplications up to which OpenBLAS itself keeps to one thread
GRAIN = 1 << 22  # multiplications that are worth a thread
ROWS = 64  # rows (or columns) of a result that are worth a product of their own
PARTS_PER_THREAD = 2  # of a product: more parts read the common operand more often

NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_",
         "openblas_{}_num_threads")


@functools.lru_cache(maxsize=None)
def thread_controls():
    """(get, set) of the number of threads of NumPy's OpenBLAS; None for another BLAS, which is left alone."""
    numpy = pathlib.Path(np.__file__).parent
    folders = (numpy.with_name("numpy.libs"), numpy / ".dylibs")  # Linux and Windows, macOS
    for path in [path for folder in folders for path in folder.glob("*openblas*")]:
        library = ctypes.CDLL(str(path))
        for name in NAMES:
            if hasattr(library, name.format("set")):
                return library[name.format("get")], library[name.format("set")]
    return None


class _OneThread:
    """While anyone is inside of `with one_thread:`, BLAS uses the thread that calls it and no other."""

    def __init__(self):
        self.lock = threading.Lock()
        self.inside, self.before = 0, 1

    def __enter__(self):
        controls = thread_controls()
        if controls is None:
            return
        with self.lock:
            if self.inside == 0:
                self.before = controls[0]()
                controls[1](1)
            self.inside += 1

    def __exit__(self, *error):
        controls = thread_controls()
        if controls is None:
            return
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                controls[1](self.before)


one_thread = _OneThread()


def matmul(a, b, out=None):
    """`np.matmul` of arrays of at least two dimensions; large products of floats run on several threads."""
    work = math.prod(a.shape) * b.shape[-1] if a.ndim >= b.ndim else math.prod(b.shape) * a.shape[-2]
    if work <= SMALL or a.dtype.char not in "fd" or thread_controls() is None:
        return np.matmul(a, b, out=out)
    if out is None:
        out = np.empty((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), a.dtype)
    with one_thread:
        divided(a, b, out, work)
    return out


def divided(a, b, out, work):
    """The product by parts: of the batch, of the result's rows or of its columns, whichever are most."""
    if out.ndim > 2 and out.shape[0] >= get_num_threads():
        in_parts(out.shape[0], 1, work, lambda part: np.matmul(batch_part(a, part, out.ndim),
                                                               batch_part(b, part, out.ndim), out=out[part]))
    elif out.shape[-2] >= out.shape[-1]:
        in_parts(out.shape[-2], ROWS, work, lambda part: np.matmul(a[..., part, :], b, out=out[..., part, :]))
    else:
        in_parts(out.shape[-1], ROWS, work, lambda part: np.matmul(a, b[..., part], out=out[..., part]))


def batch_part(array, part, ndim):
    """A part of the batch; operands without a batch, or with one of size 1, serve all of it."""
    return array if array.ndim < ndim or array.shape[0] == 1 else array[part]


def in_parts(total, smallest, work, run):
    """Call run(slice) for slices that cover range(total), each worth a thread."""
    worthwhile = GRAIN * total // max(work, 1)
    share = -(-total // (get_num_threads() * PARTS_PER_THREAD))
    parallel_for(total, max(smallest, worthwhile, share), lambda begin, end: run(slice(begin, end)))
