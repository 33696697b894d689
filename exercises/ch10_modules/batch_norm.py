"""Batch norm: two kinds of statistics, two kinds of variance.

In training each channel is normalised with the mean and variance of this batch:

    y = (x - mean) / sqrt(variance + eps) * weight + bias      the variance divides by n: the biased one

and the module remembers them, for later:

    running = (1 - momentum) * running + momentum * batch      the variance divides by n - 1: the unbiased one

n is the number of values per channel: the batch times all places. num_batches counts the batches seen. If
momentum is None, the running values are the plain average of all batches so far. When the module evaluates,
it normalises with the running values and changes nothing. In training a single value per channel is a
ValueError: it has no spread.
"""

import numpy as np


class BatchNorm:
    """Batch norm of arrays (N, C) or (N, C, ...), float64.

    weight, bias, running_mean, running_var: arrays (C,). training: True until eval() was called.
    num_batches: an int.
    """

    def __init__(self, channels, eps=1e-5, momentum=0.1):
        self.eps, self.momentum, self.training = eps, momentum, True
        self.weight, self.bias = np.ones(channels), np.zeros(channels)
        self.running_mean, self.running_var = np.zeros(channels), np.ones(channels)
        self.num_batches = 0

    def eval(self):
        """From now on evaluate."""
        self.training = False

    def __call__(self, x):
        """Return the normalised array; in training, remember the statistics."""
        raise NotImplementedError
