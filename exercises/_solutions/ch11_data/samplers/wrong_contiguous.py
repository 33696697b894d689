"""Gives each rank a piece in one."""

FAILS = "test_ranks"
SAYS = "not one half"


def batches(indices, batch_size, drop_last):
    lists = [indices[k : k + batch_size] for k in range(0, len(indices), batch_size)]
    if drop_last and lists and (len(lists[-1]) < batch_size):
        lists.pop()
    return lists


def distributed(count, replicas, rank, drop_last=False):
    return part(list(range(count)), replicas, rank, drop_last)


def shuffled(count, replicas, rank, permutation, seed, epoch):
    return part(permutation(seed + epoch, count), replicas, rank, False)


def part(indices, replicas, rank, drop_last):
    if drop_last:
        total = len(indices) // replicas * replicas
    else:
        total = -(-len(indices) // replicas) * replicas
        indices = indices * -(-total // len(indices))
    size = total // replicas
    return indices[rank * size : (rank + 1) * size]
