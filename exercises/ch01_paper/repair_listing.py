"""Listing 1 of the paper, repaired.

The paper shows a layer and a network as ordinary classes. As printed, the network cannot run:

    t1 = self.conv(x)               # (N, channels, 26, 26) for pictures of 28 by 28
    t2 = nn.functional.relu(t1)
    t3 = self.fc(t1)                # t2 is never used, and fc takes a matrix, one row a picture
    return nn.functional.softmax(t3)    # over which dimension?

Repair it. Between convolution and linear layer, average each channel over all its positions: that gives one
row of `channels` numbers for each picture, whatever its size, and every pixel has a say.
"""

import teachtorch as torch
from teachtorch import nn


class Conv(nn.Module):
    """A convolution with windows of 3 by 3 over pictures of one channel. It is complete."""

    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 3, 3) / 3)
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, images):
        """(N, 1, H, W) -> (N, channels, H - 2, W - 2)."""
        windows = images[:, 0].unfold(1, 3, 1).unfold(2, 3, 1)
        return torch.einsum("nhwij,cij->nchw", windows, self.weight) + self.bias[:, None, None]


class LinearLayer(nn.Module):
    """A linear layer: `x @ weight + bias`."""

    def __init__(self, in_size, out_size):
        """Make the parameters `weight` of shape (in_size, out_size), random, and `bias` (out_size), zeros."""
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """(N, in_size) -> (N, out_size)."""
        raise NotImplementedError


class FullBasicModel(nn.Module):
    """Convolution, relu, average, linear layer, softmax: the probabilities of ten classes."""

    def __init__(self, channels=128):
        super().__init__()
        self.conv = Conv(channels)
        self.fc = LinearLayer(channels, 10)

    def forward(self, images):
        """(N, 1, H, W) -> (N, 10): a row for each picture, whose numbers sum to 1."""
        raise NotImplementedError
