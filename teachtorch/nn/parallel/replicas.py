"""Making the copies of a module equal: the same parameters everywhere, with rank 0's values."""

from ...autograd.grad_mode import no_grad
from ...distributed import collectives
from ...distributed.objects import all_gather_object
from ...ops.declare import exports
from .buckets import MIB, compute_bucket_assignment_by_size, stretches

cat = exports[""]["cat"]
BROADCAST_CHUNK = 250 * MIB


def verify_same(parameters, names, group):
    """RuntimeError, on all ranks, unless all have the same parameters: as many, in the same shapes and dtypes."""
    mine = [(name, list(p.shape), str(p.dtype)) for name, p in zip(names, parameters)]
    of_all = [None] * group.size()
    all_gather_object(of_all, mine, group)
    for rank, theirs in enumerate(of_all):
        reason = difference(of_all[0], theirs, rank)
        if reason:
            raise RuntimeError(reason)


def difference(first, other, rank):
    """What is wrong with the parameters of a rank, compared with rank 0's; None if nothing."""
    if len(first) != len(other):
        return (
            f"DDP expects same model across all ranks, but Rank 0 has {len(first)} params, while rank {rank} has "
            f"inconsistent {len(other)} params.{first_unpaired(first, other, rank)}"
        )
    for index, ((name, shape, dtype), (_, its_shape, its_dtype)) in enumerate(zip(first, other)):
        if (shape, dtype) != (its_shape, its_dtype):
            return (
                f"[{rank}]: params[{index}] ({name}) in this process with sizes {its_shape} and dtype "
                f"{its_dtype} appears "
                f"not to match sizes {shape} and dtype {dtype} of the same param in process 0."
            )
    return None


def first_unpaired(first, other, rank):
    """The first parameter that only one of the two has, by name."""
    names, its_names = [name for name, *_ in first], [name for name, *_ in other]
    for name in names:
        if name not in its_names:
            return f" Rank {rank} lacks {name}."
    return "".join(f" Rank 0 lacks {name}." for name in its_names if name not in names)


@no_grad()
def broadcast_coalesced(tensors, group, source, chunk=BROADCAST_CHUNK):
    """Give all ranks the tensors of `source` (its number in the group), many in one broadcast."""
    for indices in compute_bucket_assignment_by_size(tensors, [chunk]):
        together = [tensors[i] for i in indices]
        flat = cat([tensor.detach().reshape(-1) for tensor in together])
        collectives.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip(together, stretches(flat, together)):
            tensor.detach().copy_(part)
