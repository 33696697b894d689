"""Collectives that do not match between the ranks, in a group of their own each: what else they begin is spoilt."""

from datetime import timedelta

from reporting import run_checks

import teachtorch as torch
import teachtorch.distributed as dist

KEYWORD = "Detected mismatch between collectives on ranks. Rank "


def refused(call, *words, spoils=False):
    """The call, given a group and this rank, is refused with these words, which name the other rank as well."""
    group, rank = dist.new_group(), dist.get_rank()
    try:
        call(group, rank)
    except RuntimeError as error:
        assert str(error).startswith(KEYWORD + f"{rank} is running collective: CollectiveFingerPrint("), error
        assert f", but Rank {1 - rank} is running collective: " in str(error), error
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"not refused: {words}")
    if not spoils:  # nothing has moved: the group still works
        x = torch.ones(2)
        dist.all_reduce(x, group=group)
        assert x.tolist() == [2, 2]


def rows(rank, **options):
    return torch.ones(2 + rank, **options)


def check_sizes():
    words = "Tensor Tensor shapes: ", "OpType=ALLREDUCE, TensorShape=[2], "
    refused(lambda g, r: dist.all_reduce(rows(r), group=g), *words)
    refused(lambda g, r: dist.all_gather([rows(r), rows(r)], rows(r), group=g), "Tensor Tensor shapes: ")
    refused(lambda g, r: dist.reduce_scatter(rows(r), [rows(r), rows(r)], group=g), "Tensor Tensor shapes: ")
    refused(lambda g, r: dist.all_gather_into_tensor(torch.ones(4 + 2 * r), rows(r), group=g), "Tensor Tensor shapes: ")


def check_sizes_while_on_the_way():
    refused(lambda g, r: dist.all_reduce(rows(r), group=g, async_op=True).wait(), "Tensor Tensor shapes: ", spoils=True)


def check_dtypes():
    kinds = torch.float32, torch.int32, torch.float64
    for one, other in ((0, 1), (0, 2)):  # of one width, and not
        refused(
            lambda g, r: dist.all_reduce(torch.ones(3, dtype=kinds[other if r else one]), group=g),
            "Tensor Tensor dtypes: ",
            "TensorDtypes=Float, ",
        )


def check_operations_and_roots():
    ops = dist.ReduceOp.SUM, dist.ReduceOp.MAX
    refused(lambda g, r: dist.all_reduce(torch.ones(3), ops[r], group=g), "Reduce op: ", "MAX", "SUM")
    refused(lambda g, r: dist.reduce(torch.ones(3), r, group=g), "Root rank: ")


def check_kinds():
    x = torch.ones(2)
    refused(lambda g, r: dist.barrier(g) if r else dist.all_reduce(x, group=g), "Op type: ", "BARRIER", "ALLREDUCE")
    refused(
        lambda g, r: dist.all_to_all_single(x, x + 1, group=g) if r else dist.all_reduce(x, group=g), "Op type: "
    )


def check_parts_of_all_to_all():
    def call(group, rank):
        dist.all_to_all_single(torch.zeros(4 + 2 * rank), torch.ones(4 + 2 * rank), group=group)

    refused(call, "Bytes: ", " are expected, but ")


def check_a_later_collective_tells_of_an_earlier_one():
    """The root of a broadcast does not wait for the others."""

    def call(group, rank):
        dist.broadcast(torch.ones(2), rank, group)
        dist.barrier(group)

    refused(call, "Root rank: ", "OpType=BROADCAST, ", spoils=True)


def check_equal_sizes_of_other_shapes_go_through():
    x = torch.ones((2, 3) if dist.get_rank() else (3, 2))
    dist.all_reduce(x)
    assert x.sum() == 12


def check_a_closer_look():
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    shapes = (3, 2), (2, 3)
    refused(lambda g, r: dist.all_reduce(torch.ones(shapes[r]), group=g), "[3, 2]", "[2, 3]", "Tensor Tensor shapes: ")
    refused(lambda g, r: dist.all_reduce(torch.ones(shapes[r]), group=g, async_op=True), "Tensor Tensor shapes: ")
    refused(lambda g, r: dist.broadcast(torch.ones(2), r, g), "Root rank: ")
    refused(lambda g, r: dist.broadcast(rows(r), 0, g), "Tensor Tensor shapes: ")
    refused(lambda g, r: dist.gather(rows(r), None if r else [rows(r)] * 2, 0, g), "Tensor Tensor shapes: ")
    x = torch.ones(2, 2)
    dist.all_to_all_single(x, x.clone())
    dist.set_debug_level(dist.DebugLevel.OFF)


def check_numbers_of_collectives():
    """As PyTorch counts them: from 0, in each group."""
    x = torch.ones(2)

    def call(group, rank):
        dist.all_reduce(x, group=group)
        dist.barrier(group)
        dist.all_reduce(rows(rank), group=group)

    refused(call, "SequenceNumber=2, ")


def check_a_message_that_is_too_long():
    group = dist.new_group(timeout=timedelta(seconds=20))
    if dist.get_rank() == 0:
        dist.send(torch.ones(3), 1, group)
        return
    try:
        dist.recv(torch.ones(2), 0, group)
    except dist.DistBackendError as error:
        assert "recv from rank 0, collective" in str(error) and "have different sizes" in str(error), error
    else:
        raise AssertionError("no error")


run_checks([value for name, value in list(globals().items()) if name.startswith("check_")])
