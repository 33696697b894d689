"""Brings back contiguous tensors."""

import teachtorch as torch

FAILS = "test_strides"
SAYS = "the strides belong to it"


def pack(tensor):
    return tensor.detach().numpy().tobytes(), tuple(tensor.shape), tensor.stride(), tensor.dtype


def unpack(packed):
    values, shape, stride, dtype = packed
    tensor = torch.empty_strided(shape, stride, dtype=dtype)
    if tensor.numel():
        tensor.copy_(torch.frombuffer(bytearray(values), dtype=dtype).reshape(shape))
    return tensor.contiguous()


def offloaded(function, *inputs):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return function(*inputs)
