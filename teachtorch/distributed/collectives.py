"""Collectives: what all ranks of a group do together.

Every rank of the group calls them, in the same order and with tensors of the same sizes and dtypes, else RuntimeError
(agreement.py); MPI carries them (transport.py). With `async_op=True` they return a Work at once, else None
when done. A rank outside the group is warned and does nothing.
https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
"""

import time
from datetime import timedelta

import numpy as np

from .agreement import Meant, meant
from .arguments import begin, check_same_dtype, check_tensor, check_tensors, member_group, rank_in
from .buffers import HostBuffer, fill, host_copy
from .errors import DistBackendError
from .groups import group_of
from .reduce_op import ReduceOp, check_op
from .work import Work, comes_within, seconds_of

# ---- one tensor, in place ----------------------------------------------------------------------------------


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Give all ranks the tensor of rank `src` (its number in the world; `group_src`: in the group)."""
    check_tensor(tensor, "tensor")
    members = member_group(group, "broadcast")
    if members is None:
        return None
    root, buffer = rank_in(members, src, group_src), HostBuffer(tensor)
    return begin(
        members,
        meant("broadcast", tensor, root=root),
        lambda: members.transport.broadcast(buffer.array, root),
        buffer.write_back,
        buffer.array.nbytes,
        [tensor],
        async_op,
    )


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Give all ranks the reduction of their tensors: element by element their sum, maximum..., see ReduceOp."""
    check_tensor(tensor, "tensor")
    check_op(op, tensor)
    members = member_group(group, "all_reduce")
    if members is None:
        return None
    buffer = HostBuffer(tensor)
    return begin(
        members,
        meant("all_reduce", tensor, op),
        lambda: members.transport.all_reduce(buffer.array, op),
        finishing(buffer, op, members),
        buffer.array.nbytes,
        [tensor],
        async_op,
    )


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Give rank `dst` the reduction of all tensors. What the others' tensors hold afterwards is not defined."""
    check_tensor(tensor, "tensor")
    check_op(op, tensor)
    members = member_group(group, "reduce")
    if members is None:
        return None
    root, buffer = rank_in(members, dst, group_dst), HostBuffer(tensor)
    return begin(
        members,
        meant("reduce", tensor, op, root),
        lambda: members.transport.reduce(buffer.array, op, root),
        finishing(buffer, op, members) if members.rank() == root else None,
        buffer.array.nbytes,
        [tensor],
        async_op,
    )


def finishing(buffer, op, members):
    """What remains when the sum has arrived: divide it for an average, and bring it home."""

    def done():
        if op == ReduceOp.AVG:
            buffer.array[...] = buffer.array / members.size()
        buffer.write_back()

    return done


# ---- a part from or for each rank --------------------------------------------------------------------------


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fill `tensor_list`, one tensor for each rank, with the tensors of all ranks, which have one size."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_same_dtype(tensor, *tensor_list)
    members = member_group(group, "all_gather")
    if members is None:
        return None
    check_parts(tensor_list, tensor, members, "all_gather")
    sent = HostBuffer(tensor).array
    received = np.empty((members.size(), *sent.shape), sent.dtype)
    return begin(
        members,
        meant("all_gather", tensor),
        lambda: members.transport.all_gather(sent, received),
        lambda: spread(received, tensor_list),
        received.nbytes,
        tensor_list,
        async_op,
    )


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Fill one tensor with those of all ranks, joined along the first dimension, or stacked."""
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    check_same_dtype(output_tensor, input_tensor)
    members = member_group(group, "all_gather_into_tensor")
    if members is None:
        return None
    check_total(output_tensor, input_tensor, members, "output", "input")
    sent, received = HostBuffer(input_tensor), HostBuffer(output_tensor)
    return begin(
        members,
        meant("all_gather_into_tensor", input_tensor),
        lambda: members.transport.all_gather(sent.array, received.array),
        received.write_back,
        received.array.nbytes,
        [output_tensor],
        async_op,
    )


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Fill `gather_list` of rank `dst` (0 by default) with the tensors of all ranks; the others pass no list."""
    check_tensor(tensor, "tensor")
    members = member_group(group, "gather")
    if members is None:
        return None
    root = default_root(members, dst, group_dst)
    check_list_of_root(members.rank() == root, gather_list, "gather_list", "destination")
    sent, received = HostBuffer(tensor).array, None
    if gather_list:
        check_parts(gather_list, tensor, members, "gather")
        received = np.empty((members.size(), *sent.shape), sent.dtype)
    return begin(
        members,
        meant("gather", tensor, root=root),
        lambda: members.transport.gather(sent, received, root),
        (lambda: spread(received, gather_list)) if gather_list else None,
        sent.nbytes,
        gather_list or [],
        async_op,
    )


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Give each rank its tensor of the `scatter_list` of rank `src` (0 by default); the others pass no list."""
    check_tensor(tensor, "tensor")
    members = member_group(group, "scatter")
    if members is None:
        return None
    root = default_root(members, src, group_src)
    check_list_of_root(members.rank() == root, scatter_list, "scatter_list", "source")
    sent = None
    if scatter_list:
        check_parts(scatter_list, tensor, members, "scatter")
        sent = joined(scatter_list)
    received = HostBuffer(tensor)
    return begin(
        members,
        meant("scatter", tensor, root=root),
        lambda: members.transport.scatter(sent, received.array, root),
        received.write_back,
        received.array.nbytes,
        [tensor],
        async_op,
    )


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce the lists of all ranks, tensor by tensor, and give each rank the result at its own place."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_same_dtype(output, *input_list)
    members = member_group(group, "reduce_scatter")
    if members is None:
        return None
    check_parts(input_list, output, members, "reduce_scatter")
    return begin_reduce_scatter("reduce_scatter", members, output, joined(input_list), op, async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """The same with one tensor that holds all parts."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_same_dtype(output, input)
    members = member_group(group, "reduce_scatter_tensor")
    if members is None:
        return None
    check_total(input, output, members, "input", "output")
    return begin_reduce_scatter("reduce_scatter_tensor", members, output, HostBuffer(input).array, op, async_op)


def begin_reduce_scatter(name, members, output, sent, op, async_op):
    check_op(op, output)
    received = HostBuffer(output)
    return begin(
        members,
        meant(name, output, op),
        lambda: members.transport.reduce_scatter(sent, received.array, op),
        finishing(received, op, members),
        sent.nbytes,
        [output],
        async_op,
    )


# ---- from each to each -------------------------------------------------------------------------------------


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Send `input_tensor_list[r]` to each rank r, and receive `output_tensor_list[r]` from it; sizes may differ."""
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    check_same_dtype(*output_tensor_list, *input_tensor_list)
    members = member_group(group, "all_to_all")
    if members is None:
        return None
    sent = joined(input_tensor_list)
    sizes = [t.numel() for t in output_tensor_list]
    received = np.empty(sum(sizes), sent.dtype)
    counts = tuple(tuple(t.nbytes for t in tensors) for tensors in (input_tensor_list, output_tensor_list))

    def done():
        for tensor, part in zip(output_tensor_list, np.split(received, np.cumsum(sizes)[:-1])):
            fill(tensor, part)

    return begin(
        members,
        Meant("all_to_all", input_tensor_list[0].dtype, counts=counts),
        lambda: members.transport.all_to_all(sent, received, *counts),
        done,
        sent.nbytes,
        output_tensor_list,
        async_op,
    )


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """The same with tensors cut along their first dimension, into equal parts or parts of the given sizes."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_same_dtype(output, input)
    members = member_group(group, "all_to_all_single")
    if members is None:
        return None
    sent, received = HostBuffer(input), HostBuffer(output)
    counts = (bytes_of_parts(input, input_split_sizes, members), bytes_of_parts(output, output_split_sizes, members))
    return begin(
        members,
        Meant("all_to_all_single", input.dtype, counts=counts),
        lambda: members.transport.all_to_all(sent.array, received.array, *counts),
        received.write_back,
        sent.array.nbytes,
        [output],
        async_op,
    )


def bytes_of_parts(tensor, sizes, members):
    """How many bytes each part has. RuntimeError where the first dimension cannot be cut so."""
    rows = tensor.shape[0] if tensor.dim() else 1
    if not sizes:
        if rows % members.size():
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [rows // members.size()] * members.size()
    if len(sizes) != members.size():
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return tuple(size * (tensor.nbytes // rows if rows else 0) for size in sizes)


# ---- only waiting ------------------------------------------------------------------------------------------


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Wait until all ranks of the group are here."""
    members = member_group(group, "barrier")
    if members is None:
        return None
    return begin(members, Meant("barrier"), members.transport.barrier, async_op=async_op, timeout=timeout)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier whose rank 0 says which rank has not come within `timeout`, all such ranks with `wait_all_ranks`.

    RuntimeError in rank 0, and in the ranks that wait for it.
    """
    members = member_group(group, "monitored_barrier")
    if members is None or members.size() == 1:
        return
    seconds = seconds_of(timeout, members.timeout)
    if members.rank() != 0:
        tell_and_wait(members, seconds)
        return
    absent = hear_everyone(members, seconds, wait_all_ranks)
    if absent:
        raise DistBackendError(f"{absent_words(absent)} failed to pass monitoredBarrier in {seconds * 1000:g} ms")
    for rank in range(1, members.size()):
        Work(members, "monitored_barrier", members.transport.send(_TOKEN, rank, _BARRIER_TAG)).wait()


_TOKEN = np.zeros(1, np.uint8)
_BARRIER_TAG = 32003
PATIENCE = 20.0  # seconds that the others give rank 0 to say who is missing


def tell_and_wait(members, seconds):
    """What the other ranks do: say that they are here, and wait for rank 0's word."""
    Work(members, "monitored_barrier", members.transport.send(_TOKEN, 0, _BARRIER_TAG)).wait()
    word = Work(members, "monitored_barrier", members.transport.receive(_TOKEN.copy(), 0, _BARRIER_TAG))
    word.wait(timedelta(seconds=seconds + PATIENCE))


def hear_everyone(members, seconds, wait_all_ranks):
    """What rank 0 does: the ranks, by their numbers in the world, that it has not heard from; the first
    only, or all.
    """
    absent, deadline = [], time.monotonic() + seconds
    for rank in range(1, members.size()):
        work = Work(members, "monitored_barrier", members.transport.receive(_TOKEN.copy(), rank, _BARRIER_TAG))
        if not comes_within(work, max(0.1, deadline - time.monotonic())):
            absent.append(members.ranks[rank])
            if not wait_all_ranks:
                break
    return absent


def absent_words(ranks):
    return f"Rank {ranks[0]}" if len(ranks) == 1 else f"Ranks {', '.join(map(str, ranks))}"


# ---- sizes and parts ---------------------------------------------------------------------------------------


def default_root(members, rank, group_rank):
    """The root that was named, in the group's numbers; the group's first rank if none was."""
    return rank_in(members, rank, 0 if rank is None and group_rank is None else group_rank)


def check_list_of_root(is_root, tensors, name, role):
    """ValueError unless exactly the root passes a list."""
    if is_root and not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
    if not is_root and tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")


def check_parts(tensors, one, members, name):
    """RuntimeError unless there is a tensor for each rank, each of the size of `one`."""
    if len(tensors) != members.size():
        raise RuntimeError(
            f"{name}: expected a list of {members.size()} tensors, one for each rank, got {len(tensors)}"
        )
    if any(tensor.shape != one.shape for tensor in tensors):
        raise RuntimeError(
            f"{name}: the tensors of the list must have the shape {list(one.shape)} of the other argument"
        )


def check_total(whole, part, members, whole_name, part_name):
    if whole.numel() != part.numel() * members.size():
        raise RuntimeError(
            f"{whole_name} tensor size must be equal to world_size times {part_name} tensor size: "
            f"{whole.numel()} is not {members.size()} x {part.numel()}"
        )


def joined(tensors):
    """The elements of all tensors, one after the other."""
    return np.concatenate([host_copy(tensor).reshape(-1) for tensor in tensors])


def spread(array, tensors):
    """Give each tensor its row."""
    for tensor, row in zip(tensors, array):
        fill(tensor, row)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of several tensors."""
    works = [all_reduce(tensor, op, group, async_op=True) for tensor in tensors]
    if async_op:
        return works[-1] if group_of(group) is not None else None
    for work in works:
        if work is not None:
            work.wait()
    return None


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of several tensors: `output_tensor_lists[r]` receives those of rank r."""
    works = [
        all_gather([of_rank[i] for of_rank in output_tensor_lists], tensor, group, async_op=True)
        for i, tensor in enumerate(input_tensor_list)
    ]
    if async_op:
        return works[-1]
    for work in works:
        if work is not None:
            work.wait()
    return None
