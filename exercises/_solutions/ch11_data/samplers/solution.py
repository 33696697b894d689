"""Samplers: in which order samples are asked for, and by whom.

A BatchSampler makes lists of indices of another sampler's. A DistributedSampler gives each of several
processes (replicas) its own part: all of them shuffle alike, and rank r takes every replicas-th index from
the r-th on. All must take equally many steps, or the others would wait for ever. So the indices are filled up
from their own beginning, or with drop_last cut, to a multiple of the number of replicas.
"""


def batches(indices, batch_size, drop_last):
    """A list of lists of `batch_size` indices; the last may be shorter, or is left out with drop_last."""
    # solution
    lists = [indices[k : k + batch_size] for k in range(0, len(indices), batch_size)]
    if drop_last and lists and len(lists[-1]) < batch_size:
        lists.pop()
    return lists
    # end of solution


def distributed(count, replicas, rank, drop_last=False):
    """The indices of 0 ... count - 1, unshuffled, that this rank takes.

    With drop_last each rank takes count // replicas. Without, the indices are repeated from the first on, as
    often as it takes, until all ranks have equally many.
    """
    # solution
    return part(list(range(count)), replicas, rank, drop_last)
    # end of solution


def shuffled(count, replicas, rank, permutation, seed, epoch):
    """The same after shuffling; every epoch is another one.

    permutation(seed, count): a random order of 0 ... count - 1, the same for the same seed. The seed of an
    epoch is seed + epoch, in all ranks.
    """
    # solution
    return part(permutation(seed + epoch, count), replicas, rank, False)
    # end of solution


# solution
def part(indices, replicas, rank, drop_last):
    if drop_last:
        total = len(indices) // replicas * replicas
    else:
        total = -(-len(indices) // replicas) * replicas
        indices = indices * -(-total // len(indices))
    return indices[rank:total:replicas]


# end of solution
