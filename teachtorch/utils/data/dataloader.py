"""DataLoader: batches from a dataset, loaded in this process when they are asked for, or ahead by workers."""
import multiprocessing
import os
import types
import warnings

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .iterator import _BaseDataLoaderIter, _SingleProcessDataLoaderIter  # noqa: F401
from .sampler import BatchSampler, InfiniteConstantSampler, RandomSampler, SequentialSampler
from .workers import _MultiProcessingDataLoaderIter

# What stays as the constructor has set it: the sampler was made for it.
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
EXCLUDED_BY_BATCH_SAMPLER = ("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")
TOO_MANY_WORKERS = ("This DataLoader will create {} worker processes in total. Our suggested max number of worker in "
                    "current system is {}, which is smaller than what this DataLoader is going to create. Please be "
                    "aware that excessive worker creation might get DataLoader running slow or even freeze, lower the "
                    "worker number to avoid potential slowness/freeze if necessary.")
DEFAULT_PREFETCH = 2


class DataLoader:
    """Iterates over a dataset in batches.

    `batch_size`: None switches batching off. `shuffle`: a new random order each epoch. `sampler`, `batch_sampler`:
    orders of one's own. `collate_fn`: makes a batch of a list of samples. `drop_last`: leave out an incomplete last
    batch. `generator`: where the order's randomness comes from.

    `num_workers` processes load batches ahead, `prefetch_factor` each (2); `worker_init_fn(worker_id)` runs first in
    each. `persistent_workers` stay for the next epoch. `timeout`: seconds to wait for a batch. `in_order=False`: as
    batches come. `multiprocessing_context`: how processes start; by default as Python's do. `pin_memory`:
    whether batches come in pinned memory. Errors of workers are raised here, with their traceback in the message.

    ValueError for arguments that exclude each other.
    https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    __class_getitem__ = classmethod(types.GenericAlias)        # DataLoader[int], for annotations
    _is_complete = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = DEFAULT_PREFETCH
        self.dataset, self.generator, self.num_workers = dataset, generator, num_workers
        self.prefetch_factor, self.persistent_workers, self.in_order = prefetch_factor, persistent_workers, in_order
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
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
        self._iterator = None                    # the one whose workers stay
        self._is_complete = True

    def _default_sampler(self, shuffle):
        if self._is_stream:
            return InfiniteConstantSampler()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name, value):
        if self._is_complete and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        if name == "multiprocessing_context":
            value = context_for(value, self.num_workers)
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        """Whether samples are put together into batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        if self._iterator is not None and self._iterator.has_workers:
            self._iterator.restart()
            return self._iterator
        if not self.num_workers and self.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        iterator = _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def __len__(self):
        if not self._is_stream:
            return len(self._index_sampler)
        length = self._stated_length = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full if self.drop_last or not rest else full + 1


def check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
                         "enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if prefetch_factor == 0:
        raise ValueError("prefetch_factor option should be at least 1: with 0 no batch is ever asked for")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if num_workers > available_cores():
        warnings.warn(TOO_MANY_WORKERS.format(num_workers, available_cores()), stacklevel=3)


def available_cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def context_for(given, num_workers):
    """The multiprocessing context that a name means; None for Python's default."""
    if given is None:
        return None
    if num_workers == 0:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")
    methods = multiprocessing.get_all_start_methods()
    if isinstance(given, str) and given not in methods:
        raise ValueError(f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                         f"multiprocessing_context={given!r}")
    context = multiprocessing.get_context(given) if isinstance(given, str) else given
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                        f"start method, but got multiprocessing_context={given}")
    return context


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
