"""1,797 real handwritten digits, 8 by 8 pixels, from the UCI Machine Learning Repository."""

import gzip
from importlib import resources

import numpy as np

FULL_INK = 16  # a pixel counts the inked points of a 4 by 4 block of the scan


def load_digits():
    """Return all digits as `(images, labels)`.

    Returns:
        images: float32 of shape (1797, 8, 8), 0 for paper to 1 for full ink.
        labels: int64 of shape (1797,), the digits 0 to 9.

    Source: "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, 1998,
    https://doi.org/10.24432/C50P49, CC BY 4.0.
    """
    packed = resources.files(__package__).joinpath("digits.csv.gz").read_bytes()
    text = gzip.decompress(packed).decode("ascii").splitlines()
    table = np.loadtxt(text, delimiter=",", dtype=np.int64)
    images = table[:, :64].reshape(-1, 8, 8).astype(np.float32) / np.float32(FULL_INK)
    return images, table[:, 64].copy()


def split_digits(test_size=360, seed=0):
    """Return `(train_images, train_labels), (test_images, test_labels)`, shuffled by `seed`.

    Neighbouring rows come from the same writer, so the rows are shuffled before they are cut;
    the same seed gives the same split on every machine.

    Args:
        test_size: how many of the 1,797 digits are held back for the test.
        seed: seed of the shuffle.

    Raises:
        ValueError: if either part would be empty.
    """
    images, labels = load_digits()
    if not 0 < test_size < len(labels):
        raise ValueError(f"split_digits: test_size must be 1 to {len(labels) - 1}, got {test_size}")
    order = np.random.RandomState(seed).permutation(len(labels))
    test, train = order[:test_size], order[test_size:]
    return (images[train], labels[train]), (images[test], labels[test])
