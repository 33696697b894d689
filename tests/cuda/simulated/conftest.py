"""Random data, device arrays of odd shapes, memory that is poisoned."""

import numpy as np
import pytest
from numba import cuda

from teachtorch.kernels.cuda.arrays import Strided, contiguous_strides


def pytest_collection_modifyitems(items):
    """Simulated threads compute with NumPy scalars, which warn where a GPU is silent (inf - inf)."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore::RuntimeWarning"))


@pytest.fixture
def rng():
    return np.random.default_rng(np.random.SeedSequence().entropy)


POISON = {"f": np.nan, "i": -77, "u": 177, "b": True}


class Guarded:
    """A poisoned flat device array of `size` elements, with more poison behind it that must stay."""

    BEHIND = 40

    def __init__(self, size, dtype):
        self.size, self.poison = size, np.dtype(dtype).type(POISON[np.dtype(dtype).kind])
        self.whole = cuda.to_device(np.full(size + self.BEHIND, self.poison, dtype))
        self.memory = self.whole[:size]

    def result(self, shape=None):
        """The elements, once it is seen that nothing was written behind them."""
        host = self.whole.copy_to_host()
        np.testing.assert_array_equal(host[self.size :], self.poison, "written behind the end")
        return host[: self.size].reshape(self.size if shape is None else shape)

    def strided(self, shape):
        return Strided(self.memory, shape, contiguous_strides(shape))


def strided(array):
    """A NumPy array, of any strides, as a Strided over a copy of the memory that it spans."""
    steps = [step // array.itemsize for step in array.strides]
    extent = 1 + sum((size - 1) * step for size, step in zip(array.shape, steps)) if array.size else 0
    flat = np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))
    return Strided(cuda.to_device(flat.copy()), array.shape, steps)


def flat(array):
    return cuda.to_device(np.ascontiguousarray(array).reshape(-1))
