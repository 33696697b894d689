"""Every collective against NumPy, in whatever number of ranks this was started with."""

import numpy as np
from reporting import run_checks

import teachtorch as torch
import teachtorch.distributed as dist

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
]
OPS = {
    dist.ReduceOp.SUM: np.add,
    dist.ReduceOp.PRODUCT: np.multiply,
    dist.ReduceOp.MIN: np.minimum,
    dist.ReduceOp.MAX: np.maximum,
}
BITS = {
    dist.ReduceOp.BAND: np.bitwise_and,
    dist.ReduceOp.BOR: np.bitwise_or,
    dist.ReduceOp.BXOR: np.bitwise_xor,
}


def here():
    return dist.get_rank(), dist.get_world_size()


def values(rank, shape=(2, 3)):
    """Small whole numbers, different on each rank: exact in every dtype."""
    return (np.arange(np.prod(shape)).reshape(shape) + 2 * rank) % 5 + 1


def of_rank(rank, dtype=torch.float32, shape=(2, 3)):
    return torch.tensor(values(rank, shape).tolist()).to(dtype)


def same(tensor, expected):
    assert tensor.tolist() == np.asarray(expected).tolist(), (tensor, expected)


def check_all_reduce():
    rank, size = here()
    for dtype in DTYPES:
        for op, ufunc in OPS.items():
            x = of_rank(rank, dtype)
            assert dist.all_reduce(x, op) is None
            same(x, ufunc.reduce([values(r) for r in range(size)]))
    for op, ufunc in BITS.items():
        for dtype in (torch.int64, torch.uint8):
            x = of_rank(rank, dtype)
            dist.all_reduce(x, op)
            same(x, ufunc.reduce([values(r) for r in range(size)]))
    x = of_rank(rank)
    dist.all_reduce(x, dist.ReduceOp.AVG)
    assert np.allclose(x.numpy(), np.mean([values(r) for r in range(size)], axis=0), rtol=1e-6)


def check_bool_and_odd_shapes():
    rank, size = here()
    x = torch.tensor([rank == 0, False, True])
    dist.all_reduce(x, dist.ReduceOp.MAX)
    same(x, [True, False, True])
    scalar, nothing = torch.tensor(float(rank)), torch.zeros(0)
    dist.all_reduce(scalar)
    dist.all_reduce(nothing)
    same(scalar, sum(range(size)))
    transposed = of_rank(rank).t()
    dist.all_reduce(transposed)
    same(transposed, sum(values(r) for r in range(size)).T)


def check_other_devices():
    rank, size = here()
    x = of_rank(rank).to("sim")
    dist.all_reduce(x)
    same(x.cpu(), sum(values(r) for r in range(size)))


def check_broadcast_and_reduce():
    rank, size = here()
    for root in range(size):
        x = of_rank(rank, torch.bfloat16)
        dist.broadcast(x, root)
        same(x, values(root))
        x = of_rank(rank)
        dist.reduce(x, root)
        if rank == root:
            same(x, sum(values(r) for r in range(size)))


def check_gathering():
    rank, size = here()
    parts = [torch.zeros(2, 3, dtype=torch.float16) for _ in range(size)]
    dist.all_gather(parts, of_rank(rank, torch.float16))
    for r, part in enumerate(parts):
        same(part, values(r))
    for shape in ((2 * size, 3), (size, 2, 3)):
        whole = torch.zeros(shape)
        dist.all_gather_into_tensor(whole, of_rank(rank))
        same(whole, np.stack([values(r) for r in range(size)]).reshape(shape))
    last = size - 1
    got = [torch.zeros(2, 3) for _ in range(size)] if rank == last else None
    dist.gather(of_rank(rank), got, dst=last)
    for r, part in enumerate(got or ()):
        same(part, values(r))


def check_scattering():
    rank, size = here()
    x, last = torch.zeros(2, 3), size - 1
    dist.scatter(x, [of_rank(r + 7) for r in range(size)] if rank == last else None, src=last)
    same(x, values(rank + 7))
    expected = sum(values(10 * r + rank) for r in range(size))
    x = torch.zeros(2, 3)
    dist.reduce_scatter(x, [of_rank(10 * rank + r) for r in range(size)])
    same(x, expected)
    x = torch.zeros(2, 3)
    dist.reduce_scatter_tensor(x, torch.stack([of_rank(10 * rank + r) for r in range(size)]))
    same(x, expected)


def check_all_to_all():
    rank, size = here()
    got = [torch.zeros(r + 1) for r in range(size)]
    dist.all_to_all(got, [torch.full((rank + 1,), float(10 * rank + r)) for r in range(size)])
    for r, part in enumerate(got):
        same(part, np.full(r + 1, 10.0 * r + rank))
    x = torch.zeros(size, 2)
    dist.all_to_all_single(x, torch.arange(2.0 * size).view(size, 2) + 100 * rank)
    same(x, [[2 * rank + 100 * r, 2 * rank + 1 + 100 * r] for r in range(size)])
    x = torch.zeros(sum(range(1, size + 1)))
    dist.all_to_all_single(
        x, torch.full((size * (rank + 1),), float(rank)), list(range(1, size + 1)), [rank + 1] * size
    )
    same(x, [r for r in range(size) for _ in range(r + 1)])


def check_objects():
    rank, size = here()
    got = [None] * size
    dist.all_gather_object(got, {"rank": rank, "text": "x" * (50 * rank)})
    assert got == [{"rank": r, "text": "x" * (50 * r)} for r in range(size)]
    objects = [("from", 0), torch.arange(3)] if rank == 0 else [None, None]
    dist.broadcast_object_list(objects, src=0)
    assert objects[0] == ("from", 0) and objects[1].tolist() == [0, 1, 2]
    got = [None] * size if rank == 0 else None
    dist.gather_object(rank * "y", got)
    assert got is None or got == [r * "y" for r in range(size)]
    mine = [None]
    dist.scatter_object_list(mine, [[r] for r in range(size)] if rank == 0 else None)
    assert mine == [[rank]]


def check_one_to_one():
    rank, size = here()
    if size == 1:
        return
    after, before = (rank + 1) % size, (rank - 1) % size
    x = torch.zeros(2, 3)
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, of_rank(rank), after), dist.P2POp(dist.irecv, x, before)]
    )
    for work in works:
        work.wait()
    same(x, values(before))
    if rank == 0:
        dist.send(torch.tensor([5.0]), 1, tag=3)
        dist.send(torch.tensor([6.0]), 1, tag=4)
        dist.send_object_list(["a", {"b": 1}], 1)
    if rank == 1:
        a, b, objects = torch.zeros(1), torch.zeros(1), [None, None]
        dist.recv(b, 0, tag=4)
        assert dist.recv(a, tag=3) == 0
        same(torch.cat([a, b]), [5, 6])
        assert dist.recv_object_list(objects, 0) == 0 and objects == ["a", {"b": 1}]


def check_groups():
    rank, size = here()
    outside = dist.GroupMember.NON_GROUP_MEMBER
    group = dist.new_group(list(range(1, size)) or [0])
    if rank in (list(range(1, size)) or [0]):
        x = of_rank(rank)
        dist.all_reduce(x, group=group)
        same(x, sum(values(r) for r in (range(1, size) if size > 1 else [0])))
        assert dist.get_global_rank(group, dist.get_rank(group)) == rank
        last = size - 1
        x = of_rank(rank)
        dist.broadcast(x, src=last, group=group)
        same(x, values(last))
    else:
        assert group is outside and dist.get_rank(group) == -1 and dist.get_world_size(group) == -1
    mine, every = dist.new_subgroups(1)
    assert len(every) == size and dist.get_world_size(mine) == 1


def check_groups_that_only_their_members_make():
    rank, size = here()
    if rank < 2:
        for _ in range(2):
            group = dist.new_group(list(range(min(size, 2))), use_local_synchronization=True)
            x = of_rank(rank)
            dist.all_reduce(x, group=group)
            same(x, sum(values(r) for r in range(min(size, 2))))


def check_groups_that_the_ranks_name_differently():
    rank, size = here()
    if size == 1:
        return
    try:
        dist.new_group([0, 1] if rank == 0 else [1])
    except RuntimeError as error:
        assert "rank 0 asks for the ranks [0, 1], rank 1 for [1]" in str(error), error
    else:
        raise AssertionError("a group was made that the ranks do not agree on")


def check_async():
    rank, size = here()
    tensors = [of_rank(rank + i) for i in range(5)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    doubled = works[0].get_future().then(lambda future: future.value()[0] * 2)
    for work in reversed(works):
        assert work.wait() is True and work.is_completed()
    for i, tensor in enumerate(tensors):
        same(tensor, sum(values(r + i) for r in range(size)))
    same(doubled.wait(), 2 * sum(values(r) for r in range(size)))


def check_all_ranks_have_the_same_bits_of_the_largest_and_the_smallest():
    """Of NaN and a number MPI's own operations give what comes first, which differs between ranks."""
    rank, size = here()
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for op in (dist.ReduceOp.MAX, dist.ReduceOp.MIN):
            x = torch.tensor([float("nan") if rank == r else float(r) for r in range(size)] + [-0.0 if rank else 0.0])
            x = x.to(dtype)
            dist.all_reduce(x, op)
            assert x[:-1].isnan().all() and x[-1] == 0
            signs = [None] * size
            dist.all_gather_object(signs, str(x.tolist()))
            assert len(set(signs)) == 1, signs


def check_what_is_sent_may_lie_in_what_is_received():
    rank, size = here()
    whole = torch.zeros(2 * size)
    mine = whole[2 * rank : 2 * rank + 2].fill_(rank + 1)
    dist.all_gather_into_tensor(whole, mine)
    same(whole, np.repeat(np.arange(size) + 1, 2))
    dist.reduce_scatter_tensor(mine, whole)
    same(mine, [size * (rank + 1)] * 2)
    x = torch.arange(size) + 10 * rank
    dist.all_to_all_single(x, x)
    same(x, 10 * np.arange(size) + rank)


def check_barriers():
    dist.barrier()
    dist.monitored_barrier()


if __name__ == "__main__":
    run_checks([function for name, function in list(globals().items()) if name.startswith("check_")])
