"""Collectives of Python objects: pickled, sent as bytes, unpickled. Only from ranks that you trust.

Sizes differ, so each sends its size first.
"""

import pickle

import numpy as np

from ..tensor import from_array
from .arguments import member_group, rank_in
from .collectives import all_gather, broadcast, default_root, gather
from .point_to_point import recv, send


def as_tensor(obj):
    """The object's pickle as a tensor of bytes."""
    return from_array(np.frombuffer(pickle.dumps(obj), np.uint8).copy())


def as_object(tensor, size):
    return pickle.loads(tensor.numpy()[:size].tobytes())


def numbers(count):
    return from_array(np.zeros(count, np.int64))


def padded(tensor, size):
    """The bytes, with room after them up to `size`."""
    room = from_array(np.zeros(size, np.uint8))
    room[: tensor.numel()] = tensor
    return room


def sizes_of_all(tensor, members):
    """How many bytes each rank's pickle has."""
    sizes = [numbers(1) for _ in members.ranks]
    all_gather(sizes, from_array(np.array([tensor.numel()], np.int64)), members)
    return [int(size.item()) for size in sizes]


def all_gather_object(object_list, obj, group=None):
    """Fill `object_list` with the objects of all ranks."""
    members = member_group(group, "all_gather_object")
    if members is None:
        return
    mine = as_tensor(obj)
    sizes = sizes_of_all(mine, members)
    parts = [padded(mine, max(sizes)) for _ in sizes]
    all_gather(parts, padded(mine, max(sizes)), members)
    for i, (part, size) in enumerate(zip(parts, sizes)):
        object_list[i] = as_object(part, size)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Fill `object_gather_list` of rank `dst` (0 by default) with the objects of all ranks."""
    members = member_group(group, "gather_object")
    if members is None:
        return
    root = default_root(members, dst, group_dst)
    is_root, mine = members.rank() == root, as_tensor(obj)
    if is_root and not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    sizes = sizes_of_all(mine, members)
    parts = [padded(mine, max(sizes)) for _ in sizes] if is_root else None
    gather(padded(mine, max(sizes)), parts, group=members, group_dst=root)
    for i, part in enumerate(parts or ()):
        object_gather_list[i] = as_object(part, sizes[i])


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Give all ranks the objects of rank `src` (0 by default), in a list of as many places."""
    members = member_group(group, "broadcast_object_list")
    if members is None:
        return
    root = default_root(members, src, group_src)
    is_root = members.rank() == root
    pickles = [as_tensor(obj) for obj in object_list] if is_root else []
    sizes = from_array(np.array([p.numel() for p in pickles], np.int64)) if is_root else numbers(len(object_list))
    broadcast(sizes, group=members, group_src=root)
    sizes = sizes.tolist()
    whole = from_array(
        np.concatenate([p.numpy() for p in pickles]) if is_root and pickles else np.zeros(sum(sizes), np.uint8)
    )
    broadcast(whole, group=members, group_src=root)
    if not is_root:
        object_list[:] = unpacked(whole, sizes)


def unpacked(whole, sizes):
    """The objects whose pickles lie one after the other."""
    ends = np.cumsum(sizes)
    return [as_object(whole[int(end) - size : int(end)], size) for end, size in zip(ends, sizes)]


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None
):
    """Put into the first place of each rank's output list its object of the input list of rank `src` (0 by default)."""
    members = member_group(group, "scatter_object_list")
    if members is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = default_root(members, src, group_src)
    given = list(scatter_object_input_list) if members.rank() == root else [None] * members.size()
    broadcast_object_list(given, group=members, group_src=root)
    scatter_object_output_list[0] = given[members.rank()]


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Send the objects to rank `dst`."""
    members = member_group(group, "send_object_list")
    if members is None:
        return
    to = rank_in(members, dst, group_dst)
    pickles = [as_tensor(obj) for obj in object_list]
    send(from_array(np.array([p.numel() for p in pickles], np.int64)), group=members, group_dst=to)
    send(from_array(np.concatenate([p.numpy() for p in pickles])), group=members, group_dst=to)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """Receive as many objects as the list has places; returns the sender's number in the world, -1 outside
    the group.
    """
    members = member_group(group, "recv_object_list")
    if members is None:
        return -1
    source = None if src is None and group_src is None else rank_in(members, src, group_src)
    sizes = numbers(len(object_list))
    sender = recv(sizes, group=members, group_src=source)
    sizes = sizes.tolist()
    whole = from_array(np.zeros(sum(sizes), np.uint8))
    recv(whole, sender, members)
    object_list[:] = unpacked(whole, sizes)
    return sender
