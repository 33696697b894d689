"""Gradients of what gathers and scatters, against PyTorch: repeats add up, what was overwritten gets none."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402

LIBRARIES = (torch, teachtorch)
GENERATOR = np.random.default_rng(3)
A = GENERATOR.standard_normal((4, 5))
B = GENERATOR.standard_normal((3, 5))
REPEATS = np.array([0, 3, 0])
TABLE = GENERATOR.integers(0, 4, (3, 5))
MASK = GENERATOR.integers(0, 2, (4, 5)).astype(bool)
TIES = np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 2.0]])
FEW = np.array([[0, 0], [0, 0]])

CASES = {
    "index": lambda m, a, b, k: a[k],
    "index two": lambda m, a, b, k: a[k, k[:, None]],
    "index apart": lambda m, a, b, k: a[None][:, k, :, None][..., k * 0],
    "mask": lambda m, a, b, k: a[a.detach() > 0],
    "index_select": lambda m, a, b, k: a.index_select(0, k) * b,
    "setitem": lambda m, a, b, k: written(a, k[:2], b[:2]),
    "setitem slice": lambda m, a, b, k: written(a, slice(1, 4), b),
    "setitem mask": lambda m, a, b, k: written(a, a.detach() > 0, b.sum()),
    "index_put": lambda m, a, b, k: a.index_put((k,), b, accumulate=True),
    "index_put overwrites": lambda m, a, b, k: a.index_put((k[:2],), b[0]),
    "index_add": lambda m, a, b, k: a.index_add(0, k, b, alpha=-2),
    "index_copy": lambda m, a, b, k: a.index_copy(0, k[:2], b[:2]),
    "index_fill": lambda m, a, b, k: a.index_fill(0, k, b.sum()),
    "take": lambda m, a, b, k: a.take(k * 5 - 1),
    "put": lambda m, a, b, k: a.put(k * 5 - 1, b[:, 0], accumulate=True),
    "masked_fill": lambda m, a, b, k: a.masked_fill(a.detach() > 0, b[0, 0]),
    "masked_scatter": lambda m, a, b, k: a.masked_scatter(a.detach() > 0, b.expand(2, 3, 5)),
    "select_scatter": lambda m, a, b, k: a.select_scatter(b[0], 0, 2),
    "embedding": lambda m, a, b, k: m.nn.functional.embedding(k, a, padding_idx=3) * b,
    "embedding by frequency": lambda m, a, b, k: m.nn.functional.embedding(k, a, scale_grad_by_freq=True) * b,
}
TABLE_CASES = {
    "gather": lambda m, a, b, t: a.gather(0, t) * b,
    "gather along rows": lambda m, a, b, t: a.gather(1, t[:, :2]),
    "take_along_dim": lambda m, a, b, t: m.take_along_dim(a, t[:1], 0),
    "scatter": lambda m, a, b, t: a.scatter(0, t[:1], b[:1]),
    "scatter number": lambda m, a, b, t: a.scatter(0, t, 2.0),
    "scatter_add": lambda m, a, b, t: a.scatter_add(0, t, b),
    **{
        f"scatter_reduce {kind} {include}": lambda m, a, b, t, kind=kind, include=include: a.scatter_reduce(
            0, t, b, kind, include_self=include
        )
        for kind in ("sum", "prod", "mean", "amax", "amin")
        for include in (True, False)
    },
}


def written(a, index, value):
    copy = a.clone()
    copy[index] = value
    return copy


def gradients(m, case, arrays, index):
    """First derivatives of a weighted sum, and the derivatives of their squares' sum."""
    leaves = [m.from_numpy(array.copy()).requires_grad_() for array in arrays]
    result = case(m, *leaves, m.from_numpy(index.copy()))
    weights = m.from_numpy(np.random.default_rng(1).uniform(1, 2, tuple(result.shape)))
    first = m.autograd.grad((result * result * weights).sum(), leaves, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in first if g is not None)
    second = m.autograd.grad(total, leaves, allow_unused=True)
    return [None if g is None else g.detach().numpy() for g in (*first, *second)]


def compare(case, arrays, index):
    for theirs, ours in zip(*[gradients(m, case, arrays, index) for m in LIBRARIES]):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_positions(name):
    compare(CASES[name], (A, B), REPEATS)


@pytest.mark.parametrize("name", TABLE_CASES)
def test_gradients_by_table(name):
    compare(TABLE_CASES[name], (A, B), TABLE)


@pytest.mark.parametrize("kind", ["amax", "amin"])
def test_ties_share_the_gradient(kind):
    def case(m, a, b, t):
        return a.scatter_reduce(0, t, b, kind)

    compare(case, (TIES, TIES[:2]), FEW)


@pytest.mark.parametrize("include", [True, False])
def test_products_with_zeros(include):
    def case(m, a, b, t):
        return a.scatter_reduce(0, t, b, "prod", include_self=include)

    arrays = [TIES + 1, np.array([[0.0, 3.0], [2.0, 5.0]])]
    leaves = []
    for m in LIBRARIES:
        leaves.append([m.from_numpy(array.copy()).requires_grad_() for array in arrays])
        case(m, *leaves[-1], m.from_numpy(FEW.copy())).sum().backward()
    for theirs, ours in zip(*leaves):
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy())


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 3])
def test_bags(mode, padding_idx):
    grads = []
    for m in LIBRARIES:
        weight = m.from_numpy(A.copy()).requires_grad_()
        bags = m.nn.functional.embedding_bag(
            m.tensor([0, 3, 0, 1]), weight, m.tensor([0, 2, 2]), mode=mode, padding_idx=padding_idx
        )
        (bags * m.from_numpy(B)).sum().backward()
        grads.append((bags.tolist(), weight.grad.numpy()))
    np.testing.assert_allclose(grads[1][0], grads[0][0])
    np.testing.assert_allclose(grads[1][1], grads[0][1])


@pytest.mark.parametrize("columns", [1, 3, 64])
def test_large_embedding_gradients_add_up(columns):
    index = GENERATOR.integers(0, 50, 3000)
    grads = []
    for m in LIBRARIES:
        weight = m.zeros(50, columns, requires_grad=True)
        m.nn.functional.embedding(m.from_numpy(index), weight).sum().backward()
        grads.append(weight.grad.tolist())
    assert grads[0] == grads[1] == [[float(n)] * columns for n in np.bincount(index, minlength=50)]


def test_scatter_add_with_a_larger_source_leaves_the_rest_without_gradient():
    source = teachtorch.ones(3, 4, requires_grad=True)
    out = teachtorch.zeros(2, 3).scatter_add(0, teachtorch.tensor([[0, 1, 1]]), source)
    (out * teachtorch.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]])).sum().backward()
    assert source.grad.tolist() == [[2, 6, 7, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
