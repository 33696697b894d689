"""Samples for teachtorch/ops/view_copies.py."""
from tests.samples import sample, x

SAMPLES = {
    "unsafe_split": [sample(x(5, 3), 2), sample(x(5, 3), 2, -1)],
    "unsafe_split_with_sizes": [sample(x(5, 3), (2, 3)), sample(x(5, 3), (1, 2), 1)],
    "unsafe_chunk": [sample(x(5, 3), 2)],
    "as_strided_scatter": [sample(x(3, 4), x(2, 2), (2, 2), (1, 5)), sample(x(6), x(2), (2,), (2,), 1)],
    "fill_diagonal_": [sample(x(3, 4), 2.0), sample(x(7, 3), 1.5, True), sample(x(2, 2, 2), 1)],
}
