"""Keeps a NumPy array that looks into the tensor's memory."""

import teachtorch as torch

FAILS = "test_lets_go"
SAYS = "pack must copy"


def pack(tensor):
    return tensor.detach().numpy(), tensor.stride()


def unpack(packed):
    values, stride = packed
    kept = torch.from_numpy(values)
    tensor = torch.empty_strided(kept.shape, stride, dtype=kept.dtype).copy_(kept)
    return tensor


def offloaded(function, *inputs):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return function(*inputs)
