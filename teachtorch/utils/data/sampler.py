"""Samplers: in which order a DataLoader asks for samples."""
import itertools

from ...core import dtype as dt
from ...ops import random as random_ops
from ...ops.creation import empty, tensor


class Sampler:
    """Iterates over indices; most have a length."""

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, ..., len(data_source) - 1."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def seeded_generator():
    """A generator seeded by one draw from the global one, which therefore advances by one number."""
    generator = random_ops.Generator()
    generator.manual_seed(int(empty((), dtype=dt.int64).random_().item()))
    return generator


class RandomSampler(Sampler):
    """A random permutation of the indices, or draws with replacement; `num_samples` of them."""

    CHUNK = 32          # with replacement, PyTorch draws so many at a time

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(self.num_samples, int) or self.num_samples < 0:
            raise ValueError(f"num_samples should be a non-negative integer value, but got num_samples={num_samples}")

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        generator = seeded_generator() if self.generator is None else self.generator
        draws = self._with_replacement if self.replacement else self._permutations
        return draws(len(self.data_source), generator)

    def _with_replacement(self, n, generator):
        remaining = self.num_samples
        while remaining:
            count = min(remaining, self.CHUNK)
            yield from random_ops.randint(n, (count,), generator=generator).tolist()
            remaining -= count

    def _permutations(self, n, generator):
        for _ in range(self.num_samples // n if n else 0):
            yield from random_ops.randperm(n, generator=generator).tolist()
        if n and self.num_samples % n:
            yield from random_ops.randperm(n, generator=generator).tolist()[:self.num_samples % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in random_ops.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices drawn with the given weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        self.weights = tensor(weights, dtype=dt.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        drawn = random_ops.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler; the last may be shorter unless `drop_last`."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full if self.drop_last or not rest else full + 1
