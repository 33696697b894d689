"""Leaves the hooks on."""

import teachtorch as torch

FAILS = "test_off"
SAYS = "later operations save as they always do"


def pack(tensor):
    return tensor.detach().numpy().tobytes(), tuple(tensor.shape), tensor.stride(), tensor.dtype


def unpack(packed):
    values, shape, stride, dtype = packed
    tensor = torch.empty_strided(shape, stride, dtype=dtype)
    if tensor.numel():
        tensor.copy_(torch.frombuffer(bytearray(values), dtype=dtype).reshape(shape))
    return tensor


def offloaded(function, *inputs):
    torch.autograd.graph.saved_tensors_hooks(pack, unpack).__enter__()
    return function(*inputs)
