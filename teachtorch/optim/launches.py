"""Counting kernel launches: what tells for-loop, foreach and fused apart on an accelerator.

    with counting_launches() as counts:
        optimizer.step()
    sum(counts.values())        # Adam over N parameters: 7 N for the for-loop, 7 for foreach, 1 fused

One call of an operator's kernel counts as one launch. On a GPU a foreach operator over many tensors may take
several: `multi_tensor_launches` says how many.
"""
from collections import Counter
from contextlib import contextmanager

from ..core import observer
from ..dispatch import keys as K

BACKENDS = frozenset(K.name_of(key) for key in K.descending(K.BACKENDS))

CHUNK = 65536                               # elements
MAX_CHUNKS = {4096: 320, 32768: 2240}       # by the bytes that a kernel's arguments may take
MAX_TENSORS = (110, 64, 48, 36, 30)   # by the number of lists, in 4 KB of arguments; 7 times as many in 32 KB
MAX_TENSORS_WITH_SCALARS = (96, 64, 48, 36, 30)


@contextmanager
def counting_launches():
    """Count the kernels that operators run on a backend, by the operator's name: a Counter, filled during the block."""
    counts = Counter()

    def count(topic, fields):
        if fields["key"] in BACKENDS:
            counts[fields["op"]] += 1

    with observer.watching(count, "dispatch"):
        yield counts


def multi_tensor_launches(sizes, lists, scalars=False, argument_bytes=4096):
    """How often CUDA launches one foreach operator (aten/src/ATen/native/cuda/MultiTensorApply.cuh).

    A tensor is cut into chunks of 65 536 elements. A launch is full when it has as many chunks as its
    arguments can describe, or as many tensors and the last of them is complete.

    Args:
        sizes: the tensors' numbers of elements; empty ones are skipped.
        lists: how many lists of such tensors the operator has, 1 to 5.
        scalars: whether each tensor has a number of its own.
        argument_bytes: 4096, or 32768 (CUDA 12.1 on compute capability 7.0 and later).
    """
    most = (MAX_TENSORS_WITH_SCALARS if scalars else MAX_TENSORS)[lists - 1]
    most *= 7 if argument_bytes == 32768 else 1
    launches = tensors = chunks = 0
    for size in sizes:
        if size == 0:
            continue
        tensors += 1
        left = -(-size // CHUNK)
        while left:
            taken = min(left, MAX_CHUNKS[argument_bytes] - chunks)
            left, chunks = left - taken, chunks + taken
            if chunks == MAX_CHUNKS[argument_bytes] or (tensors == most and not left):
                launches += 1
                tensors, chunks = (1 if left else 0), 0
    return launches + (chunks > 0)
