"""Samples for teachtorch/ops/convert.py."""
import numpy as np

import teachtorch as torch
from tests.samples import ints, sample, x

T = x(4, 3).T

SAMPLES = {
    "clone": [sample(x(2, 3)), sample(T), sample(x()), sample(x(0, 2)), sample(x(2, 3, 4)[:, ::2]),
              sample(x(1, 2, 3, 4), memory_format=torch.channels_last),
              sample(T, memory_format=torch.contiguous_format)],
    "contiguous": [sample(x(2, 3)), sample(T), sample(x(1, 2, 3, 4), memory_format=torch.channels_last)],
    "copy_": [sample(x(2, 3), x(3)), sample(x(2, 3), x()), sample(x(3, 4), T), sample(x(2, 0), x(2, 0))],
    "zero_": [sample(x(2, 3)), sample(x()), sample(x(0))],
    "fill_": [sample(x(2, 3), 2.5), sample(x(2, 3), x()), sample(x(), 1)],
    "fill": [sample(x(2, 3), 2.5), sample(T, x()), sample(x(0), 1)],
    "_to_copy": [sample(x(2, 3), torch.float64, None, torch.preserve_format),
                 sample(T, torch.float64, None, torch.contiguous_format),
                 sample(ints(2, 3), torch.float64, None, torch.preserve_format),
                 sample(x(2, 3), torch.int32, None, torch.preserve_format)],
    "to": [sample(x(2, 3), torch.float64), sample(x(2, 3), "cpu", copy=True),
           sample(np.arange(3), torch.float64),
           sample(x(1, 2, 3, 4), memory_format=torch.channels_last)],
}
