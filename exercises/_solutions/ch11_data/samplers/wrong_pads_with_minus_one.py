"""Fills up with an index that is none."""

FAILS = "test_padding"
SAYS = "index 0 comes again"


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
        indices = indices + [-1] * (total - len(indices))
    return indices[rank:total:replicas]
