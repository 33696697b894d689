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
        # solution
        dims = (0, *range(2, x.ndim))
        mean, variance = self.running_mean, self.running_var
        if self.training:
            n = x.size // x.shape[1]
            if n == 1:
                raise ValueError("more than one value per channel is needed in training")
            mean, variance = x.mean(dims), x.var(dims)
            _remember(self, mean, variance * n / (n - 1))
        shape = (1, -1) + (1,) * (x.ndim - 2)
        normal = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + self.eps)
        return normal * self.weight.reshape(shape) + self.bias.reshape(shape)
        # end of solution


# solution
def _remember(norm, mean, variance):
    norm.num_batches += 1
    share = 1 / norm.num_batches if norm.momentum is None else norm.momentum
    norm.running_mean = (1 - share) * norm.running_mean + share * mean
    norm.running_var = (1 - share) * norm.running_var + share * variance


# end of solution
