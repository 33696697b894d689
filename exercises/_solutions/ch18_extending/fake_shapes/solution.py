"""Fake rules: what a result looks like, worked out without data.

A Fake has a shape, strides in elements, and a device. A rule takes Fakes and returns one; results are contiguous.
"""

from collections import namedtuple

Fake = namedtuple("Fake", "shape stride device")


def contiguous(shape, device):
    """Return the Fake of a contiguous tensor: the last dim has stride 1, a dim of size 0 counts as 1 for the others."""
    # solution
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return Fake(tuple(shape), tuple(strides), device)
    # end of solution


def common_device(*fakes):
    """Return the device of all. A 0-dim Fake on "cpu" goes with any device.

    RuntimeError "Expected all tensors to be on the same device" if two others differ.
    """
    # solution
    devices = {f.device for f in fakes if f.shape or f.device != "cpu"} or {"cpu"}
    if len(devices) > 1:
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {sorted(devices)}")
    return devices.pop()
    # end of solution


def broadcast(a, b):
    """Return the broadcast shape of two shapes, a tuple. RuntimeError if two sizes differ and neither is 1."""
    # solution
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"sizes {x} and {y} do not match")
    return tuple(y if x == 1 else x for x, y in zip(a, b))
    # end of solution


def add(a, b):
    """Return the Fake of a + b."""
    # solution
    return contiguous(broadcast(a.shape, b.shape), common_device(a, b))
    # end of solution


def matmul(a, b):
    """Return the Fake of a @ b: both have at least 2 dims, those before the last two are broadcast.

    RuntimeError if the inner sizes differ.
    """
    # solution
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"{a.shape} and {b.shape} cannot be multiplied")
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return contiguous((*batch, a.shape[-2], b.shape[-1]), common_device(a, b))
    # end of solution


def sum_dim(a, dim, keepdim=False):
    """Return the Fake of a.sum(dim, keepdim); dim may be negative."""
    # solution
    dim %= len(a.shape)
    middle = (1,) if keepdim else ()
    return contiguous(a.shape[:dim] + middle + a.shape[dim + 1 :], a.device)
    # end of solution
