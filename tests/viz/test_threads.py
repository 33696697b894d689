"""``viz.threads``: what the record says of kernels whose accesses are known."""

import math

import numpy as np
import pytest

import viz
from viz.threads_record import Run
from viz.threads_warp import instructions

cuda = None  # stands for numba.cuda, which a run replaces
float32 = np.float32


def add(out, x, y):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def by_columns(out, x):
    row, column = cuda.threadIdx.x, cuda.threadIdx.y
    out[row, column] = x[row, column]


def reversed_in_block(out, x):
    held = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    held[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = held[3 - t]


def strided_banks(out, step):
    held = cuda.shared.array(1024, float32)
    held[cuda.threadIdx.x * step] = 1
    out[cuda.threadIdx.x] = held[cuda.threadIdx.x * step]


def count(bins, which):
    cuda.atomic.add(bins, which[cuda.grid(1)], 1)


def floats(*shape):
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


def nodes(picture, **wanted):
    return [n for n in picture.trace.nodes if all(n.get(k) == v for k, v in wanted.items())]


def test_who_touched_what():
    out, x = np.zeros(10, np.float32), floats(10)
    picture = viz.threads(add, 3, 4, out, x, x)
    assert not out.any(), "the caller's arrays stay as they are"
    assert [(n["block"], n["label"]) for n in nodes(picture, kind="changed")] == [
        (i // 4, str(i % 4)) for i in range(10)
    ]
    assert [n["id"] for n in nodes(picture, kind="masked")] == ["b2t2", "b2t3"]
    assert len(nodes(picture, kind="read")) == 20 and picture.trace.notes[0].startswith(
        "2 threads of 12 touched"
    )


def test_the_run_computes():
    run = Run(reversed_in_block, 2, 4, (np.zeros(8, np.float32), floats(8)))
    assert run.arrays["out"].array.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    run = Run(count, 2, 3, (np.zeros(2, np.int64), np.array([0, 1, 1, 0, 1, 1])))
    assert run.arrays["bins"].array.tolist() == [2, 4]
    assert {a.does for a in run.accesses if a.array == "bins"} == {"add"}


def test_barriers_are_walls_in_time():
    picture = viz.threads(reversed_in_block, 2, 4, np.zeros(8, np.float32), floats(8))
    phases = [g["label"] for g in picture.trace.groups if g["kind"] == "phase"]
    assert phases == ["to the barrier\nin line 4", "to the end"]
    assert [n["label"] for n in nodes(picture, kind="work", row=2)] == ["1r 1w", "1r 1w"]
    assert [g["label"] for g in picture.trace.groups if g["kind"] == "shared"] == [
        "held [4] shared, of block 0"
    ]
    assert [s["msg"] for s in picture.trace.steps] == [
        "Block 0 begins.",
        "To the barrier in line 4: 4 reads of x, 4 writes to held.",
        "To the end: 4 reads of held, 4 writes to out.",
    ]


@pytest.mark.parametrize("threads, pieces, least", [((32, 1), 32, 4), ((1, 32), 4, 4), ((8, 4), 8, 4)])
def test_pieces_of_device_memory(threads, pieces, least):
    """A row of 32 floats is 128 bytes, 4 pieces; a column touches one piece in every row."""
    run = Run(by_columns, 1, threads, (np.zeros((32, 32), np.float32), floats(32, 32)))
    assert [(each["cost"], each["least"]) for each in instructions(run)] == [(pieces, least)] * 2


@pytest.mark.parametrize("step, turns", [(1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (0, 1)])
def test_banks_of_shared_memory(step, turns):
    """Banks repeat every 32 words; one word is read by all threads at once."""
    run = Run(strided_banks, 1, 32, (np.zeros(32, np.float32), step))
    assert {each["cost"] for each in instructions(run) if each["is_shared"]} == {turns}


def test_an_access_outside_is_refused():
    with pytest.raises(IndexError, match=r"thread 2 of block 2 touches x\[10\], outside the shape \(10,\)"):
        viz.threads(add, 3, 4, np.zeros(12, np.float32), floats(10), floats(10))
    with pytest.raises(ValueError, match="at most 4096"):
        viz.threads(add, 64, 128, floats(1), floats(1), floats(1))


def test_every_form(tmp_path):
    picture = viz.threads(reversed_in_block, (2, 1), (4, 1), np.zeros(8, np.float32), floats(8))
    assert "thread  0" in picture.text and "held [4] shared" in picture.text
    assert "digraph" in picture.source and picture.svg.count("<svg") == 1
    again = viz.load(picture.save(tmp_path / "t.html"))
    assert again.text == picture.text
    assert viz.threads(reversed_in_block, 2, 4, np.zeros(8, np.float32), floats(8)).trace == picture.trace


def test_large_launches_are_cut():
    picture = viz.threads(add, 40, 100, *[floats(4000)] * 3)
    assert len({n["block"] for n in nodes(picture, kind="thread")}) == 8
    assert any(note.startswith("Showing 8 blocks") for note in picture.trace.notes)
    assert any(note.startswith("Showing 16 rows") for note in picture.trace.notes)
