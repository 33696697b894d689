"""Small real data sets that come with the package, as NumPy arrays."""

from teachtorch.datasets.digits import load_digits, split_digits

__all__ = ["load_digits", "split_digits"]
