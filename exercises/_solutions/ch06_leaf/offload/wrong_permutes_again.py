"""Permutes a second time instead of undoing the permutation."""

import teachtorch as torch

FAILS = "test_strides"
SAYS = "by its inverse"


def pack(tensor):
    order = sorted(range(tensor.dim()), key=lambda dim: -tensor.stride(dim))
    contiguous = tensor.detach().permute(order)
    return contiguous.numpy().tobytes(), tuple(contiguous.shape), order, tensor.dtype


def unpack(packed):
    values, shape, order, dtype = packed
    return torch.frombuffer(bytearray(values), dtype=dtype).reshape(shape).permute(order)


def offloaded(function, *inputs):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return function(*inputs)
