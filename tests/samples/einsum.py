"""Samples of ops/einsum.py."""
import numpy as np

from tests.samples import sample, x


def case(equation, *operands):
    return sample(equation, list(operands))


SAMPLES = {
    "einsum": [
        case("ij,jk->ik", x(3, 4), x(4, 2)), case("ij,jk", x(3, 4), x(4, 2)), case("i,j->ij", x(3), x(4)),
        case("i,i->", x(3), x(3, seed=1)), case("ij->ji", x(3, 4)), case("ij->", x(3, 4)),
        case("ii->i", x(3, 3)),
        case("ii", x(3, 3)), case("iij->ji", x(2, 2, 4)), case("bij,bjk->bik", x(2, 3, 4), x(2, 4, 2)),
        case("bij,bil->bjl", x(1, 3, 2), x(5, 3, 4)), case("i...k,k...j->i...j", x(2, 1, 3), x(3, 2)),
        case("...ij,...jk->...ik", x(2, 3, 4), x(4, 2)), case("bn,anm,bm->ba", x(2, 3), x(5, 3, 4), x(2, 4)),
        case("ij,jk,kl->il", x(2, 3), x(3, 4), x(4, 2)), case("ij,k->k", x(2, 3), x(4)),
        case("...->...", x(2, 3)),
        case("iiij,j->i", x(2, 2, 2, 3), x(3)), case("ij,jk->ik", x(3, 0), x(0, 2)), case(",i->i", x(), x(3)),
        case("ij,jk->ik", x(4, 3).T, np.swapaxes(x(2, 4), 0, 1)), case("i->", x(0)),
        case("aB,Bc", x(2, 3), x(3, 2)),
        case("b...i,...ij->b...j", x(2, 4, 3), x(4, 3, 2)), case("ij,ij->j", x(3, 4), x(1, 4))],
    "tensordot": [sample(x(2, 3, 4), x(3, 4, 5)), sample(x(2, 3), x(3, 4), 1), sample(x(2, 3), x(4), 0),
                  sample(x(2, 3, 4), x(5, 3, 2), ([1, 0], [1, 2])), sample(x(2, 3), x(4, 3), ([-1], [1])),
                  sample(x(2, 1), x(3, 4), ([1], [0])), sample(x(0, 3), x(3, 2), 1)],
    "kron": [sample(x(2, 3), x(4, 2)), sample(x(2), x(3, 2)), sample(x(), x(3)), sample(x(2, 1, 3), x(2, 2)),
             sample(x(0, 2), x(3, 2))],
    "bilinear": [sample(x(4, 3), x(4, 2), x(5, 3, 2), x(5)), sample(x(3), x(2), x(5, 3, 2)),
                 sample(x(2, 4, 3), x(2, 4, 2), x(5, 3, 2), x(5)), sample(x(0, 3), x(0, 2), x(5, 3, 2))],
}
