"""Buckets: gradients travel together, since a hundred small all-reduces cost more than one large.

A bucket is one flat tensor; each parameter owns a stretch of it. torch/csrc/distributed/c10d/reducer.cpp.
"""

from ...distributed.grad_bucket import GradBucket
from ...ops.declare import exports

FIRST_BUCKET = 1024 * 1024  # bytes: a small one first, so that the network is busy early
BUCKET_CAP = 25 * 1024 * 1024  # bytes
MIB = 1024 * 1024

empty = exports[""]["empty"]


def compute_bucket_assignment_by_size(
    tensors, bucket_size_limits, expect_sparse_gradient=(), tensor_indices=()
):
    """Put tensors into buckets, in order: lists of indices.

    A tensor is added first and the bucket closed then, if it has reached its limit: so a bucket may exceed
    it. Each dtype and device has buckets of its own, and its own progress through the limits, of which the
    last one stays. `tensor_indices`: the indices to use instead of positions; the buckets keep the order in
    which they closed then, else they are sorted by their lowest index. Tensors with sparse gradients are
    alone.
    """
    indices = list(tensor_indices) or range(len(tensors))
    finished, open_buckets, progress = [], {}, {}
    for position, (index, tensor) in enumerate(zip(indices, tensors)):
        if expect_sparse_gradient and expect_sparse_gradient[index if tensor_indices else position]:
            finished.append([index])
            continue
        kind = (tensor.dtype, tensor.device)
        bucket = open_buckets.setdefault(kind, [[], 0])
        bucket[0].append(index)
        bucket[1] += tensor.nbytes
        step = progress.setdefault(kind, 0)
        if bucket[1] >= bucket_size_limits[step]:
            finished.append(open_buckets.pop(kind)[0])
            progress[kind] = min(step + 1, len(bucket_size_limits) - 1)
    finished += [bucket for bucket, _ in open_buckets.values()]
    return finished if tensor_indices else sorted(finished, key=min)


class Bucket:
    """Some parameters' gradients, side by side in one flat tensor.

    `indices` of the parameters; `views`: each one's stretch, in its shape; `pending`: how many are not ready
    yet.
    """

    def __init__(self, number, indices, parameters):
        self.number, self.indices, self.parameters = number, indices, parameters
        first = parameters[0]
        self.flat = empty(sum(p.numel() for p in parameters), dtype=first.dtype, device=first.device)
        self.views = list(stretches(self.flat, parameters))
        self.future = None
        self.expect_all()

    def expect_all(self):
        """A new backward pass: nothing is ready."""
        self.pending = len(self.indices)
        self.future = None

    def public(self, is_last):
        """What a communication hook sees."""
        return GradBucket(self, is_last)


def stretches(flat, tensors):
    """Parts of a flat tensor, each in the shape of one of the tensors."""
    start = 0
    for tensor in tensors:
        yield flat[start : start + tensor.numel()].view(tensor.shape)
        start += tensor.numel()
