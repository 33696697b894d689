"""DataLoader, samplers and collation in one process. Facts about PyTorch, checked without it."""
import numpy as np
import pytest

import teachtorch as torch
from teachtorch.utils.data import (BatchSampler, DataLoader, IterableDataset, RandomSampler, Subset, TensorDataset,
                                   default_collate, random_split)


class Squares:
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return i, float(i * i)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(7))


def shuffled(seed):
    torch.manual_seed(seed)
    return [i for batch, _ in DataLoader(Squares(), 3, shuffle=True) for i in batch.tolist()]


def test_every_sample_comes_once_in_an_order_of_the_seed():
    assert sorted(shuffled(1)) == list(range(10))
    assert shuffled(1) == shuffled(1) != shuffled(2)


def test_a_new_epoch_has_a_new_order():
    torch.manual_seed(0)
    loader = DataLoader(Squares(), None, shuffle=True)
    assert [i for i, _ in loader] != [i for i, _ in loader]


def test_each_iterator_draws_a_number_of_the_global_generator():
    torch.manual_seed(0)
    expected = torch.rand(1).item()
    torch.manual_seed(0)
    iter(DataLoader(Squares()))
    assert torch.rand(1).item() != expected


def test_a_generator_of_ones_own_leaves_the_global_one_alone():
    torch.manual_seed(0)
    expected = torch.rand(1).item()
    torch.manual_seed(0)
    list(DataLoader(Squares(), shuffle=True, generator=torch.Generator().manual_seed(5)))
    assert torch.rand(1).item() == expected


@pytest.mark.parametrize("drop_last, sizes", ((False, [4, 4, 2]), (True, [4, 4])))
def test_the_last_batch_is_shorter_or_dropped(drop_last, sizes):
    loader = DataLoader(Squares(), 4, drop_last=drop_last)
    assert [len(i) for i, _ in loader] == sizes and len(loader) == len(sizes)


def test_a_stream_is_cut_into_batches():
    assert [b.tolist() for b in DataLoader(Stream(), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in DataLoader(Stream(), 3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]


def test_samples_are_fetched_when_they_are_asked_for():
    asked = []

    class Noting(Squares):
        def __getitem__(self, i):
            asked.append(i)
            return i
    iterator = iter(DataLoader(Noting(), 2))
    assert asked == []
    next(iterator)
    assert asked == [0, 1]


def test_collation_keeps_numpys_dtypes_and_makes_floats_float64():
    assert default_collate([1.0, 2.0]).dtype is torch.float64
    assert default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert default_collate([1, 2]).dtype is torch.int64 and default_collate([True]).dtype is torch.bool
    assert default_collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y", "c": 0}])["b"] == ["x", "y"]


def test_what_cannot_be_a_tensor_is_refused():
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors"):
        default_collate([None])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1], [1, 2]])


def test_rows_of_tensors_are_gathered_as_they_would_be_stacked():
    data = TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))
    for dataset in (data, Subset(data, [5, 0, -1, 2])):
        slow = DataLoader(dataset, 3, collate_fn=lambda samples: default_collate(samples))
        for fast, stacked in zip(DataLoader(dataset, 3), slow, strict=True):
            assert [t.tolist() for t in fast] == [t.tolist() for t in stacked] and type(fast) is list


def test_a_tensor_dataset_with_samples_of_its_own_is_asked_for_them():
    class Doubled(TensorDataset):
        def __getitem__(self, i):
            return super().__getitem__(i)[0] * 2
    assert next(iter(DataLoader(Doubled(torch.ones(2)), 2))).tolist() == [2, 2]


def test_fractions_are_floored_and_the_rest_goes_round():
    parts = random_split(range(7), [0.5, 0.3, 0.2], generator=torch.Generator().manual_seed(0))
    assert [len(p) for p in parts] == [4, 2, 1]
    assert sorted(i for part in parts for i in part) == list(range(7))


def test_subsets_and_tensor_datasets_are_views_of_their_data():
    images = torch.arange(12.0).view(4, 3)
    part = Subset(TensorDataset(images), [3, 1])
    assert part[0][0].tolist() == [9.0, 10.0, 11.0]
    images[3] = 0
    assert part[0][0].tolist() == [0.0, 0.0, 0.0]


def test_random_sampling_with_replacement_repeats():
    torch.manual_seed(0)
    drawn = list(RandomSampler(range(5), replacement=True, num_samples=100))
    assert len(drawn) == 100 and set(drawn) == set(range(5))


def test_batches_of_a_sampler():
    assert list(BatchSampler("abcde", 2, False)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(BatchSampler("abcde", 2, True)) == [["a", "b"], ["c", "d"]]
