"""Reads the whole stream first."""

import itertools

FAILS = "test_endless"
SAYS = "read"


def shard(samples, info):
    if info is None:
        return iter(samples)
    worker, workers = info
    return itertools.islice(list(itertools.islice(samples, 1000)), worker, None, workers)


def share(count, info):
    if info is None:
        return count
    worker, workers = info
    return len(range(worker, count, workers))


def batches(count, batch_size, num_workers, drop_last=False):
    infos = [(worker, num_workers) for worker in range(num_workers)] or [None]
    shares = [share(count, info) for info in infos]
    return sum(part // batch_size if drop_last else -(-part // batch_size) for part in shares)
