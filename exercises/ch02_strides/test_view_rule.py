"""Grades view_rule.py."""

from exercises.grading import equal, points

PERMUTED = ((2, 4, 3), (12, 1, 4))


def ask(yours, sizes, strides, new_sizes, expected, why):
    """Compare one answer; a tuple is drawn dimension by dimension."""
    names = [f"dim {dim}, size {size}" for dim, size in enumerate(new_sizes)]
    equal(yours.compute_view_strides(sizes, strides, new_sizes), expected, why, names=names)


@points(1, "a contiguous tensor is one chunk")
def test_contiguous(yours):
    ask(yours, (24,), (1,), (2, 12), (12, 1), "one chunk of 24 with base stride 1")
    ask(yours, (2, 3, 4), (12, 4, 1), (6, 4), (4, 1), "12 == 3*4: the first two dimensions are one chunk")
    ask(yours, (2, 3, 4), (12, 4, 1), (4, 3, 2), (6, 2, 1), "all three are one chunk of 24")


@points(2, "a view inside the chunks of a tensor that is not contiguous")
def test_inside_a_chunk(yours):
    why = "a view is possible: the chunk of 4 (stride 1) is tiled by 2 and 2, the others stay"
    ask(yours, *PERMUTED, (2, 2, 2, 3), (12, 2, 1, 4), why)
    ask(yours, (3, 2), (4, 1), (3, 2), (4, 1), "a view is possible: nothing changes")
    ask(yours, (3, 4), (8, 2), (12,), (2,), "a view is possible: 8 == 4*2, one chunk with base stride 2")


@points(1, "no view reaches over two chunks")
def test_over_two_chunks(yours):
    ask(
        yours,
        *PERMUTED,
        (8, 3),
        None,
        "8 would reach over two chunks: strides 12 and 1 do not merge (12 != 4*1)",
    )
    ask(
        yours,
        *PERMUTED,
        (2, 12),
        None,
        "12 would reach over two chunks: strides 1 and 4 do not merge (1 != 3*4)",
    )
    ask(yours, (3, 2), (4, 1), (6,), None, "a step of 1 cannot become a step of 3: 6 reaches over two chunks")


@points(1, "dimensions of size 1, old and new")
def test_size_one(yours):
    ask(yours, (2, 1, 3), (3, 999, 1), (6,), (1,), "a dimension of size 1 joins a chunk whatever its stride")
    ask(
        yours,
        (3, 2),
        (4, 1),
        (3, 1, 2),
        (4, 2, 1),
        "a new dimension of size 1 is taken in: its stride is 2*1",
    )
    ask(yours, (3, 2), (4, 1), (1, 3, 2), (12, 4, 1), "a new dimension of size 1 in front: its stride is 3*4")


@points(1, "expanded dimensions (stride 0)")
def test_expanded(yours):
    why = "inside a chunk the strides are multiples of the chunk's base stride: 2*0 and 1*0"
    ask(yours, (3, 4), (1, 0), (3, 2, 2), (1, 0, 0), why)
    ask(yours, (3, 4), (1, 0), (12,), None, "1 != 4*0: the two dimensions are two chunks")
    ask(yours, (3, 4), (0, 0), (12,), (0,), "0 == 4*0: one chunk with base stride 0")


@points(1, "no elements, no dimensions")
def test_empty(yours):
    ask(yours, (0, 3), (1, 7), (0, 3), (1, 7), "without elements the same sizes keep their strides")
    ask(
        yours,
        (0, 3),
        (1, 7),
        (3, 0, 2),
        (2, 2, 1),
        "without elements other sizes get contiguous strides, 0 counts as 1",
    )
    ask(yours, (), (), (1, 1), (1, 1), "a 0-dim tensor gives strides of 1")


@points(2, "any chunks, tiled in any way")
def test_any(yours, rng):
    for _ in range(100):
        sizes, strides, new_sizes, expected = [], [], [], []
        for base in rng.sample([1, 100, 10_000, 1_000_000], rng.randint(1, 3)):
            factors = [rng.choice([2, 3]) for _ in range(rng.randint(1, 3))]
            put(sizes, strides, merged(factors, rng), base)
            put(new_sizes, expected, merged(factors, rng), base)
        why = "each chunk is tiled by its own factors"
        ask(yours, tuple(sizes), tuple(strides), tuple(new_sizes), tuple(expected), why)


def merged(factors, rng):
    """The same number of elements by fewer dimensions: neighbours are multiplied at random."""
    dims = [factors[0]]
    for factor in factors[1:]:
        if rng.random() < 0.5:
            dims.append(factor)
        else:
            dims[-1] *= factor
    return dims


def put(sizes, strides, dims, base):
    """Append one chunk of these dimensions."""
    step, own = base, []
    for size in reversed(dims):
        own.insert(0, step)
        step *= size
    sizes.extend(dims)
    strides.extend(own)
