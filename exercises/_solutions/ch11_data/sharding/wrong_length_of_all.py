"""Takes the length that the loader states."""

import itertools

FAILS = "test_batches"
SAYS = "len(loader) says 3"


def shard(samples, info):
    if info is None:
        return iter(samples)
    worker, workers = info
    return itertools.islice(samples, worker, None, workers)


def share(count, info):
    if info is None:
        return count
    worker, workers = info
    return len(range(worker, count, workers))


def batches(count, batch_size, num_workers, drop_last=False):
    infos = [(worker, num_workers) for worker in range(num_workers)] or [None]
    shares = [count]
    return sum(part // batch_size if drop_last else -(-part // batch_size) for part in shares)
