"""DataLoader: batches from a dataset. This process loads them one by one, when they are asked for."""
from ...core import dtype as dt
from ...ops.creation import empty
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Iterates over a dataset in batches.

    `batch_size`: None switches batching off. `shuffle`: a new random order each epoch. `sampler`, `batch_sampler`:
    orders of one's own. `collate_fn`: makes a batch of a list of samples. `generator`: where the order's randomness
    comes from. ValueError for arguments that exclude each other.
    https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, *, generator=None):
        if num_workers:
            raise NotImplementedError("DataLoader has no worker processes yet: use num_workers=0, which loads in this "
                                      "process")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        self.dataset, self.generator, self.num_workers = dataset, generator, num_workers
        self.pin_memory, self.timeout, self.worker_init_fn = pin_memory, timeout, worker_init_fn
        check_exclusive(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None and not isinstance(dataset, IterableDataset):
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None and not isinstance(dataset, IterableDataset):
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        is_batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if is_batched else default_convert)

    def __iter__(self):
        draw_base_seed(self.generator)
        if isinstance(self.dataset, IterableDataset):
            return self._iterate_stream()
        return self._iterate_map()

    def _iterate_map(self):
        for index in self.batch_sampler if self.batch_sampler is not None else self.sampler:
            yield self.collate_fn(self._fetch(index))

    def _fetch(self, index):
        if self.batch_sampler is None:
            return self.dataset[index]
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(index)
        return [self.dataset[i] for i in index]

    def _iterate_stream(self):
        if self.batch_size is None:
            yield from map(self.collate_fn, self.dataset)
            return
        batch = []
        for item in self.dataset:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            return self._stream_length()
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def _stream_length(self):
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full if self.drop_last or not rest else full + 1


def draw_base_seed(generator):
    """Each new iterator draws one number, from which workers derive their seeds; 0 workers draw it too."""
    return int(empty((), dtype=dt.int64).random_(generator=generator).item())


def check_exclusive(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last):
    if isinstance(dataset, IterableDataset):
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                                 f"{name}={value}")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
