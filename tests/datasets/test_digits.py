"""The digits that come with the package are UCI's, whole and unchanged."""

import numpy as np
import pytest

from teachtorch.datasets import load_digits, split_digits


def test_shapes_and_dtypes():
    images, labels = load_digits()
    assert images.shape == (1797, 8, 8) and images.dtype == np.float32
    assert labels.shape == (1797,) and labels.dtype == np.int64
    assert images.flags.c_contiguous and labels.flags.c_contiguous


def test_pixels_are_sixteenths_between_paper_and_full_ink():
    images, _ = load_digits()
    assert images.min() == 0 and images.max() == 1
    assert np.array_equal(images * 16, np.round(images * 16))


def test_class_counts_are_those_of_the_uci_test_part():
    _, labels = load_digits()
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_first_row_is_the_known_zero():
    images, labels = load_digits()
    assert labels[0] == 0
    assert (images[0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_every_call_returns_arrays_of_its_own():
    first, _ = load_digits()
    first[:] = 7
    assert load_digits()[0].max() == 1


def test_split_deals_every_digit_exactly_once():
    images, _ = load_digits()
    (train, train_labels), (held, held_labels) = split_digits(test_size=300)
    assert train.shape == (1497, 8, 8) and held.shape == (300, 8, 8)
    assert len(train_labels) == 1497 and len(held_labels) == 300
    dealt = np.concatenate([train, held]).reshape(1797, 64)
    assert np.array_equal(np.sort(dealt, axis=0), np.sort(images.reshape(1797, 64), axis=0))


def test_split_keeps_images_with_their_labels():
    images, labels = load_digits()
    label_of = {image.tobytes(): label for image, label in zip(images, labels)}
    for part_images, part_labels in split_digits():
        assert [label_of[image.tobytes()] for image in part_images] == part_labels.tolist()


def test_a_seed_names_a_split():
    def held_back(seed):
        return split_digits(seed=seed)[1][1].tolist()

    assert held_back(1) == held_back(1)
    assert held_back(1) != held_back(2)


def test_every_digit_appears_in_both_parts():
    for _, labels in split_digits():
        assert set(labels) == set(range(10))


@pytest.mark.parametrize("size", [0, 1797, -1])
def test_a_split_with_an_empty_part_is_refused(size):
    with pytest.raises(ValueError, match="test_size"):
        split_digits(test_size=size)
