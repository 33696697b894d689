"""Random bits against the published vectors, numbers against their distributions."""

import numpy as np
import pytest

from teachtorch.kernels.cuda import philox

from .conftest import Guarded

# Random123, kat_vectors, philox4x32-10: counter, key, result, as 32-bit words, lowest first.
VECTORS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize("counter, key, result", VECTORS)
def test_bits_are_those_of_the_paper(counter, key, result):
    words = [low | high << 32 for low, high in (counter[:2], counter[2:], key)]
    found = [philox.philox(*words, part) for part in (0, 1)]
    assert [word for pair in found for word in (pair >> 32, pair & 0xFFFFFFFF)] == result


def drawn(draw, dtype, first, second=0, seed=7, launch=1, size=601):
    out = Guarded(size, dtype)
    philox.run(draw, out.strided((size,)), seed, launch, first, second)
    return out.result().astype(np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dtype):
    """601 draws lie within five standard errors of mean and deviation."""
    for draw, numbers, mean, deviation in (
        ("uniform", (2, 5), 3.5, 3 / 12**0.5),
        ("normal", (-1, 2), -1, 2),
        ("exponential", (4,), 0.25, 0.25),
        ("bernoulli", (0.3,), 0.3, 0.21**0.5),
    ):
        found = drawn(draw, dtype, *numbers)
        assert abs(found.mean() - mean) < 5 * deviation / 601**0.5, draw
        assert abs(found.std() / deviation - 1) < 0.25, draw
    uniform = drawn("uniform", dtype, 2, 5)
    assert uniform.min() >= 2 and uniform.max() < 5


def test_integers():
    found = drawn("integers", np.int64, -3, 4)
    assert set(found) == set(range(-3, 4))


def test_each_launch_and_each_seed_draws_other_numbers():
    found = [drawn("uniform", np.float64, 0, 1, *each, size=9) for each in ((7, 1), (7, 2), (8, 1))]
    assert len({tuple(each) for each in found}) == 3
    np.testing.assert_array_equal(found[0], drawn("uniform", np.float64, 0, 1, 7, 1, size=9))


def test_a_tensor_of_any_strides():
    out = Guarded(12, np.float64)
    spread = type(out.strided((3,)))(out.memory, (3, 2), (1, 6))
    philox.run("uniform", spread, 1, 1, 0, 1)
    found = out.result()
    assert np.isfinite(found[[0, 1, 2, 6, 7, 8]]).all() and np.isnan(found[[3, 4, 5, 9, 10, 11]]).all()
