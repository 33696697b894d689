"""Datasets, samplers and the DataLoader against PyTorch: the same samples in the same random order."""

import collections

import numpy as np
import pytest

from tests.parity.programs import assert_same, programs

torch = pytest.importorskip("torch")

Point = collections.namedtuple("Point", "x y")


def check(program):
    assert_same(torch, program)


def numbers(torch, n=10):
    return torch.utils.data.TensorDataset(torch.arange(n), torch.arange(n) * 1.5)


def stream(torch, n=7):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(n))

    return Stream()


# ---- the loader --------------------------------------------------------------------------------------------

LOADERS = [
    "numbers",
    "numbers, batch_size=3",
    "numbers, batch_size=3, drop_last=True",
    "numbers, 4, True",
    "numbers, 4, shuffle=False",
    "numbers, batch_size=None",
    "numbers, batch_size=None, shuffle=True",
    "numbers, 3, sampler=[4, 2, 0, 1]",
    "numbers, batch_sampler=[[1, 2], [3]]",
    "numbers, 2, True, collate_fn=len",
    "numbers, 4, True, generator=g",
    "numbers, 4, sampler=D.RandomSampler(numbers, replacement=True, num_samples=40)",
    "stream",
    "stream, 3",
    "stream, 3, drop_last=True",
    "stream, batch_size=None",
    "stream, 2, shuffle=False",
    "numbers, 2, sampler=D.SubsetRandomSampler([1, 3, 5])",
    "numbers, 2, sampler=D.WeightedRandomSampler([1.0, 2, 3, 0, 0, 0, 0, 0, 0, 0], 5)",
    "list(range(5)), 2",
    "{0: 'a', 1: 'b'}, 2",
    "D.Subset(numbers, [5, 1]), 2",
    "D.ConcatDataset([numbers, numbers]), 16",
]


@pytest.mark.parametrize("arguments", LOADERS)
def test_two_epochs(arguments):
    """Batches, length, and how far the global generator has come, over two epochs."""

    def program(torch):
        D = torch.utils.data
        torch.manual_seed(5)
        names = {
            "D": D,
            "numbers": numbers(torch),
            "stream": stream(torch),
            "g": torch.Generator().manual_seed(9),
        }
        loader = eval(f"D.DataLoader({arguments})", names)
        epochs = [list(loader), list(loader)]
        length = len(loader) if "stream" not in arguments else None
        return epochs, length, torch.rand(1), loader.batch_size, loader.drop_last

    check(program)


REFUSED = [
    "numbers, 2, True, sampler=[1]",
    "numbers, 2, batch_sampler=[[1]]",
    "numbers, batch_sampler=[[1]], shuffle=True",
    "numbers, batch_size=None, drop_last=True",
    "numbers, 0",
    "numbers, -1",
    "numbers, 2.5",
    "numbers, timeout=-1",
    "numbers, num_workers=-1",
    "numbers, prefetch_factor=2",
    "numbers, persistent_workers=True",
    "stream, shuffle=True",
    "stream, sampler=[1]",
    "stream, batch_sampler=[[1]]",
    "numbers[:0], 2, True",
    "numbers, multiprocessing_context='fork'",
    "numbers, 2, drop_last=1",
]


@pytest.mark.parametrize("arguments", REFUSED)
def test_refusal(arguments):
    def program(torch):
        D = torch.utils.data
        names = {"D": D, "numbers": numbers(torch), "stream": stream(torch)}
        return len(eval(f"D.DataLoader({arguments})", names))

    check(program)


def sampler_is_fixed(torch):
    loader = torch.utils.data.DataLoader(numbers(torch))
    loader.num_workers = 0
    loader.batch_size = 3


def iterator_facts(torch):
    iterator = iter(torch.utils.data.DataLoader(numbers(torch), 4))
    first = next(iterator)
    return len(iterator), first, len(list(iterator)), iter(iterator) is iterator


def length_of_a_stream(torch):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(7))

        def __len__(self):
            return 7

    D = torch.utils.data
    return [
        len(D.DataLoader(Stream(), size, drop_last=drop))
        for size, drop in ((None, False), (3, False), (3, True))
    ]


def stream_longer_than_it_says(torch):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(4))

        def __len__(self):
            return 2

    loader = torch.utils.data.DataLoader(Stream())
    return len(loader), list(loader)


def stream_without_length(torch):
    return len(torch.utils.data.DataLoader(stream(torch)))


def an_error_in_the_dataset(torch):
    class Broken(torch.utils.data.Dataset):
        def __len__(self):
            return 3

    list(torch.utils.data.DataLoader(Broken()))


def items_at_once(torch):
    class Fast(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [i * 10 for i in indices]

    return list(torch.utils.data.DataLoader(Fast(), 2))


def worker_info(torch):
    return torch.utils.data.get_worker_info()


@programs(
    sampler_is_fixed,
    iterator_facts,
    length_of_a_stream,
    stream_longer_than_it_says,
    stream_without_length,
    an_error_in_the_dataset,
    items_at_once,
    worker_info,
)
def test_loader(program):
    check(program)


# ---- samplers ----------------------------------------------------------------------------------------------

SAMPLERS = [
    "SequentialSampler(data)",
    "RandomSampler(data)",
    "RandomSampler(data, num_samples=25)",
    "RandomSampler(data, num_samples=4)",
    "RandomSampler(data, True)",
    "RandomSampler(data, True, 70)",
    "RandomSampler(data, generator=g)",
    "SubsetRandomSampler([3, 1, 4, 1])",
    "SubsetRandomSampler(data, generator=g)",
    "WeightedRandomSampler([0.1, 0.9], 8)",
    "WeightedRandomSampler([1.0, 2, 3], 3, replacement=False, generator=g)",
    "BatchSampler(range(7), 3, False)",
    "BatchSampler(range(7), 3, True)",
    "BatchSampler(RandomSampler(data), 4, False)",
    "RandomSampler(data, num_samples=0)",
    "RandomSampler(data, replacement=1)",
    "RandomSampler([])",
    "WeightedRandomSampler([1.0], 0)",
    "WeightedRandomSampler([[1.0]], 1)",
    "WeightedRandomSampler([1.0], 1, replacement=1)",
    "BatchSampler(data, True, False)",
    "BatchSampler(data, 2, 0)",
    *[f"DistributedSampler({data}, {count}, {rank}, {more})" for data, count, rank in (
        ("data", 2, 0), ("data", 3, 2), ("data", 4, 3), ("range(2)", 5, 4), ("range(5)", 2, 1), ("data", 1, 0))
      for more in ("", "False", "True, 7", "False, drop_last=True", "drop_last=True")],
    "DistributedSampler(data, 2, 2)",
    "DistributedSampler(data, 2, -1)",
    "DistributedSampler(data, 2)",
    "DistributedSampler(data)",
    "DistributedSampler([], 2, 0)",
]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_sampler(sampler):
    def program(torch):
        torch.manual_seed(3)
        names = {**vars(torch.utils.data), "data": range(10), "g": torch.Generator().manual_seed(1)}
        made = eval(sampler, names)
        return list(made), list(made), len(made), torch.rand(1)

    check(program)


@pytest.mark.parametrize("shuffle", (True, False))
def test_epochs_of_a_distributed_sampler(shuffle):
    def program(torch):
        sampler, orders = torch.utils.data.DistributedSampler(range(7), 2, 1, shuffle), []
        for epoch in (0, 1, 5):
            sampler.set_epoch(epoch)
            orders.append([list(sampler), sampler.epoch, sampler.num_samples, sampler.total_size])
        return orders

    check(program)


# ---- datasets ----------------------------------------------------------------------------------------------

DATASETS = [
    "numbers[3]",
    "numbers[2:4]",
    "len(numbers)",
    "D.TensorDataset(torch.ones(2), torch.ones(3))",
    "len(numbers + numbers)",
    "(numbers + numbers)[13]",
    "(numbers + numbers)[-1]",
    "(numbers + numbers)[-21]",
    "(numbers + numbers)[20]",
    "D.ConcatDataset([])",
    "D.ConcatDataset([stream])",
    "list(stream + stream)",
    "list(D.ChainDataset([[1]]))",
    "len(stream + stream)",
    "D.Subset(numbers, [4, 5])[1]",
    "D.Subset(numbers, [4, 5])[[0, 1]]",
    "len(D.Subset(numbers, [4, 5]))",
    "D.Subset(numbers, [4, 5]).__getitems__([1, 0])",
    "D.StackDataset(numbers, range(10))[2]",
    "D.StackDataset(a=numbers, b=range(10))[2]",
    "D.StackDataset(numbers, range(10)).__getitems__([1, 2])",
    "D.StackDataset(a=numbers).__getitems__([1])",
    "D.StackDataset(numbers, range(3))",
    "D.StackDataset()",
    "D.StackDataset(numbers, a=numbers)",
    "len(D.StackDataset(numbers))",
    "D.Dataset()[0]",
    "iter(D.IterableDataset())",
    "[list(s.indices) for s in D.random_split(range(10), [3, 7])]",
    "[list(s.indices) for s in D.random_split(range(10), [0.33, 0.33, 0.34], generator=g)]",
    "[len(s) for s in D.random_split(range(7), [0.5, 0.3, 0.2])]",
    "D.random_split(range(3), [1, 1])",
    "D.random_split(range(3), [0.5, 0.4])",
    "D.random_split(range(3), [1.5, -0.5])",
    "[len(s) for s in D.random_split(range(2), [0.1, 0.9])]",
    "D.Dataset[int] is not None",
    "list(D.ChainDataset([stream, stream]))",
    "len(D.ChainDataset([stream]))",
    "D.distributed.DistributedSampler is D.DistributedSampler",
    "D.get_worker_info()",
]


@pytest.mark.parametrize("expression", DATASETS)
def test_dataset(expression):
    def program(torch):
        torch.manual_seed(2)
        names = {
            "D": torch.utils.data,
            "torch": torch,
            "numbers": numbers(torch),
            "stream": stream(torch),
            "g": torch.Generator().manual_seed(1),
        }
        return eval(expression, names)

    check(program)


# ---- collating ---------------------------------------------------------------------------------------------

BATCHES = [
    "[torch.ones(2), torch.zeros(2)]",
    "[1, 2]",
    "[1.5, 2]",
    "[True, False]",
    "['a', 'b']",
    "[b'a']",
    "[(1, 2.0), (3, 4.0)]",
    "[[1, 2], [3, 4]]",
    "[Point(1, 2.0), Point(3, 4.0)]",
    "[{'a': 1, 'b': torch.ones(1)}, {'a': 2, 'b': torch.zeros(1), 'c': 3}]",
    "[np.ones(2), np.zeros(2)]",
    "[np.float32(1), np.float32(2)]",
    "[np.int16(1)]",
    "[np.bool_(True)]",
    "[np.array(3), np.array(4)]",
    "[([1], {'a': (2, 'x')})]",
    "[collections.OrderedDict(b=1, a=2)]",
    "[collections.defaultdict(int, a=1)]",
    "[range(3), range(3)]",
    "[[], []]",
    "[torch.ones(2), torch.ones(3)]",
    "[[1, 2], [3]]",
    "[None]",
    "[np.array(['a'])]",
    "[np.array([None])]",
    "[{'a': 1}, {}]",
    "[{1}]",
    "[3 + 1j]",
    "[np.str_('a')]",
    "[collections.deque([1, 2]), collections.deque([3, 4])]",
]


@pytest.mark.parametrize("function", ("default_collate", "default_convert"))
@pytest.mark.parametrize("batch", BATCHES)
def test_collate(batch, function):
    def program(torch):
        value = eval(batch, {"torch": torch, "np": np, "Point": Point, "collections": collections})
        made = getattr(torch.utils.data, function)(value)
        return made, kinds(made)

    check(program)


def kinds(value):
    """The types inside, containers opened."""
    if isinstance(value, dict):
        return [type(value).__name__, *[kinds(v) for v in value.values()]]
    if isinstance(value, (list, tuple, collections.deque)):
        return [type(value).__name__, *map(kinds, value)]
    return type(value).__name__
