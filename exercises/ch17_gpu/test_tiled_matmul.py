"""Grades tiled_matmul.py."""

import numpy as np

from exercises.grading import close, holds, points
from exercises.grading.gpu import launch


def check(yours, rows, depth, columns, why, order="up"):
    tile = yours.TILE
    rng = np.random.default_rng(rows * 100 + depth * 10 + columns)
    a = rng.integers(-4, 5, (rows, depth)).astype(np.float32)
    b = rng.integers(-4, 5, (depth, columns)).astype(np.float32)
    out = np.full((rows, columns), np.float32(np.nan))
    grid = -(-columns // tile), -(-rows // tile)
    log = launch(yours.matmul, grid, (tile, tile), out, a, b, order=order)
    close(out, a @ b, why, what=f"({rows}, {depth}) @ ({depth}, {columns})", tolerance=1e-6)
    return log


@points(1, "no depth")
def test_no_depth(yours):
    check(yours, 4, 0, 4, "the sum of no products is 0")


@points(1, "one tile")
def test_one_tile(yours):
    why = "element (y, x) is the sum of row of a with column of b: tile_a[y, k] * tile_b[k, x]"
    check(yours, 4, 4, 4, why)


@points(1, "two tiles deep")
def test_two_tiles_deep(yours):
    for order in ("up", "down"):
        check(yours, 4, 8, 4, "the second pair of tiles is added to the first", order)


@points(1, "more columns than rows")
def test_wide(yours):
    check(yours, 4, 4, 8, "cuda.grid(2) gives (x, y), and x is the column")


@points(1, "sizes that are no multiples of the tile")
def test_odd_shapes(yours):
    for shape in ((3, 5, 2), (5, 3, 7), (1, 1, 1)):
        check(yours, *shape, "what lies outside a and b counts as 0, and nothing is written outside out")


@points(1, "each word is brought once for a whole tile of threads")
def test_words_are_shared(yours):
    log = check(yours, 8, 4, 8, "two by two tiles")
    counts = [sum(each[0] == name for each in log.reads) for name in ("a", "b")]
    why = "2 blocks need each element of a, and 2 each of b: 2 * 32 reads of each, and the rest from shared memory"
    holds(counts == [64, 64], why, got=f"{counts[0]} reads of a, {counts[1]} of b")


@points(1, "whichever thread runs first")
def test_whichever_thread_runs_first(yours):
    for seed in range(2):
        check(yours, 4, 4, 4, "threads run in any order", np.random.default_rng(seed))
