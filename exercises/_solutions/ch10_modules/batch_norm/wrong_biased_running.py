"""Remembers the biased variance."""

FAILS = "test_running_var"
SAYS = "divides by n - 1"


import numpy as np


class BatchNorm:

    def __init__(self, channels, eps=1e-05, momentum=0.1):
        self.eps, self.momentum, self.training = (eps, momentum, True)
        self.weight, self.bias = (np.ones(channels), np.zeros(channels))
        self.running_mean, self.running_var = (np.zeros(channels), np.ones(channels))
        self.num_batches = 0

    def eval(self):
        self.training = False

    def __call__(self, x):
        dims = (0, *range(2, x.ndim))
        mean, variance = (self.running_mean, self.running_var)
        if self.training:
            n = x.size // x.shape[1]
            if n == 1:
                raise ValueError('more than one value per channel is needed in training')
            mean, variance = (x.mean(dims), x.var(dims))
            _remember(self, mean, variance)
        shape = (1, -1) + (1,) * (x.ndim - 2)
        normal = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + self.eps)
        return normal * self.weight.reshape(shape) + self.bias.reshape(shape)


def _remember(norm, mean, variance):
    norm.num_batches += 1
    share = 1 / norm.num_batches if norm.momentum is None else norm.momentum
    norm.running_mean = (1 - share) * norm.running_mean + share * mean
    norm.running_var = (1 - share) * norm.running_var + share * variance
