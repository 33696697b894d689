"""Grades tiled_transpose.py."""

import numpy as np

from exercises.grading import close, holds, points
from exercises.grading.gpu import launch


def run(yours, rows, columns, order="up"):
    tile = yours.TILE
    x = np.random.default_rng(rows * 31 + columns).standard_normal((rows, columns)).astype(np.float32)
    out = np.full((columns, rows), np.float32(np.nan))
    blocks = -(-columns // tile), -(-rows // tile)
    return x, out, launch(yours.transpose, blocks, (tile, tile), out, x, order=order)


def check(yours, rows, columns, why, order="up"):
    x, out, _ = run(yours, rows, columns, order)
    close(out, np.ascontiguousarray(x.T), why, what=f"the transpose of {rows} x {columns}", tolerance=1e-7)


@points(1, "one element")
def test_one_element(yours):
    check(yours, 1, 1, "out[0, 0] = x[0, 0]")


@points(1, "one tile")
def test_one_tile(yours):
    check(yours, 4, 4, "the tile is to be turned: row and column change places between shared memory and out")


@points(1, "two tiles side by side")
def test_two_tiles(yours):
    check(yours, 4, 8, "the tiles change places, too: the tile at (by, bx) of x goes to (bx, by) of out")


@points(1, "sizes that are no multiple of the tile")
def test_odd_shapes(yours):
    for rows, columns in ((3, 4), (4, 3), (5, 7), (1, 9)):
        check(yours, rows, columns, "what lies outside is neither read nor written")


@points(1, "whichever thread runs first")
def test_whichever_thread_runs_first(yours):
    for seed in range(3):
        check(yours, 4, 4, "threads run in any order", np.random.default_rng(seed))


@points(1, "neighbouring threads read neighbouring elements")
def test_reads_rows(yours):
    _, _, log = run(yours, 4, 4)
    rows = {(thread.y, thread.x): place for name, _, thread, place in log.reads if name == "x"}
    neighbours = [(rows[y, x], rows[y, x + 1]) for y in range(4) for x in range(3) if (y, x + 1) in rows]
    together = len(rows) == 16 and all(a[0] == b[0] and b[1] == a[1] + 1 for a, b in neighbours)
    holds(together, "neighbouring threads (in x) are to read neighbouring elements of a row of x, one each")


@points(1, "neighbouring threads write neighbouring elements")
def test_writes_rows(yours):
    x, out, log = run(yours, 4, 4)
    columns = {}
    for name, _, thread, place in log:
        if name == "out":
            columns[thread.y, thread.x] = place
    neighbours = [(columns[y, x], columns[y, x + 1]) for y in range(4) for x in range(3) if (y, x) in columns]
    together = all(a[0] == b[0] and b[1] == a[1] + 1 for a, b in neighbours)
    holds(together, "neighbouring threads (in x) are to write neighbouring elements of a row of out")
