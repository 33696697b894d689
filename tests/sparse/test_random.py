"""Random sparse tensors: many sizes, hybrid ones, repeated places, dtypes; PyTorch is the oracle."""
import numpy as np
import pytest
import torch as pytorch

import teachtorch
from tests.sparse.cases import described

DTYPES = ["float32", "float64", "int64", "int32"]         # PyTorch adds no sparse halves on the CPU


def random_parts(generator, shape, dense_dims, count):
    sparse_dims = len(shape) - dense_dims
    indices = np.array([generator.integers(0, max(n, 1), count) for n in shape[:sparse_dims]]).reshape(
        sparse_dims, count
    )
    values = generator.integers(-8, 9, (count, *shape[sparse_dims:])) / 2
    return indices, values


def random_case(seed):
    """(shape, dense dims, dtype, the parts of two tensors, whether each is coalesced)."""
    generator = np.random.default_rng(seed)
    shape = tuple(generator.integers(1, 6, generator.integers(1, 5)).tolist())
    dense_dims = int(generator.integers(0, len(shape)))
    counts = generator.integers(0, 12, 2)
    parts = [random_parts(generator, shape, dense_dims, int(count)) for count in counts]
    return shape, dense_dims, DTYPES[seed % len(DTYPES)], parts, generator.integers(0, 2, 2).astype(bool), generator


def tensors(torch, shape, dtype, parts, coalesced):
    made = []
    for (indices, values), wanted in zip(parts, coalesced):
        t = torch.sparse_coo_tensor(
            torch.tensor(indices.tolist(), dtype=torch.int64).reshape(indices.shape),
            torch.tensor(values.tolist()).reshape(values.shape).to(getattr(torch, dtype)),
            shape,
        )
        made.append(t.coalesce() if wanted else t)
    return made


def same(ours, theirs):
    assert described(ours) == described(theirs)


@pytest.mark.parametrize("seed", range(30))
def test_two_tensors(seed):
    shape, dense_dims, dtype, parts, coalesced, generator = random_case(seed)
    (a, b), (pa, pb) = [tensors(torch, shape, dtype, parts, coalesced) for torch in (teachtorch, pytorch)]
    dense = generator.integers(-4, 5, shape)
    d, pd = [torch.tensor(dense.tolist()).reshape(shape).to(getattr(torch, dtype)) for torch in (teachtorch, pytorch)]
    sparse_dims, dim = len(shape) - dense_dims, int(generator.integers(0, len(shape)))
    same(a.coalesce(), pa.coalesce())
    same(a.to_dense(), pa.to_dense())
    same(a + b, pa + pb)
    same(teachtorch.sub(a, b, alpha=2), pytorch.sub(pa, pb, alpha=2))
    same(d + a, pd + pa)
    same((a * b).to_dense(), (pa * pb).to_dense())                  # PyTorch keeps some zeros
    same(a * d, pa * pd)
    same(a * 3, pa * 3)
    same(d.sparse_mask(a), pd.sparse_mask(pa))
    same(a.coalesce().sparse_mask(b), pa.coalesce().sparse_mask(pb))
    same(d.to_sparse(sparse_dims), pd.to_sparse(sparse_dims))
    same(a.sum(dim), pa.sum(dim))
    same(a.select(dim, 0), pa.select(dim, 0))
    same(teachtorch.cat([a, b], dim), pytorch.cat([pa, pb], dim))
    picks = generator.integers(0, shape[dim], 3).tolist()
    picked, ppicked = a.index_select(dim, teachtorch.tensor(picks)), pa.index_select(dim, pytorch.tensor(picks))
    same(picked.coalesce(), ppicked.coalesce())                     # PyTorch's order depends on the sizes
    assert repr(a) == repr(pa)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("seed", range(10))
def test_products(seed):
    generator = np.random.default_rng(1000 + seed)
    n, m, p = generator.integers(1, 9, 3).tolist()
    parts = [random_parts(generator, (n, m), 0, int(generator.integers(0, 20))),
             random_parts(generator, (m, p), 0, int(generator.integers(0, 20)))]
    dense = generator.integers(-4, 5, (m, p)).tolist()
    found = []
    for torch in (teachtorch, pytorch):
        a, = tensors(torch, (n, m), "float32", parts[:1], [seed % 2])
        b, = tensors(torch, (m, p), "float32", parts[1:], [seed % 3])
        d = torch.tensor(dense, dtype=torch.float32)
        found.append([a @ d, torch.sparse.mm(a, d), torch.sparse.mm(d.t(), a.t()), a @ d[:, 0], torch.sparse.mm(a, b),
                      torch.addmm(torch.ones(p), a, d, beta=3, alpha=2)])
    for ours, theirs in zip(*found):
        same(ours, theirs)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_many_entries_take_the_compiled_loops():
    generator = np.random.default_rng(5)
    parts = [random_parts(generator, (300, 200), 0, 20_000) for _ in range(2)]
    matrix = generator.integers(-3, 4, (200, 7)).tolist()
    found = []
    for torch in (teachtorch, pytorch):
        a, b = tensors(torch, (300, 200), "float64", parts, [False, False])
        found.append([(a + b).coalesce(), a.coalesce() + b.coalesce(), a @ torch.tensor(matrix, dtype=torch.float64),
                      a.to_dense(), (a + b)._indices()])
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(np.asarray(ours.to_dense()), np.asarray(theirs.to_dense()))
        assert ours.is_sparse == theirs.is_sparse and (not ours.is_sparse or ours._nnz() == theirs._nnz())


def test_an_index_outside_is_refused_where_it_is_used():
    x = teachtorch.sparse_coo_tensor([[0, 5]], [1., 2.], (3,))
    for use in (x.to_dense, x.coalesce, lambda: teachtorch.ones(3) + x, lambda: x * teachtorch.ones(3)):
        with pytest.raises(RuntimeError, match="for dim 0, size is 3 but found index 5"):
            use()
