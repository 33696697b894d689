"""Sample arguments for teachtorch/ops/padding.py."""

from tests.samples import sample, x

SHAPES = {1: ((2, 3, 4), (2, 5)), 2: ((2, 3, 4, 5), (2, 4, 3)), 3: ((1, 2, 3, 4, 3), (2, 3, 3, 4))}
SIZES = {1: (2, 1), 2: (1, 2, 0, 1), 3: (1, 0, 2, 1, 1, 2)}
CUTS = {1: (-1, 2), 2: (1, -1, 0, 1), 3: (0, 0, -1, 1, 1, 0)}


def padded(shape, sizes):
    """The shape with two sizes more per dimension, from the last on."""
    found = list(shape)
    for i in range(0, len(sizes), 2):
        found[-1 - i // 2] += sizes[i] + sizes[i + 1]
    return found


SAMPLES = {
    "constant_pad_nd": [
        sample(x(2, 3), (1, 2)),
        sample(x(2, 3), (1, 0, 2, 1), 1.5),
        sample(x(4, 3).T, (-1, 1, 0, -1)),
        sample(x(0, 2), (1, 1)),
        sample(x(), ()),
    ],
    "pad": [
        sample(x(2, 3), (1, 2)),
        sample(x(2, 3, 4), (2, 1), "reflect"),
        sample(x(2, 3, 4), (1, 0), "circular"),
    ],
    "_pad_circular": [sample(x(2, 3, 4), (2, 1)), sample(x(1, 2, 3, 4), (1, 0, -1, 2))],
}
for _kind in ("reflection", "replication"):
    for _n, _shapes in SHAPES.items():
        SAMPLES[f"{_kind}_pad{_n}d"] = [
            sample(x(*s), sizes) for s in _shapes for sizes in (SIZES[_n], CUTS[_n])
        ]
        SAMPLES[f"{_kind}_pad{_n}d_backward"] = [
            sample(x(*padded(s, SIZES[_n])), x(*s, seed=1), SIZES[_n]) for s in _shapes
        ]
