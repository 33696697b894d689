"""Samples for teachtorch/ops/: joining.py, turning.py and diagonals.py."""
from tests.samples import sample, x

T = x(4, 3).T

SAMPLES = {
    "cat": [sample([x(2, 3), x(1, 3, seed=1)]), sample([x(2, 3), x(2, 1, seed=1), x(2, 0)], 1),
            sample((x(3), x(0), x(2)), -1),
            sample([T, x(3, 4)]), sample([x(1, 2, 3, 4), x(2, 2, 3, 4)], dim=0)],
    "stack": [sample([x(2, 3), x(2, 3, seed=1)]), sample([x(2, 3), x(2, 3, seed=1)], 1),
              sample([x(), x(seed=1)]), sample([T, T], -1)],
    "repeat": [sample(x(2, 3), 2, 1), sample(x(3), (2, 2, 1)), sample(x(), 2), sample(x(2, 3), 0, 1),
               sample(T, 2, 2), sample(x(), ())],
    "tile": [sample(x(2, 3), (2,)), sample(x(3), (2, 1, 2))],
    "flip": [sample(x(2, 3), (0,)), sample(x(2, 3), (0, -1)), sample(T, (1,)), sample(x(), ()),
             sample(x(0, 2), (0,))],
    "fliplr": [sample(x(2, 3))],
    "flipud": [sample(x(2, 3)), sample(x(3))],
    "roll": [sample(x(2, 3), 1), sample(x(2, 3), (1, -2), (0, 1)), sample(T, 2, 1), sample(x(), 1),
             sample(x(0, 2), 1, 0)],
    "rot90": [sample(x(2, 3)), sample(x(2, 3), 2), sample(x(2, 3, 4), -1, (2, 0)), sample(T, 3)],
    "tril": [sample(x(3, 4)), sample(x(3, 4), 1), sample(x(2, 3, 3), -1), sample(T), sample(x(0, 3))],
    "triu": [sample(x(3, 4)), sample(x(3, 4), 1), sample(x(2, 3, 3), -1), sample(T)],
    "tril_indices": [sample(3, 4), sample(3, 4, -1)],
    "triu_indices": [sample(3, 4), sample(3, 4, 1)],
    "diagonal_copy": [sample(x(3, 4)), sample(x(3, 4), 1), sample(x(2, 3, 4), -1, 2, 0)],
    "diag_embed": [sample(x(3)), sample(x(2, 3), 1), sample(x(2, 3), -1, 0, 2), sample(x(0))],
    "diag": [sample(x(3)), sample(x(3), -1), sample(x(3, 4), 1), sample(T)],
    "diagflat": [sample(x(2, 2)), sample(x(2), 1)],
    "block_diag": [sample(x(2, 3), x(2), x(1, 1)), sample(x(), x(0))],
}
