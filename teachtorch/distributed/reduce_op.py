"""ReduceOp: how a reducing collective combines the ranks' elements."""

from enum import IntEnum


class RedOpType(IntEnum):
    """The operations that PyTorch has."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8
    UNUSED = 9


class ReduceOp:
    """`ReduceOp.SUM` and its like: the `op` of all_reduce, reduce and reduce_scatter.

    AVG is the sum divided by the number of ranks, for floating-point tensors. BAND, BOR and BXOR work on
    bits, of integers and bool only.
    https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.ReduceOp
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT
    MIN, MAX = RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR


BITWISE = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)


def check_op(op, tensor):
    """RuntimeError, as PyTorch's gloo backend says it, for an operation that these elements do not have."""
    if op in BITWISE and tensor.dtype.is_floating_point:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op == RedOpType.AVG and not tensor.dtype.is_floating_point:
        raise RuntimeError(
            f"Cannot use ReduceOp.AVG with {tensor.dtype}: an average needs a floating-point dtype"
        )
    if op in (RedOpType.PREMUL_SUM, RedOpType.UNUSED):
        raise RuntimeError(f"Cannot use ReduceOp.{RedOpType(op).name} here")
