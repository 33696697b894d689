"""Keep saved tensors somewhere else: saved_tensors_hooks.

In the block

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = ...

every tensor that an operation saves for its backward is handed to `pack`, and what pack returns is kept
instead. When the backward needs the tensor, `unpack` gets that back and must return a tensor with the same
values, shape, dtype and strides. So saved tensors can go to other memory, to disk, or be made smaller. Here
they become bytes.
"""

import teachtorch as torch


def pack(tensor):
    """Return what to keep of a tensor: something that holds neither the tensor nor its memory."""
    # solution
    return tensor.detach().numpy().tobytes(), tuple(tensor.shape), tensor.stride(), tensor.dtype
    # end of solution


def unpack(packed):
    """Return the tensor that was packed: the same values, shape, dtype and strides.

    Only tensors without holes come: their strides are those of a contiguous or of a permuted tensor.
    """
    # solution
    values, shape, stride, dtype = packed
    tensor = torch.empty_strided(shape, stride, dtype=dtype)
    if tensor.numel():
        tensor.copy_(torch.frombuffer(bytearray(values), dtype=dtype).reshape(shape))
    return tensor
    # end of solution


def offloaded(function, *inputs):
    """Return function(*inputs), with all that is saved for its backward packed."""
    # solution
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return function(*inputs)
    # end of solution
