"""Samples of ops/linalg.py, linalg_factor.py and linalg_vectors.py.

`gradient=False`: factors whose derivative assumes a symmetric or triangular input, which differences of
single elements leave; tests/parity/test_linalg.py checks those.
"""
import numpy as np

from tests.samples import apart, ints, positive, sample, x


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


PIVOTS = np.array([2, 3, 3], np.int32)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

SAMPLES = {
    "geqrf": [sample(x(4, 3), gradient=False), sample(x(2, 3, 4), gradient=False), sample(x(0, 3), gradient=False)],
    "ormqr": [sample(x(3, 3), x(3), x(3, 2), gradient=False), sample(x(4, 2), x(2), x(3, 4), False, True, gradient=False)],
    "linalg.det": [sample(regular()), sample(regular(2)), sample(x(0, 0)), sample(x(0, 3, 3)),
                   sample(SINGULAR),
                   sample(regular().T)],
    "linalg._slogdet": [sample(regular()), sample(-regular(2)), sample(x(0, 0))],
    "linalg.slogdet": [sample(regular()), sample(regular(2))],
    "logdet": [sample(regular()), sample(regular(2))],
    "linalg._inv_ex": [sample(regular()), sample(regular(2, 2)), sample(x(0, 0)), sample(x(0, 3, 3))],
    "linalg.inv_ex": [sample(regular()), sample(regular(2), check_errors=True)],
    "linalg.inv": [sample(regular()), sample(regular().T)],
    "linalg._solve_ex": [sample(regular(), x(3, 2)), sample(regular(), x(3)), sample(regular(2), x(2, 3)),
                         sample(regular(2), x(3, 2)), sample(regular(), x(2, 3, 2)),
                         sample(regular(), x(2, 3), False),
                         sample(regular(2), x(3)), sample(x(0, 0), x(0, 2))],
    "linalg.solve_ex": [sample(regular(), x(3, 2)), sample(regular(), x(2, 3), left=False)],
    "linalg.solve": [sample(regular(), x(3, 2)), sample(regular(), x(3)),
                     sample(regular(), x(2, 3), left=False)],
    "linalg._solve_triangular": [
        sample(regular(), x(3, 2)), sample(regular(), x(3, 2), False),
        sample(regular(), x(2, 3), True, False),
        sample(regular(), x(2, 3), False, False), sample(regular(), x(3, 2), True, True, True),
        sample(regular(2), x(3, 2)), sample(regular(), x(2, 3, 2), False), sample(x(0, 0), x(0, 2))],
    "linalg.solve_triangular": [sample(regular(), x(3, 2), upper=True),
                                sample(regular(), x(2, 3), upper=False, left=False)],
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
    "linalg._lu": [sample(regular()), sample(spread(4, 3)), sample(spread(3, 4)), sample(regular(2)),
                   sample(x(0, 2))],
    "linalg.lu": [sample(regular()), sample(spread(4, 3))],
    "linalg._lu_factor_ex": [sample(regular()), sample(spread(4, 3)), sample(spread(3, 4)),
                             sample(regular(2)),
                             sample(x(2, 0, 0))],
    "linalg.lu_factor_ex": [sample(regular(), check_errors=True)],
    "linalg.lu_factor": [sample(regular())],
    "lu_unpack_": [sample(regular(), PIVOTS), sample(spread(4, 3), PIVOTS), sample(spread(3, 4), PIVOTS)],
    "linalg._lu_solve": [
        sample(regular(), PIVOTS, x(3, 2)), sample(regular(), PIVOTS, x(2, 3), False),
        sample(regular(), PIVOTS, x(3, 2), True, True), sample(regular(), PIVOTS, x(2, 3), False, True),
        sample(regular(), PIVOTS, x(2, 3, 2)), sample(x(0, 0), PIVOTS[:0], x(0, 2))],
    "linalg.lu_solve": [sample(regular(), PIVOTS, x(3, 2)), sample(regular(), PIVOTS, x(2, 3), left=False)],
    "lu_solve": [sample(x(3, 2), regular(), PIVOTS)],
    "linalg._ldl_factor_ex": [sample(x(3, 3), gradient=False), sample(x(2, 4, 4), gradient=False),
                              sample(x(0, 0), gradient=False)],
    "linalg.ldl_factor_ex": [sample(x(3, 3), check_errors=True, gradient=False)],
    "linalg.ldl_factor": [sample(x(3, 3), gradient=False)],
    "linalg._ldl_solve": [sample(regular(), PIVOTS, x(3, 2), gradient=False),
                          sample(regular(2), np.array([[1, -3, -3]] * 2, np.int32), x(3, 2), gradient=False)],
    "linalg.ldl_solve": [sample(regular(), PIVOTS, x(2, 3, 2), gradient=False)],
    "orgqr": [sample(spread(4, 3), np.array([0.3, 0.5, 0.7]))],
    "linalg._pinv": [sample(spread(4, 3), 0.0, 1e-9), sample(spread(3, 4, 2), 0.0, 1e-9),
                     sample(x(0, 3), 0.0, 0.0),
                     sample(definite(), 0.0, 1e-9, True, gradient=False)],
    "linalg.pinv": [sample(spread(4, 3)), sample(spread(3, 4), 1e-6),
                    sample(regular(), rtol=1e-6, atol=1e-7)],
    "linalg._lstsq": [sample(spread(4, 3), x(4, 2)), sample(spread(3, 4), x(3, 2)),
                      sample(spread(4, 3), x(4)),
                      sample(spread(4, 3), x(4, 2), None, "gels"),
                      sample(spread(4, 3, 2), x(2, 4, 1), None, "gelsd", gradient=False)],
    "linalg.lstsq": [sample(spread(4, 3), x(4, 2)), sample(spread(4, 3), x(4, 2), driver="gels")],
    "linalg.matrix_norm": [sample(spread(4, 3), order) for order in ("fro", "nuc", 2, -2)]
        + [sample(apart(4, 3), order) for order in (1, -1, float("inf"), float("-inf"))]
        + [sample(apart(4, 2, 3), 1, (0, -1), True), sample(spread(3, 2, 4), "nuc", (1, 2), True)],
    "linalg.norm": [sample(x(3, 4)), sample(x(4), 3), sample(spread(3, 4), 2), sample(x(3, 4), 2, 1),
                    sample(x(2, 3, 4), dim=0)],
    "linalg.cond": [sample(spread(4, 3)), sample(regular(), "fro"), sample(spread(3, 3), -2)],
    "linalg.matrix_rank": [sample(spread(4, 3)), sample(SINGULAR), sample(SINGULAR, hermitian=True),
                           sample(x(3, 3), 0.1),
                           sample(x(2, 0, 3))],
    "linalg.matrix_power": [sample(regular(), n) for n in (0, 1, 2, 3, 5, 6, -1, -2)]
    + [sample(ints(3, 3), 4)],
    "linalg.multi_dot": [sample([x(2, 3), x(3, 4)]), sample([x(2, 3), x(3, 4), x(4, 5), x(5, 2)]),
                         sample([x(3), x(3, 4), x(4)]), sample([x(3), x(3, 4)]), sample([x(2, 0), x(0, 3)])],
    "linalg.tensorinv": [sample(regular(n=6).reshape(2, 3, 6)), sample(regular(n=6).reshape(6, 3, 2), 1)],
    "linalg.tensorsolve": [sample(regular(n=6).reshape(2, 3, 6), x(2, 3)),
                           sample(np.moveaxis(regular(n=6).reshape(2, 3, 6), 2, 0), x(2, 3), (0,))],
    "linalg.diagonal": [sample(x(2, 3, 4)), sample(x(3, 4, 2), offset=1, dim1=0, dim2=1)],
    "trace": [sample(x(3, 3)), sample(x(3, 4)), sample(x(0, 2)), sample(ints(3, 3))],
    "linalg.cross": [sample(x(3), x(3, seed=1)), sample(x(2, 3), x(1, 3)),
                     sample(x(3, 4), x(3, 4, seed=1), dim=0),
                     sample(x(0, 3), x(0, 3)), sample(ints(3), ints(3, seed=1))],
    "cross": [sample(x(3), x(3, seed=1)), sample(x(2, 3, 3), x(2, 3, 3, seed=1)),
              sample(x(2, 3), x(2, 3, seed=1), 1)],
    "linalg.vecdot": [sample(x(3), x(3, seed=1)), sample(x(2, 3), x(3)), sample(x(2, 3), x(2, 1), dim=0)],
    "linalg.vander": [sample(x(3)), sample(x(2, 3), N=4), sample(x(), N=3)],
    "linalg.householder_product": [sample(x(4, 3), positive(3)), sample(x(2, 3, 3), positive(2, 2)),
                                   sample(x(3, 2), positive(0)), sample(x(0, 0), x(0))],
    "cdist_": [sample(x(3, 4), x(2, 4, seed=1), p) for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))]
        + [sample(x(3, 4), x(2, 4, seed=1), 2.0, True), sample(x(2, 1, 3, 4), x(5, 2, 4)),
           sample(x(0, 4), x(2, 4))],
    "pdist": [sample(x(4, 3), p) for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))],
    "cdist": [sample(x(3, 4), x(2, 4, seed=1)), sample(x(30, 2), x(3, 2, seed=1))],
}
