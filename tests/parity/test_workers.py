"""DataLoader's worker processes against PyTorch's: the same seeds, orders and messages."""

import random

import numpy as np
import pytest

import teachtorch

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:This process .* is multi-thread")

LIBRARIES = (torch, teachtorch)


class Samples:
    """Sample i is `function(library, i)`."""

    def __init__(self, library, function, n=6):
        self.library, self.function, self.n = library, function, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.function(self.library, i)


def draws(library, i):
    info = library.utils.data.get_worker_info()
    return [i, info.id, info.seed, random.random(), np.random.rand(), library.rand(1).item()]


def loader(library, function=draws, *args, **options):
    return library.utils.data.DataLoader(Samples(library, function), *args, **options)


def plain(batch):
    """A batch without tensors, to compare across libraries."""
    if isinstance(batch, (list, tuple)):
        return [plain(b) for b in batch]
    return batch.tolist() if hasattr(batch, "tolist") else batch


@pytest.mark.parametrize("options", [
    dict(num_workers=1), dict(num_workers=2), dict(num_workers=3, prefetch_factor=1, batch_size=2),
    dict(num_workers=2, shuffle=True), dict(num_workers=2, persistent_workers=True),
    dict(num_workers=2, batch_size=None, shuffle=True)], ids=str)
def test_workers_draw_pytorchs_numbers(options):
    found = []
    for library in LIBRARIES:
        library.manual_seed(11)
        made = loader(library, **options)
        found.append([plain(list(made)), plain(list(made)), library.rand(1).item()])
    assert found[0] == found[1]


@pytest.mark.parametrize("options", [dict(), dict(batch_size=3), dict(batch_size=None), dict(drop_last=True, batch_size=3)],
                         ids=str)
@pytest.mark.parametrize("sharded", [True, False])
def test_streams_end_as_in_pytorch(sharded, options):
    found = []
    for library in LIBRARIES:
        class Stream(library.utils.data.IterableDataset):
            def __iter__(self):
                info = library.utils.data.get_worker_info()
                return iter(range(info.id, 7, info.num_workers) if sharded else range(7))

        found.append(plain(list(library.utils.data.DataLoader(Stream(), num_workers=3, **options))))
    assert found[0] == found[1]


def fails(library, i):
    if i == 1:
        raise KeyError("no sample")
    return i


def failure(library):
    iterator = iter(loader(library, fails, num_workers=2))
    with pytest.raises(KeyError) as caught:
        list(iterator)
    list(iterator)                          # to the end: PyTorch's workers end late when they are left
    return str(caught.value)


def test_an_error_reads_as_in_pytorch():
    ours, theirs = failure(teachtorch).splitlines(), failure(torch).splitlines()
    assert ours[:2] == theirs[:2] and ours[-3:] == theirs[-3:]


@pytest.mark.parametrize("options", [
    dict(num_workers=1, prefetch_factor=-1), dict(prefetch_factor=1), dict(persistent_workers=True),
    dict(timeout=-1), dict(multiprocessing_context="fork"), dict(num_workers=1, multiprocessing_context="no"),
    dict(num_workers=1, multiprocessing_context=3)], ids=str)
def test_arguments_are_refused_in_pytorchs_words(options):
    errors = []
    for library in LIBRARIES:
        with pytest.raises((ValueError, TypeError)) as caught:
            loader(library, **options)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
