"""A stream and several workers: each must yield its own part.

An IterableDataset has no indices that could be dealt out. Every worker gets a copy of it and iterates over
all of it: without a rule, two workers give each sample twice. In the worker, get_worker_info() tells who it
is:

    None                in the main process, where there are no workers
    (id, num_workers)   in worker `id` of `num_workers`
"""

import itertools


def shard(samples, info):
    """The samples that this process should yield, one by one. Together the workers yield each exactly once.

    samples: an iterable, which may never end. Worker k takes the samples k, k + num_workers, k + 2
    num_workers...
    """
    raise NotImplementedError


def share(count, info):
    """How many of `count` samples this process yields."""
    raise NotImplementedError


def batches(count, batch_size, num_workers, drop_last=False):
    """How many batches a DataLoader over such a stream of `count` samples gives.

    Each worker makes batches of its own samples, and its last one may be smaller (or is dropped).
    """
    raise NotImplementedError
