"""Samplers: in which order a DataLoader asks for samples."""
import itertools
import types

from ...core import dtype as dt
from ...ops.declare import exports
from ...tensor import Tensor

empty, randint, randperm, multinomial, tensor, Generator = (
    exports[""][name] for name in ("empty", "randint", "randperm", "multinomial", "tensor", "Generator"))


class Sampler:
    """Iterates over indices; most have a length."""

    __class_getitem__ = classmethod(types.GenericAlias)        # Sampler[int], for annotations

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
    generator = Generator()
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
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError("num_samples should be a positive integer value, but got "
                             f"num_samples={self.num_samples}")

    @property
    def num_samples(self):
        """How many indices an epoch has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        generator = seeded_generator() if self.generator is None else self.generator
        draws = self._with_replacement if self.replacement else self._permutations
        yield from draws(len(self.data_source), generator)

    def _with_replacement(self, n, generator):
        full, rest = divmod(self.num_samples, self.CHUNK)
        for count in (*[self.CHUNK] * full, rest):
            yield from randint(n, (count,), generator=generator).tolist()

    def _permutations(self, n, generator):
        full, rest = divmod(self.num_samples, n)
        for count in (*[n] * full, rest):          # the last draw comes even if nothing of it is used
            yield from randperm(n, generator=generator).tolist()[:count]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices drawn with the given weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_weights(weights)
        if self.weights.dim() != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


def as_weights(weights):
    """The weights as a float64 tensor."""
    return weights.double() if isinstance(weights, Tensor) else tensor(weights, dtype=dt.float64)


class InfiniteConstantSampler(Sampler):
    """None, for ever: a stream decides itself what comes next and when it ends."""

    def __iter__(self):
        return itertools.repeat(None)


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
