"""Multiplies strides with sizes of 0."""

from collections import namedtuple

FAILS = "test_contiguous"
SAYS = "shape (2, 0, 3)"


Fake = namedtuple("Fake", "shape stride device")


def contiguous(shape, device):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return Fake(tuple(shape), tuple(strides), device)


def common_device(*fakes):
    devices = {f.device for f in fakes if f.shape or f.device != "cpu"} or {"cpu"}
    if len(devices) > 1:
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {sorted(devices)}")
    return devices.pop()


def broadcast(a, b):
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"sizes {x} and {y} do not match")
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def add(a, b):
    return contiguous(broadcast(a.shape, b.shape), common_device(a, b))


def matmul(a, b):
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"{a.shape} and {b.shape} cannot be multiplied")
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return contiguous((*batch, a.shape[-2], b.shape[-1]), common_device(a, b))


def sum_dim(a, dim, keepdim=False):
    dim %= len(a.shape)
    middle = (1,) if keepdim else ()
    return contiguous(a.shape[:dim] + middle + a.shape[dim + 1 :], a.device)
