"""Adam for a table of which a step touches a few rows.

The gradient of an embedding table is given by its entries: `rows` (n,), which may repeat, and `g` (n, columns). Rows
that are not named have no gradient, which is not a gradient of zero.
"""

import numpy as np


def added_up(rows, g):
    """Return (rows, g) with every row once, ascending; the gradients of one row are added."""
    # solution
    kept, group = np.unique(rows, return_inverse=True)
    sums = np.zeros((kept.size, g.shape[1]), g.dtype)
    np.add.at(sums, group, g)
    return kept, sums
    # end of solution


def sparse_adam_step(p, m, v, rows, g, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    """Change the table `p` and its moments `m`, `v` in place, all (table rows, columns), at the named rows alone.

    m += (1 - beta1) * (g - m); v += (1 - beta2) * (g * g - v); then p moves by
    lr * sqrt(1 - beta2 ** step) / (1 - beta1 ** step) * m / (sqrt(v) + eps). step: 1 for the first one.
    """
    # solution
    rows, g = added_up(rows, g)
    m[rows] += (1 - beta1) * (g - m[rows])
    v[rows] += (1 - beta2) * (g * g - v[rows])
    size = lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
    p[rows] -= size * m[rows] / (np.sqrt(v[rows]) + eps)
    # end of solution
