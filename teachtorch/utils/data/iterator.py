"""What iterates over a DataLoader, and the kind that loads in this process."""
import warnings

from ...core import dtype as dt
from ...core.annotation import record_function
from ...ops.declare import exports
from .fetch import fetcher_of
from .pinning import pinned

LONGER = ("Length of IterableDataset {} was reported to be {} (when accessing len(dataloader)), but {} samples have "
          "been fetched. ")
REPLICAS = ("For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset "
            "replica at each worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data."
            "IterableDataset for examples.")


class _BaseDataLoaderIter:
    """One epoch of batches: subclasses define _next_batch."""

    def __init__(self, loader):
        # Not the loader itself: it holds iterators whose workers stay, and both should go with their last user.
        self._dataset, self._index_sampler = loader.dataset, loader._index_sampler
        self._stated_length, self._num_workers = loader._stated_length, loader.num_workers
        self._base_seed = draw_base_seed(loader.generator)
        self._yielded = 0
        self._pins = loader.pin_memory

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        kind = "MultiProcessing" if self._num_workers else "SingleProcess"
        with record_function(f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__"):
            return self._next_prepared()

    def _next_prepared(self):
        """The next batch, pinned if that is wished; a warning if there are more than the data set promised."""
        batch = self._next_batch()
        self._yielded += 1
        if self._stated_length is not None and self._yielded > self._stated_length:
            message = LONGER.format(self._dataset, self._stated_length, self._yielded)
            warnings.warn(message + (REPLICAS if self._num_workers else ""), stacklevel=3)
        return pinned(batch) if self._pins else batch


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Takes the next indices from the sampler and fetches their samples, when it is asked for a batch."""

    def __init__(self, loader):
        super().__init__(loader)
        self._indices = iter(loader._index_sampler)
        self._fetch = fetcher_of(loader)

    def _next_batch(self):
        return self._fetch(next(self._indices))


def draw_base_seed(generator):
    """Each new iterator draws one number, from which workers derive their seeds; 0 workers draw it too."""
    return int(exports[""]["empty"]((), dtype=dt.int64).random_(generator=generator).item())
