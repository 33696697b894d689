"""Samples for teachtorch/ops/segments.py."""
import numpy as np

from tests.samples import apart, positive, sample

LENGTHS = np.array([1, 0, 3])

SAMPLES = {
    "segment_reduce": [sample(apart(4, 2), kind, lengths=LENGTHS) for kind in ("sum", "max", "min")]
    + [sample(positive(4), "prod", lengths=LENGTHS, initial=2.0),
       sample(positive(4), "mean", offsets=np.array([0, 1, 4])),
       sample(positive(2, 3), "sum", lengths=np.array([[1, 2], [3, 0]]), axis=1)],
}
