"""Tensors in safetensors files, by the `safetensors` package: names, dtypes, shapes and bytes, and nothing to run.

The functions are those of `safetensors.torch`, which knows real PyTorch's tensors only; either reads what the other
wrote. The package comes with the extra: pip install 'teachtorch[safetensors]'.
https://huggingface.co/docs/safetensors
"""
import math
import os

import numpy as np

from ..core import dtype as dt
from ..tensor import Tensor, array_of, from_array

TO_INSTALL = "safetensors is not installed: pip install 'teachtorch[safetensors]'"
CODES = {"BOOL": dt.bool, "U8": dt.uint8, "I8": dt.int8, "I16": dt.int16, "I32": dt.int32, "I64": dt.int64,
         "F16": dt.float16, "BF16": dt.bfloat16, "F32": dt.float32, "F64": dt.float64}


def package():
    """The package, with its functions for arrays. ImportError with what to install if it is not there."""
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(TO_INSTALL) from error
    return safetensors


# ---- saving -------------------------------------------------------------------------------------------------------

def save(tensors, metadata=None):
    """The bytes of a file with `tensors`, {name: tensor}, and `metadata`, {str: str}.

    ValueError for what is no dict of tensors or not contiguous, RuntimeError for tensors that share memory.
    """
    check(tensors)
    arrays = {name: array_of(t.detach()) for name, t in tensors.items()}
    return package().numpy.save(arrays, metadata)


def save_file(tensors, filename, metadata=None):
    """Write the same to a path; a file that is there is replaced when all is written."""
    from . import replacing

    content = save(tensors, metadata)
    with replacing(os.fspath(filename)) as file:
        file.write(content)


def check(tensors):
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(t)}")
    sharing = [group for group in sharing_names(tensors) if len(group) > 1]
    if sharing:
        raise RuntimeError(f"Some tensors share memory, this will lead to duplicate memory on disk and potential "
                           f"differences when loading them again: {sharing}. A potential way to correctly save your "
                           "model is to use `save_model`.")
    for name, t in tensors.items():
        if not t.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either "
                "means you are trying to save tensors which are reference of each other in which case it's "
                "recommended to save only the full tensors, and reslice at load time, or simply call "
                "`.contiguous()` on your tensor to pack it before saving."
            )


def sharing_names(tensors):
    """The names, in sets, of tensors whose bytes overlap."""
    groups = []
    for name, t in sorted(tensors.items(), key=lambda item: item[1].data_ptr() if item[1].numel() else 0):
        start, end = extent(t)
        if groups and t.numel() and start < groups[-1][1]:
            groups[-1][0].add(name)
            groups[-1][1] = max(end, groups[-1][1])
        else:
            groups.append([{name}, end])
    return [group for group, _ in groups]


def extent(t):
    """The addresses of a tensor's first byte and of the one after its last."""
    if not t.numel():
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(t.shape, t.stride()))
    return t.data_ptr(), t.data_ptr() + (last + 1) * t.element_size()


# ---- loading ------------------------------------------------------------------------------------------------------

def load(data):
    """{name: tensor} of the bytes of a file. The package's SafetensorError for damaged ones."""
    return {name: as_tensor(entry) for name, entry in package().deserialize(data)}


def load_file(filename, device="cpu"):
    """{name: tensor} of a file. FileNotFoundError, or SafetensorError for a damaged one."""
    with open(filename, "rb") as file:
        tensors = load(file.read())
    return {name: t.to(device) for name, t in tensors.items()}


def as_tensor(entry):
    code, shape = entry["dtype"], entry["shape"]
    if code not in CODES:
        raise RuntimeError(f"teachtorch has no dtype for safetensors' {code}")
    return from_array(np.frombuffer(bytearray(entry["data"]), CODES[code].numpy, math.prod(shape)).reshape(shape))


# ---- modules ------------------------------------------------------------------------------------------------------

def save_model(model, filename, metadata=None):
    """Write a module's state; of parameters that share memory one is kept, the metadata say in whose place."""
    state, metadata = dict(model.state_dict()), dict(metadata or {})
    for kept, others in kept_names(state).items():
        for name in others:
            metadata.setdefault(name, kept)
            del state[name]
    save_file({name: t.contiguous() for name, t in state.items()}, filename, metadata or None)


def load_model(model, filename, strict=True, device="cpu"):
    """Copy a file's tensors into a module; (missing, unexpected) names. With `strict`, RuntimeError if there are any.

    Nothing is copied before the whole file has been read.
    """
    tensors = load_file(filename, device)
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    shared = [name for others in kept_names(dict(model.state_dict())).values() for name in others]
    missing = [name for name in missing if name not in shared]
    if strict and (missing or unexpected):
        raise RuntimeError(f"Error(s) in loading state_dict for {type(model).__name__}:"
                           + listed("Missing", missing) + listed("Unexpected", unexpected))
    return missing, unexpected


def listed(what, names):
    shown = ", ".join(f'"{name}"' for name in sorted(names))
    return f"\n    {what} key(s) in state_dict: {shown}" if names else ""


def kept_names(state):
    """{name kept: names dropped} among tensors that share memory: the one with the most elements, then by name."""
    found = {}
    for group in sharing_names(state):
        first, *others = sorted(group, key=lambda name: (-state[name].numel(), name))
        if others:
            found[first] = others
    return found
