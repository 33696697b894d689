"""Checks that all collectives share, with PyTorch's words."""

import warnings

from ..tensor import Tensor
from .agreement import compare
from .groups import group_of
from .work import Work


def check_tensor(value, name):
    """TypeError unless it is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def check_tensors(values, name):
    """TypeError unless it is a list of tensors."""
    if not isinstance(values, list) or not all(isinstance(value, Tensor) for value in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} with elements of type "
            f"{[type(value) for value in values] if isinstance(values, list) else None}."
        )


def check_same_dtype(*tensors):
    """ValueError unless all have one dtype."""
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) > 1:
        raise ValueError(
            f"Invalid usage of tensors with different dtypes"
            f"Found {tensors[0].dtype} and  {next(d for d in dtypes if d is not tensors[0].dtype)}"
        )


def member_group(group, name):
    """The group, or None, with a warning, in a rank that is not in it."""
    found = group_of(group)
    if found is None:
        warnings.warn(
            f"Running {name} on global rank {group_of(None).rank()} which does not belong to the given "
            "group.",
            stacklevel=3,
        )
    return found


def rank_in(group, rank, group_rank):
    """The number in the group of rank `rank` of the world, or `group_rank` of the group: one of them is given."""
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if rank is None and group_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    found = group.local(rank) if rank is not None else group_rank
    if not 0 <= found < group.size():
        raise RuntimeError(f"invalid root rank: {found}, the group has {group.size()} ranks")
    return found


def begin(members, meant, start, done=None, nbytes=0, result=(), async_op=False, timeout=None):
    """Begin a collective by start(), which returns MPI's request; other ranks are told what is `meant`.

    Returns its Work, or None after waiting if not `async_op`. `done()` is called when the bytes have come.
    """
    check = compare(members, meant, not async_op, timeout)
    work = Work(members, meant.name, start(), done, nbytes, result, check)
    if async_op:
        return work
    work.wait(timeout)
    return None
