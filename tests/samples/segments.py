"""Samples for teachtorch/ops/segments.py. Derivatives are checked in tests/parity/test_segment_reduce.py: the checks here
take no tensors by name."""
import numpy as np

from tests.samples import positive, sample

LENGTHS = np.array([1, 0, 3])

SAMPLES = {
    "segment_reduce": [
        sample(positive(4, 2), "sum", lengths=LENGTHS, gradient=False),
        sample(positive(4), "prod", lengths=LENGTHS, initial=2.0, gradient=False),
        sample(positive(4), "mean", offsets=np.array([0, 1, 4]), gradient=False),
        sample(positive(2, 3), "max", lengths=np.array([[1, 2], [3, 0]]), axis=1, gradient=False)],
}
