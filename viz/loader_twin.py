"""A second PyTorch DataLoader with the arguments of the first, whose sampler, dataset and collate_fn report.

PyTorch's loader tells nobody what it does. But it asks its sampler for indices when it deals out a batch, and
calls dataset and collate_fn in the worker: parts that a user may replace.
"""

import sys
import time

STREAM = (
    "A stream has no sampler and begins unseen: when its batches were dealt is not known, and a bar begins where "
    "the worker's last one ended."
)
SAME = (
    "num_workers",
    "prefetch_factor",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "in_order",
)


def twin(loader, library, dealt):
    """(the loader, sentences on what it cannot tell). dealt: gets task -> time when indices are drawn."""
    data = library.utils.data
    if isinstance(loader.dataset, data.IterableDataset):
        return _stream_twin(loader, data), [STREAM]
    shared = Shared()
    chosen = {name: getattr(loader, name) for name in SAME}
    dataset = ReportingDataset(loader.dataset, shared)
    collate = ReportingCollate(loader.collate_fn, shared)
    if loader.batch_sampler is not None:
        sampler = ReportingSampler(loader.batch_sampler, dealt, _tagged_list)
        return data.DataLoader(dataset, batch_sampler=sampler, collate_fn=collate, **chosen), []
    sampler = ReportingSampler(loader.sampler, dealt, _tagged)
    return data.DataLoader(dataset, batch_size=None, sampler=sampler, collate_fn=collate, **chosen), []


def _stream_twin(loader, data):
    chosen = {name: getattr(loader, name) for name in SAME}
    collate = ReportingCollate(loader.collate_fn, Shared())
    sizes = {"batch_size": loader.batch_size, "drop_last": loader.drop_last}
    return data.DataLoader(loader.dataset, collate_fn=collate, **sizes, **chosen)


class Report:
    """A batch and who fetched it when. task: None for a stream."""

    def __init__(self, batch, task, worker, began, ended):
        self.batch, self.task, self.worker, self.began, self.ended = batch, task, worker, began, ended


class Shared:
    """What dataset and collate_fn of one worker tell each other: the task at hand and when it began."""

    def __init__(self):
        self.task, self.began, self.last = None, None, time.monotonic()

    def begin(self, task):
        if self.began is None:
            self.task, self.began = task, time.monotonic()

    def finish(self):
        """(task, began, ended) of the batch that is complete now."""
        now = time.monotonic()
        found = (self.task, self.last if self.began is None else self.began, now)
        self.task, self.began, self.last = None, None, now
        return found


def _tagged(task, index):
    return (task, index)


def _tagged_list(task, indices):
    return [(task, index) for index in indices]


class ReportingSampler:
    """Another sampler's indices, each with the number of its task."""

    def __init__(self, sampler, dealt, tag):
        self.sampler, self.dealt, self.tag = sampler, dealt, tag

    def __iter__(self):
        for task, indices in enumerate(self.sampler):
            self.dealt[task] = time.monotonic()
            yield self.tag(task, indices)

    def __len__(self):
        return len(self.sampler)

    def __getstate__(self):
        """Nothing of it is needed in a worker."""
        return {}


class ReportingDataset:
    """Another dataset, which notes when the first sample of a batch is asked for."""

    def __init__(self, dataset, shared):
        self.dataset, self.shared = dataset, shared

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, tagged):
        task, index = tagged
        self.shared.begin(task)
        return self.dataset[index]

    def __getitems__(self, tagged):
        self.shared.begin(tagged[0][0])
        indices = [index for _, index in tagged]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(indices)
        return [self.dataset[index] for index in indices]


class ReportingCollate:
    """Another collate_fn, whose result comes in a ``Report``."""

    def __init__(self, collate, shared):
        self.collate, self.shared = collate, shared

    def __call__(self, samples):
        batch = self.collate(samples)
        task, began, ended = self.shared.finish()
        return Report(batch, task, _worker_id(), began, ended)


def _worker_id():
    """The number of the worker that this runs in."""
    info = sys.modules["torch"].utils.data.get_worker_info()
    return None if info is None else info.id
