"""How many threads and blocks a kernel gets."""

import functools

THREADS = 256  # of a block on a GPU: a multiple of a warp's 32, small enough for many blocks per processor
SIMULATED_THREADS = 8  # of a block in the simulator, where each is a thread of the operating system
MOST_BLOCKS = 4096  # more work than that is walked in strides of the whole grid
MOST_SIMULATED_BLOCKS = 4


@functools.cache
def is_simulated():
    """Whether `numba.cuda` is the simulator (NUMBA_ENABLE_CUDASIM=1, read when Numba is imported)."""
    from numba import config

    return bool(config.ENABLE_CUDASIM)


def threads_per_block():
    return SIMULATED_THREADS if is_simulated() else THREADS


def blocks_for(size):
    """Enough blocks for `size` elements, or as many as are worth having: the threads then walk in strides."""
    most = MOST_SIMULATED_BLOCKS if is_simulated() else MOST_BLOCKS
    return max(1, min(-(-size // threads_per_block()), most))


def run_flat(kernel, size, stream, *args):
    """Launch a kernel that walks `size` elements in strides of the whole grid."""
    if size:
        launch(kernel, blocks_for(size), threads_per_block(), stream, args)


def run_blocks(kernel, blocks, stream, *args):
    """Launch a kernel of which each block has a job of its own."""
    if blocks:
        launch(kernel, blocks, threads_per_block(), stream, args)


def launch(kernel, blocks, threads, stream, args):
    """`kernel[blocks, threads, stream](*args)`; on a GPU by a shorter way, see direct.py.

    args: flat device arrays and NumPy scalars.
    """
    if is_simulated():
        kernel[blocks, threads, stream](*args)
    else:
        from .direct import start

        start(kernel, blocks, threads, stream, args)
