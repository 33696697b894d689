"""Fake rules: what a result looks like, worked out without data.

A Fake has a shape, strides in elements, and a device. A rule takes Fakes and returns one; results are contiguous.
"""

from collections import namedtuple

Fake = namedtuple("Fake", "shape stride device")


def contiguous(shape, device):
    """Return the Fake of a contiguous tensor: the last dim has stride 1, a dim of size 0 counts as 1 for the others."""
    raise NotImplementedError


def common_device(*fakes):
    """Return the device of all. A 0-dim Fake on "cpu" goes with any device.

    RuntimeError "Expected all tensors to be on the same device" if two others differ.
    """
    raise NotImplementedError


def broadcast(a, b):
    """Return the broadcast shape of two shapes, a tuple. RuntimeError if two sizes differ and neither is 1."""
    raise NotImplementedError


def add(a, b):
    """Return the Fake of a + b."""
    raise NotImplementedError


def matmul(a, b):
    """Return the Fake of a @ b: both have at least 2 dims, those before the last two are broadcast.

    RuntimeError if the inner sizes differ.
    """
    raise NotImplementedError


def sum_dim(a, dim, keepdim=False):
    """Return the Fake of a.sum(dim, keepdim); dim may be negative."""
    raise NotImplementedError
