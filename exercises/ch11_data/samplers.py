"""Samplers: in which order samples are asked for, and by whom.

A BatchSampler makes lists of indices of another sampler's. A DistributedSampler gives each of several
processes (replicas) its own part: all of them shuffle alike, and rank r takes every replicas-th index from
the r-th on. All must take equally many steps, or the others would wait for ever. So the indices are filled up
from their own beginning, or with drop_last cut, to a multiple of the number of replicas.
"""


def batches(indices, batch_size, drop_last):
    """A list of lists of `batch_size` indices; the last may be shorter, or is left out with drop_last."""
    raise NotImplementedError


def distributed(count, replicas, rank, drop_last=False):
    """The indices of 0 ... count - 1, unshuffled, that this rank takes.

    With drop_last each rank takes count // replicas. Without, the indices are repeated from the first on, as
    often as it takes, until all ranks have equally many.
    """
    raise NotImplementedError


def shuffled(count, replicas, rank, permutation, seed, epoch):
    """The same after shuffling; every epoch is another one.

    permutation(seed, count): a random order of 0 ... count - 1, the same for the same seed. The seed of an
    epoch is seed + epoch, in all ranks.
    """
    raise NotImplementedError
