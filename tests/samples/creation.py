"""Samples for teachtorch/ops/creation.py."""
from tests.samples import sample, x

import teachtorch as torch

SIZES = [sample(2, 3), sample((2, 3)), sample(()), sample(0), sample(size=(2,)), sample(2, dtype=torch.int64)]
LIKE = [sample(x(2, 3)), sample(x(4, 3).T), sample(x()), sample(x(0, 2)), sample(x(2, 3), dtype=torch.int64),
        sample(x(1, 2, 3, 4), memory_format=torch.channels_last)]
NEW = [sample(x(2), (2, 3)), sample(x(2), 0), sample(x(2), (), dtype=torch.int64)]

SAMPLES = {
    "zeros": SIZES, "ones": SIZES, "empty": [sample(2, 3, gradient=False)],
    "full": [sample((2, 3), 1.5), sample((), True), sample((0,), 3)],
    "empty_strided": [sample((2, 3), (1, 2), gradient=False)],
    "zeros_like": LIKE, "ones_like": LIKE, "empty_like": [sample(x(2, 3), gradient=False)],
    "full_like": [sample(x(2, 3), 2), sample(x(4, 3).T, 1.5), sample(x(), 1)],
    "new_zeros": NEW, "new_ones": NEW, "new_empty": [sample(x(2), 3, gradient=False)],
    "new_full": [sample(x(2), (2, 3), 1.5)],
    "arange": [sample(5), sample(1, 4), sample(1.0, 2.5, 0.5), sample(5, 0, -2)],
    "linspace": [sample(0, 1, 5), sample(2.0, -1.0, 4), sample(0, 1, 1), sample(0, 1, 0)],
    "logspace": [sample(0, 2, 3), sample(0, 3, 4, base=2)],
    "eye": [sample(3), sample(2, 3), sample(0)],
    "lift_fresh": [sample(x(2, 3)), sample(x())],
}
