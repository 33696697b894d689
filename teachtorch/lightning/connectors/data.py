"""Where the loaders come from, how many of their batches are taken, and what is changed about them."""

import math

from ...utils.data import DataLoader, RandomSampler, SequentialSampler
from ...utils.data.distributed import DistributedSampler
from ..errors import MisconfigurationException
from ..hooks import DataHooks
from ..loops.fetcher import has_length

TOO_FEW = (
    "You requested to check {0} of the `{1}` but {0} * {2} < 1. Please increase the "
    "`limit_{3}_batches` argument. "
    "Try at least `limit_{3}_batches={4}`"
)
OPTIONS = (
    "batch_size",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "prefetch_factor",
    "persistent_workers",
    "in_order",
)


class DataSource:
    """The loaders of a run: those given to fit and its like, else the data module's, else the module's."""

    def __init__(self, trainer):
        self.trainer, self.given, self.datamodule = trainer, {}, None

    def attach(self, given, datamodule):
        self.given = {name: loader for name, loader in given.items() if loader is not None}
        self.datamodule = datamodule
        if datamodule is not None:
            datamodule.trainer = self.trainer

    def owner(self, name):
        """Who has the hook `{name}_dataloader`: the data module, the module, or None."""
        for one in (self.datamodule, self.trainer.lightning_module):
            method = f"{name}_dataloader"
            if one is not None and (
                method in vars(one) or getattr(type(one), method, None) is not getattr(DataHooks, method)
            ):
                return one
        return None

    def has(self, name):
        return name in self.given or self.owner(name) is not None

    def loader(self, name):
        """The loader, or the loaders. MisconfigurationException where there are none."""
        if name in self.given:
            return self.given[name]
        owner = self.owner(name)
        if owner is None:
            raise MisconfigurationException(
                f"No `{name}_dataloader`: pass one to the trainer's method, or define `{name}_dataloader()`"
            )
        if owner is self.trainer.lightning_module:
            return self.trainer.calls.method(f"{name}_dataloader")
        return getattr(owner, f"{name}_dataloader")()


def limit_of(limit, loader, name):
    """How many batches are taken: an int is a number, a float a part. math.inf where the length is not known."""
    length = len(loader) if has_length(loader) else math.inf
    if isinstance(limit, int) or limit == 0.0:
        return min(int(limit), length)
    if limit == 1.0:
        return length
    if length == math.inf:
        raise MisconfigurationException(
            f"When using an `IterableDataset`, `Trainer(limit_*_batches)` must be `1.0`, "
            f"`0.0` or an int, got {limit} for `{name}`"
        )
    if length > 0 and int(length * limit) == 0:
        kind = name.split("_")[0]
        raise MisconfigurationException(TOO_FEW.format(limit, name, length, kind, 1 / length))
    return int(length * limit)


def prepared(trainer, loader, is_training):
    """The loader as this run needs it: in one order when overfitting, each process its part when there are several."""
    if not isinstance(loader, DataLoader):
        if is_training and isinstance(loader, (list, tuple, dict)):
            raise MisconfigurationException(
                f"one loader to train with is supported, got {type(loader).__name__} of {len(loader)}"
            )
        return loader
    if is_training and trainer.overfit_batches and isinstance(loader.sampler, RandomSampler):
        return with_sampler(loader, SequentialSampler(loader.dataset))
    if trainer.world_size > 1 and trainer.use_distributed_sampler and is_standard(loader.sampler):
        shuffle = isinstance(loader.sampler, RandomSampler)
        return with_sampler(
            loader,
            DistributedSampler(loader.dataset, trainer.world_size, trainer.global_rank, shuffle=shuffle),
        )
    return loader


def is_standard(sampler):
    return isinstance(sampler, (RandomSampler, SequentialSampler))


def with_sampler(loader, sampler):
    """A loader like this one, with another sampler."""
    return DataLoader(loader.dataset, sampler=sampler, **{name: getattr(loader, name) for name in OPTIONS})
