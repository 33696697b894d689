"""Samples for teachtorch/ops/measures.py."""
from tests.samples import sample, x

SAMPLES = {
    "norm_except_dim": [sample(x(2, 3, 4)), sample(x(2, 3), 2, 1), sample(x(2, 3), 3, -1)],
    "dist": [sample(x(3, 4), x(3, 4, seed=1)), sample(x(2, 3), x(3, seed=1), 3.0), sample(x(4), x(4, seed=1), 1.5)],
    "renorm": [sample(x(3, 4), 2, 0, 1.0), sample(x(2, 3, 2), 3, -1, 0.5), sample(x(2, 3), 1, 1, 100.0)],
    "cosine_similarity": [sample(x(3, 4), x(3, 4, seed=1)), sample(x(2, 3, 4), x(3, 1, seed=1), 0, 1e-6)],
    "pairwise_distance": [sample(x(3, 4), x(3, 4, seed=1)), sample(x(3, 4), x(4, seed=1), 1.0, keepdim=True)],
}
