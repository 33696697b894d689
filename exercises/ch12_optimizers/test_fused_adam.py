"""Grades fused_adam.py."""

import numpy as np

from exercises.grading import close, equal, holds, points
from exercises.grading.gpu import function_of

SETTINGS = (0.1, 0.5, 0.75, 1e-8)  # lr, beta1, beta2, eps


class Memory:
    """A list of floats that counts how often it is read and written. Slices are refused: they would be arrays."""

    def __init__(self, *values):
        self.values, self.reads, self.writes = [float(v) for v in values], 0, 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        self.reads += 1
        return self.values[place(i)]

    def __setitem__(self, i, value):
        self.writes += 1
        self.values[place(i)] = value


def place(i):
    if not isinstance(i, int):
        raise TypeError(f"the kernel takes one element at a time; here it asked for [{i!r}]")
    return i


def expected_step(p, g, m, v, lr, beta1, beta2, eps, t):
    """(p, m, v) after a step, of arrays."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return p - lr / (1 - beta1**t) * m / (np.sqrt(v) / np.sqrt(1 - beta2**t) + eps), m, v


def run(yours, p, g, m, v, t, settings=SETTINGS):
    """The four memories after the learner's kernel ran on them."""
    memories = [Memory(*values) for values in (p, g, m, v)]
    yours.adam_kernel(*memories, *settings, t)
    return memories


@points(1, "the first step")
def test_first(yours):
    p, _, m, v = run(yours, [1, 1], [2, -0.5], [0, 0], [0, 0], 1)
    close(m.values, [1.0, -0.25], "half of the gradient", what="m after a step with beta1 = 0.5")
    close(v.values, [1.0, 0.0625], "a quarter of its square", what="v after a step with beta2 = 0.75")
    close(p.values, [0.9, 1.1], "with both corrections the first step is lr long", what="p", tolerance=1e-6)


@points(1, "later steps, and eps")
def test_later(yours):
    before = [np.array(a) for a in ([1.0, -2.0], [0.5, 3.0], [0.25, -1.0], [0.5, 2.0])]
    for t, settings in ((3, SETTINGS), (7, (0.01, 0.9, 0.999, 0.5))):
        got = run(yours, *before, t, settings)
        for name, one, wanted in zip("pmv", (got[0], got[2], got[3]), expected_step(*before, *settings, t)):
            close(np.array(one.values), wanted, "the formulas of the text", what=f"{name} in step {t}, eps={settings[3]}")


@points(2, "seven words per element")
def test_words(yours):
    why = "p, g, m and v are read once: keep what was read in a variable"
    for count in (1, 5):
        numbers = [0.5] * count
        p, g, m, v = run(yours, numbers, numbers, numbers, numbers, 2)
        reads = {name: memory.reads for name, memory in zip("pgmv", (p, g, m, v))}
        writes = {name: memory.writes for name, memory in zip("pgmv", (p, g, m, v))}
        equal(reads, dict.fromkeys("pgmv", count), why, what=f"reads for {count} elements")
        equal(writes, dict(p=count, g=0, m=count, v=count), "p, m and v are written once", what="writes")


@points(1, "a gradient that is the parameter itself")
def test_aliasing(yours):
    p, m, v = Memory(1, -2), Memory(0, 0), Memory(0, 0)
    yours.adam_kernel(p, p, m, v, *SETTINGS, 1)
    why = "g is the memory of p: read it before p is written"
    close(m.values, [0.5, -1.0], why, what="m, where g is p")
    close(v.values, [0.25, 1.0], why, what="v, where g is p")
    close(p.values, [0.9, -1.9], why, what="p, where g is p", tolerance=1e-6)


@points(1, "any numbers")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    for _ in range(5):
        count, t = rng.randint(1, 6), rng.randint(1, 9)
        before = [*numbers.normal(0, 1, (3, count)), numbers.uniform(0, 1, count)]
        got = run(yours, *before, t, (0.01, 0.9, 0.99, 1e-6))
        for name, one, wanted in zip("pmv", (got[0], got[2], got[3]), expected_step(*before, 0.01, 0.9, 0.99, 1e-6, t)):
            close(np.array(one.values), wanted, "the formulas of the text", what=f"{name} in step {t}")


class Kernel:
    """Stands for the compiled kernel: notes what it is called with, and computes with arrays."""

    def __init__(self):
        self.calls = []

    def __call__(self, p, g, m, v, lr, beta1, beta2, eps, t):
        self.calls.append((p, g, m, v, t))
        for name, array in zip("pgmv", (p, g, m, v)):
            flat = isinstance(array, np.ndarray) and array.ndim == 1 and array.flags.c_contiguous
            holds(flat, "the kernel walks over memory, without strides", what=f"{name} is one-dimensional and contiguous")
        p[:], m[:], v[:] = expected_step(p.copy(), g.copy(), m.copy(), v.copy(), lr, beta1, beta2, eps, t)


@points(1, "one launch for a step")
def test_launches(yours):
    kernel, state = Kernel(), {}
    p, g = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        yours.fused_adam_step(p, g, state, kernel)
    equal(len(kernel.calls), 3, "one call of the kernel for each step, whatever the shape", what="calls in three steps")
    equal([call[4] for call in kernel.calls], [1, 2, 3], "t counts from 1", what="t in the three steps")
    equal(state["step"], 3, "three steps", what="state['step']")
    shapes = state["exp_avg"].shape, state["exp_avg_sq"].shape
    equal(shapes, ((2, 3), (2, 3)), "the averages have the parameter's shape", what="shapes in the state")


@points(1, "the averages go on")
def test_state(yours):
    state, p, expected, m, v = {}, np.ones(4), np.ones(4), np.zeros(4), np.zeros(4)
    for t, gradient in enumerate((1.0, -2.0, 0.5), start=1):
        g = np.full(4, gradient)
        yours.fused_adam_step(p, g, state, Kernel(), lr=0.1, betas=(0.5, 0.75))
        expected, m, v = expected_step(expected, g, m, v, 0.1, 0.5, 0.75, 1e-8, t)
        close(p, expected, "m and v of the last step are the beginning of this one", what=f"p after step {t}")
        close(state["exp_avg"], m, "the state keeps m", what=f"state['exp_avg'] after step {t}")


@points(2, "a parameter with gaps")
def test_strides(yours):
    whole, g = np.ones((3, 4)), np.arange(1.0, 7.0).reshape(2, 3).T
    p = whole[:, ::2]
    yours.fused_adam_step(p, g, {}, Kernel(), lr=0.1)
    why = "reshape(-1) of an array with gaps is a copy: what the kernel writes there must come back"
    close(whole[:, ::2], np.full((3, 2), 0.9), why, what="every second column after a step", tolerance=1e-6)
    equal(whole[:, 1::2], np.ones((3, 2)), "the columns between belong to others", what="the other columns")
    turned, steep = np.ones((2, 3)), np.array([[1.0, 10.0, 100.0], [0.0, -1.0, -10.0]])
    yours.fused_adam_step(turned.T, steep.T, {}, Kernel(), lr=0.1)
    wanted = 1 - 0.1 * np.sign(steep)
    close(turned, wanted, "each element keeps its own gradient", what="a transposed parameter", tolerance=1e-6)


@points(2, "Numba compiles it")
def test_compiles(yours):
    import numba

    before = [np.array(a) for a in ([1.0, -2.0], [0.5, 3.0], [0.25, -1.0], [0.5, 2.0])]
    try:
        compiled = numba.njit(function_of(yours.adam_kernel))
        compiled(*before, *SETTINGS, 2)
    except numba.core.errors.NumbaError as error:
        first = str(error).strip().split("\n")[0]
        holds(False, "numbers, len, math and p[i] are what Numba compiles here", what=f"numba.njit(adam_kernel): {first}")
    wanted = expected_step(*[np.array(a) for a in ([1.0, -2.0], [0.5, 3.0], [0.25, -1.0], [0.5, 2.0])], *SETTINGS, 2)
    close(before[0], wanted[0], "the compiled kernel does the same", what="p after a step of the compiled kernel")
