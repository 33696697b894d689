"""Matrix products: the naive one, and the tiled one, which the device uses.

naive   each thread computes one element of the result, and reads a row and a column from device memory for
        it: 2n words for 2n operations
tiled   a block computes a tile of the result, and brings tiles of both matrices into shared memory, each word
        once for all the threads that use it: 2n / TILE words per thread

What tensors are multiplied with, this or cuBLAS, gemm.py decides.
"""

import functools

import numpy as np

from .grid import is_simulated, launch
from .source import DeviceTranslator, load_kernel

TILE, SIMULATED_TILE = 16, 4
MOST_ALONG_Y = 65535  # blocks

# Blocks are counted along x, for y and z end at 65535: (row of tiles, column of tiles) is blockIdx.x. Further
# matrices of a batch lie along y, and a block goes on to the next where there are more.
HEAD = """
@cuda.jit
def kernel(out, a, b, batches, rows, depth, columns, a_batch, a_row, a_column, b_batch, b_row, b_column,
           out_batch, out_row, out_column):
    across = (columns + {tile} - 1) // {tile}
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.x // across * {tile} + y, cuda.blockIdx.x % across * {tile} + x
"""

NAIVE = (
    HEAD
    + """
    for batch in range(cuda.blockIdx.y, batches, cuda.gridDim.y):
        if row < rows and column < columns:
            total = np.{dtype}(0)
            for k in range(depth):
                left = a[batch * a_batch + row * a_row + k * a_column]
                total += left * b[batch * b_batch + k * b_row + column * b_column]
            out[batch * out_batch + row * out_row + column * out_column] = total
"""
)

# Threads outside the result still help to load tiles, and come to every barrier.
TILED = (
    HEAD
    + """
    tile_a = cuda.shared.array(({tile}, {tile}), types.{dtype})
    tile_b = cuda.shared.array(({tile}, {tile}), types.{dtype})
    for batch in range(cuda.blockIdx.y, batches, cuda.gridDim.y):
        total = np.{dtype}(0)
        for start in range(0, depth, {tile}):
            tile_a[y, x] = np.{dtype}(0)
            tile_b[y, x] = np.{dtype}(0)
            if row < rows and start + x < depth:
                tile_a[y, x] = a[batch * a_batch + row * a_row + (start + x) * a_column]
            if start + y < depth and column < columns:
                tile_b[y, x] = b[batch * b_batch + (start + y) * b_row + column * b_column]
            cuda.syncthreads()
            for k in range({tile}):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        if row < rows and column < columns:
            out[batch * out_batch + row * out_row + column * out_column] = total
"""
)

TEXTS = {"naive": NAIVE, "tiled": TILED}


def run(out, a, b, how="tiled", stream=0):
    """out = a @ b, for Strided arrays of three dimensions, of any strides.

    Args:
        out: (batch, rows, columns). a: (batch, rows, depth). b: (batch, depth, columns).
        how: naive or tiled.
    """
    batch, rows, columns = out.shape
    if not out.size:
        return
    tile = SIMULATED_TILE if is_simulated() else TILE
    kernel = compiled(how, np.dtype(out.dtype), tile)
    numbers = [np.int64(n) for n in (batch, rows, a.shape[2], columns, *a.strides, *b.strides, *out.strides)]
    blocks = blocks_of(batch, rows, columns, tile)
    launch(kernel, blocks, (tile, tile), stream, (out.memory, a.memory, b.memory, *numbers))


def blocks_of(batch, rows, columns, tile):
    """(tiles of a result, matrices at a time)."""
    return -(-rows // tile) * -(-columns // tile), min(batch, MOST_ALONG_Y)


@functools.cache
def compiled(how, dtype, tile):
    return load_kernel(how, DeviceTranslator(dtype), TEXTS[how].format(dtype=dtype, tile=tile))
