"""From the indices that a sampler gives to a batch."""
from ...tensor import Tensor
from .collate import collate_tensors, default_collate, default_collate_fn_map
from .dataset import Subset, TensorDataset


class MapFetcher:
    """Samples by their indices."""

    def __init__(self, loader):
        self.dataset, self.collate, self.is_batched = loader.dataset, loader.collate_fn, loader._auto_collation

    def __call__(self, index):
        if not self.is_batched:
            return self.collate(self.dataset[index])
        if self.collate is default_collate and is_rows(self.dataset):
            return rows(self.dataset, index)
        if getattr(self.dataset, "__getitems__", None):
            return self.collate(self.dataset.__getitems__(index))
        return self.collate([self.dataset[i] for i in index])


def is_rows(dataset):
    """Whether samples are rows of tensors and nothing else: then a batch is one indexing of each tensor."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return (type(dataset) is TensorDataset and default_collate_fn_map.get(Tensor) is collate_tensors
            and all(type(t) is Tensor and t.is_contiguous() and not t.requires_grad for t in dataset.tensors))


def rows(dataset, index):
    """What default_collate makes of the samples, without making them."""
    while type(dataset) is Subset:
        dataset, index = dataset.dataset, [dataset.indices[i] for i in index]
    return [t[list(index)] for t in dataset.tensors]


class StreamFetcher:
    """As many samples as there are indices, in the order in which the stream gives them."""

    def __init__(self, loader):
        self.stream, self.collate, self.is_batched = iter(loader.dataset), loader.collate_fn, loader._auto_collation
        self.drop_last, self.has_ended = loader.drop_last, False

    def __call__(self, index):
        if not self.is_batched:
            return self.collate(next(self.stream))
        samples = [] if self.has_ended else self._take(len(index))
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate(samples)

    def _take(self, count):
        samples = []
        for _ in range(count):
            try:
                samples.append(next(self.stream))
            except StopIteration:
                self.has_ended = True
                break
        return samples


def fetcher_of(loader):
    """A fetcher that starts at the beginning. `loader`: a DataLoader, or what a worker knows of it."""
    return (StreamFetcher if loader._is_stream else MapFetcher)(loader)
