"""Does not add up the gradients of a row that repeats."""

import numpy as np

FAILS = "test_repeats"
SAYS = "their sum"


def added_up(rows, g):
    kept, group = np.unique(rows, return_inverse=True)
    sums = np.zeros((kept.size, g.shape[1]), g.dtype)
    np.add.at(sums, group, g)
    return kept, sums


def sparse_adam_step(p, m, v, rows, g, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    m[rows] += (1 - beta1) * (g - m[rows])
    v[rows] += (1 - beta2) * (g * g - v[rows])
    size = lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
    p[rows] -= size * m[rows] / (np.sqrt(v[rows]) + eps)
