"""DataLoader: batches from a dataset. This process loads them one by one, when they are asked for."""
import types
import warnings

from ...core import dtype as dt
from ...ops.declare import exports
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, InfiniteConstantSampler, RandomSampler, SequentialSampler

# What stays as the constructor has set it: the sampler was made for it.
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
EXCLUDED_BY_BATCH_SAMPLER = ("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")


def get_worker_info():
    """None: this process is no worker of a DataLoader."""
    return None


class DataLoader:
    """Iterates over a dataset in batches.

    `batch_size`: None switches batching off. `shuffle`: a new random order each epoch. `sampler`, `batch_sampler`:
    orders of one's own. `collate_fn`: makes a batch of a list of samples. `drop_last`: leave out an incomplete last
    batch. `generator`: where the order's randomness comes from. ValueError for arguments that exclude each other;
    NotImplementedError for worker processes.
    https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    __class_getitem__ = classmethod(types.GenericAlias)        # DataLoader[int], for annotations
    _is_complete = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        self.dataset, self.generator, self.num_workers = dataset, generator, num_workers
        self.prefetch_factor, self.persistent_workers, self.in_order = prefetch_factor, persistent_workers, in_order
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self._is_stream = isinstance(dataset, IterableDataset)
        check_exclusive(self._is_stream, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None:
            sampler = self._default_sampler(shuffle)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self._stated_length = None               # of a stream, once len() was asked
        self._is_complete = True

    def _default_sampler(self, shuffle):
        if self._is_stream:
            return InfiniteConstantSampler()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name, value):
        if self._is_complete and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        """Whether samples are put together into batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        return SingleProcessIterator(self)

    def __len__(self):
        if not self._is_stream:
            return len(self._index_sampler)
        length = self._stated_length = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full if self.drop_last or not rest else full + 1


class SingleProcessIterator:
    """One epoch: the next indices from the sampler, the samples from the dataset, collated."""

    def __init__(self, loader):
        self._loader = loader
        self._indices = iter(loader._index_sampler)
        self._base_seed = draw_base_seed(loader.generator)
        self._fetch = (StreamFetcher if loader._is_stream else MapFetcher)(loader)
        self._yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._fetch(next(self._indices))
        self._yielded += 1
        stated = self._loader._stated_length
        if stated is not None and self._yielded > stated:
            warnings.warn(f"Length of IterableDataset {self._loader.dataset} was reported to be {stated} (when "
                          f"accessing len(dataloader)), but {self._yielded} samples have been fetched. ", stacklevel=2)
        return batch

    def __len__(self):
        return len(self._loader._index_sampler)


class MapFetcher:
    """Samples by their indices."""

    def __init__(self, loader):
        self.dataset, self.collate, self.is_batched = loader.dataset, loader.collate_fn, loader._auto_collation

    def __call__(self, index):
        if not self.is_batched:
            return self.collate(self.dataset[index])
        if getattr(self.dataset, "__getitems__", None):
            return self.collate(self.dataset.__getitems__(index))
        return self.collate([self.dataset[i] for i in index])


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


def draw_base_seed(generator):
    """Each new iterator draws one number, from which workers derive their seeds; 0 workers draw it too."""
    return int(exports[""]["empty"]((), dtype=dt.int64).random_(generator=generator).item())


def check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers > 0:
        raise NotImplementedError("DataLoader has no worker processes yet: use num_workers=0, which loads in this "
                                  "process")
    if prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
                         "enable multiprocessing, otherwise set prefetch_factor to None.")
    if persistent_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if multiprocessing_context is not None:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")


def check_exclusive(is_stream, batch_size, shuffle, sampler, batch_sampler, drop_last):
    if is_stream:
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                                 f"{name}={value}")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError(EXCLUDED_BY_BATCH_SAMPLER)
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
