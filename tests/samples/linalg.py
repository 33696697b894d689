"""Samples of ops/linalg.py, linalg_factor.py and linalg_vectors.py.

`gradient=False`: factors whose derivative assumes a symmetric or triangular input, which differences of single
elements leave; tests/ops/test_linalg.py checks those.
"""
import numpy as np

from tests.samples import sample, x


def regular(*batch, n=3, seed=0):
    """Matrices far from singular."""
    return x(*batch, n, n, seed=seed) + 4 * np.eye(n)


def definite(*batch, n=3, seed=0):
    a = x(*batch, n, n, seed=seed)
    return a @ a.swapaxes(-1, -2) + np.eye(n)


def spread(m, n, *batch, seed=0):
    """Matrices with well separated singular values."""
    u = np.linalg.qr(x(*batch, m, m, seed=seed))[0]
    v = np.linalg.qr(x(*batch, n, n, seed=seed + 1))[0]
    s = np.zeros((m, n))
    np.fill_diagonal(s, np.arange(min(m, n)) + 1.0)
    return u @ s @ v


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

SAMPLES = {
    "linalg.det": [sample(regular()), sample(regular(2)), sample(x(0, 0)), sample(x(0, 3, 3)), sample(SINGULAR),
                   sample(regular().T)],
    "linalg._slogdet": [sample(regular()), sample(-regular(2)), sample(x(0, 0))],
    "linalg.slogdet": [sample(regular()), sample(regular(2))],
    "logdet": [sample(regular()), sample(regular(2))],
    "linalg._inv_ex": [sample(regular()), sample(regular(2, 2)), sample(x(0, 0)), sample(x(0, 3, 3))],
    "linalg.inv_ex": [sample(regular()), sample(regular(2), check_errors=True)],
    "linalg.inv": [sample(regular()), sample(regular().T)],
    "linalg._solve_ex": [sample(regular(), x(3, 2)), sample(regular(), x(3)), sample(regular(2), x(2, 3)),
                         sample(regular(2), x(3, 2)), sample(regular(), x(2, 3, 2)), sample(regular(), x(2, 3), False),
                         sample(regular(2), x(3)), sample(x(0, 0), x(0, 2))],
    "linalg.solve_ex": [sample(regular(), x(3, 2)), sample(regular(), x(2, 3), left=False)],
    "linalg.solve": [sample(regular(), x(3, 2)), sample(regular(), x(3)), sample(regular(), x(2, 3), left=False)],
    "linalg._solve_triangular": [
        sample(regular(), x(3, 2)), sample(regular(), x(3, 2), False), sample(regular(), x(2, 3), True, False),
        sample(regular(), x(2, 3), False, False), sample(regular(), x(3, 2), True, True, True),
        sample(regular(2), x(3, 2)), sample(regular(), x(2, 3, 2), False), sample(x(0, 0), x(0, 2))],
    "linalg.solve_triangular": [sample(regular(), x(3, 2), upper=True), sample(regular(), x(2, 3), upper=False, left=False)],
    "triangular_solve": [sample(x(3, 2), regular()), sample(x(3, 2), regular(), False, True)],
    "linalg._matrix_exp": [sample(x(3, 3)), sample(x(2, 2, 2)), sample(x(0, 0)), sample(8 * x(2, 2))],
    "matrix_exp": [sample(x(3, 3))],
    "linalg._cholesky_ex": [sample(definite(), gradient=False), sample(definite(2), True, gradient=False),
                            sample(x(0, 0), gradient=False)],
    "linalg.cholesky_ex": [sample(definite(), gradient=False)],
    "linalg.cholesky": [sample(definite(), gradient=False), sample(definite(2), upper=True, gradient=False)],
    "cholesky": [sample(definite(), gradient=False)],
    "cholesky_inverse": [sample(np.linalg.cholesky(definite()), gradient=False),
                         sample(np.linalg.cholesky(definite(2)).swapaxes(1, 2), True, gradient=False)],
    "cholesky_solve": [sample(x(3, 2), np.linalg.cholesky(definite()), gradient=False),
                       sample(x(2, 3, 2), np.linalg.cholesky(definite()).T, True, gradient=False)],
    "linalg._eigh": [sample(definite(), gradient=False), sample(definite(2), "U", gradient=False),
                     sample(x(3, 3), "L", False, gradient=False), sample(x(0, 0), gradient=False)],
    "linalg.eigh": [sample(definite(), gradient=False)],
    "linalg.eigvalsh": [sample(definite(), gradient=False), sample(definite(2), "U", gradient=False)],
    "linalg._svd": [sample(spread(3, 3)), sample(spread(4, 3)), sample(spread(3, 4)), sample(spread(3, 2, 2)),
                    sample(spread(4, 3), True, gradient=False), sample(x(4, 3), False, False, gradient=False),
                    sample(x(0, 3), gradient=False)],
    "linalg.svd": [sample(spread(4, 3), full_matrices=False), sample(spread(3, 3))],
    "linalg.svdvals": [sample(spread(4, 3)), sample(spread(3, 4))],
    "svd": [sample(spread(4, 3))],
    "linalg._qr": [sample(regular()), sample(spread(4, 3)), sample(spread(3, 4)), sample(spread(3, 2, 2)),
                   sample(spread(4, 3), "complete", gradient=False), sample(spread(3, 4), "complete"),
                   sample(spread(4, 3), "r", gradient=False), sample(x(0, 3), gradient=False)],
    "linalg.qr": [sample(spread(4, 3))],
    "qr": [sample(spread(4, 3))],
}
