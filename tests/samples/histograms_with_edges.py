"""Samples for teachtorch/ops/histograms_with_edges.py."""
import numpy as np

from tests.samples import positive, sample, x

EDGES = [np.array([-1.5, 0.0, 1.0]), np.array([-1.0, -0.5, 0.5, 2.0])]

SAMPLES = {
    "histogram": [sample(x(20), 5, gradient=False), sample(x(3, 4), 4, range=(-1.0, 1.0), gradient=False),
                  sample(x(5), np.array([-2.0, 0.0, 1.0]), density=True, gradient=False)],
    "_histogramdd_bin_edges": [sample(x(9), 4), sample(x(9), 3, (0.0, 1.0), 1)],
    "_histogramdd_from_bin_tensors": [sample(x(9, 2), EDGES, gradient=False),
                                      sample(x(9, 2), EDGES, positive(9), True, gradient=False)],
    "histogramdd": [sample(x(9, 2), [2, 3], gradient=False), sample(x(4, 3, 2), EDGES, density=True, gradient=False)],
}
