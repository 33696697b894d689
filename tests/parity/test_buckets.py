"""How DistributedDataParallel puts gradients into buckets, against PyTorch's."""
import random

import pytest

torch = pytest.importorskip("torch")

import teachtorch
from teachtorch.nn.parallel.buckets import compute_bucket_assignment_by_size

DTYPES = ("float32", "float64", "float16")


def random_case(seed):
    """(sizes in elements with dtypes, limits in bytes, which are sparse, an order or none) that often meet a limit."""
    rng = random.Random(seed)
    has_order = rng.random() < 0.5
    dtypes = DTYPES[:1] if has_order else DTYPES  # several open buckets come last, in an order of PyTorch's hashing
    tensors = [(rng.choice((1, 2, 4, 5, 8)), rng.choice(dtypes)) for _ in range(rng.randint(1, 12))]
    limits = [rng.choice((8, 16, 32)) for _ in range(rng.randint(1, 3))]
    sparse = [rng.random() < 0.2 for _ in tensors] if rng.random() < 0.5 else []
    order = rng.sample(range(len(tensors)), len(tensors)) if has_order else []
    return tensors, limits, sparse, order


def tensors_of(library, described):
    return [library.empty(size, dtype=getattr(library, dtype)) for size, dtype in described]


@pytest.mark.parametrize("seed", range(40))
def test_buckets_are_pytorchs(seed):
    described, limits, sparse, order = random_case(seed)
    found = compute_bucket_assignment_by_size(tensors_of(teachtorch, described), limits, sparse, order)
    expected, _ = torch.distributed._compute_bucket_assignment_by_size(tensors_of(torch, described), limits, sparse,
                                                                       order)
    assert found == expected
