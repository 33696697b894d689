"""One rank to one other: send, recv, and both begun without waiting.

https://docs.pytorch.org/docs/stable/distributed.html#point-to-point-communication
"""

from .arguments import check_tensor, member_group, rank_in
from .buffers import HostBuffer
from .work import Work


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begin to send the tensor to rank `dst`; returns a Work. Leave the tensor alone until it is done."""
    check_tensor(tensor, "tensor")
    check_tag(tag)
    members = member_group(group, "isend")
    if members is None:
        return None
    to, buffer = rank_in(members, dst, group_dst), HostBuffer(tensor)
    check_other(members, to, "destination")
    request = members.transport.send(buffer.array, to, tag)
    return Work(members, f"send to rank {members.ranks[to]}", request, None, buffer.array.nbytes, [tensor])


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begin to receive into the tensor from rank `src`, from anyone if None; returns a Work."""
    check_tensor(tensor, "tensor")
    check_tag(tag)
    members = member_group(group, "irecv")
    if members is None:
        return None
    anyone = src is None and group_src is None
    source, buffer = None if anyone else rank_in(members, src, group_src), HostBuffer(tensor)
    check_other(members, source, "source")
    request = members.transport.receive(buffer.array, source, tag)
    whom = "any rank" if anyone else f"rank {members.ranks[source]}"
    return Work(members, f"recv from {whom}", request, buffer.write_back, buffer.array.nbytes, [tensor])


def check_tag(tag):
    if tag < 0:
        raise RuntimeError("Tag must be nonnegative")


def check_other(members, rank, what):
    if rank == members.rank():
        raise ValueError(f"Invalid {what} rank: {what} rank should not be the same as the rank of the current process.")


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send the tensor to rank `dst`, and wait until it may be changed again."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive into the tensor from rank `src`, from anyone if None; returns the sender's number in the world, or -1."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """One of isend and irecv with its arguments, for batch_isend_irecv."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = (
            op,
            tensor,
            peer,
            group,
            tag,
            group_peer,
        )

    def begin(self):
        """Start it; returns its Work."""
        return self.op(self.tensor, self.peer, self.group, self.tag, self.group_peer)


def batch_isend_irecv(p2p_op_list):
    """Begin several sends and receives; returns their Works."""
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    return [op.begin() for op in p2p_op_list]
