"""dist, renorm, trapezoid, unravel_index and windows, against PyTorch."""
import pytest

from tests.parity.both import assert_same

torch = pytest.importorskip("torch")

CALLS = {
    "dist": lambda T: T.dist(T.tensor([1.0, 2.0, -4.0]), T.tensor(0.5)),
    "dist 0": lambda T: T.dist(T.tensor([1.0, 2.0]), T.tensor([1.0, 0.0]), 0),
    "dist inf": lambda T: T.tensor([1.0, 2.0]).dist(T.tensor([0.0, 0.0]), float("inf")),
    "dist shapes": lambda T: T.dist(T.ones(2), T.ones(3)),
    "dist integers": lambda T: T.dist(T.ones(2).long(), T.ones(2).long()),
    "renorm": lambda T: T.renorm(T.arange(6.0).reshape(2, 3), 1, 0, 5.0),
    "renorm last": lambda T: T.arange(6.0).reshape(2, 3).renorm(2, -1, 2.0),
    "renorm_": lambda T: T.arange(6.0).reshape(2, 3).renorm_(2, 1, 2.0),
    "renorm one dimension": lambda T: T.renorm(T.ones(3), 1, 0, 1.0),
    "renorm p": lambda T: T.renorm(T.ones(2, 3), -1, 0, 1.0),
    "renorm maxnorm": lambda T: T.renorm(T.ones(2, 3), 1, 0, -1.0),
    "trapezoid": lambda T: T.trapezoid(T.tensor([1.0, 5.0, 10.0])),
    "trapezoid x": lambda T: T.trapezoid(T.arange(6.0).reshape(2, 3), T.tensor([0.0, 1.0, 3.0])),
    "trapezoid x dim": lambda T: T.trapezoid(T.arange(6.0).reshape(3, 2), T.tensor([0.0, 1.0, 3.0]), dim=0),
    "trapezoid x same": lambda T: T.trapezoid(T.ones(2, 3), T.arange(6.0).reshape(2, 3)),
    "trapezoid dx": lambda T: T.trapz(T.arange(6.0).reshape(3, 2), dx=2, dim=0),
    "trapezoid integers": lambda T: T.trapezoid(T.tensor([1, 5, 10])),
    "trapezoid nothing": lambda T: T.trapezoid(T.ones(0)),
    "trapezoid number": lambda T: T.trapezoid(T.tensor(1.0)),
    "trapezoid lengths": lambda T: T.trapezoid(T.ones(3), T.arange(4.0)),
    "cumulative": lambda T: T.cumulative_trapezoid(T.arange(6.0).reshape(2, 3), T.tensor([0.0, 1.0, 3.0])),
    "cumulative dx": lambda T: T.cumulative_trapezoid(T.arange(6).reshape(2, 3), dx=0.5, dim=0),
    "unravel": lambda T: T.unravel_index(T.tensor([[5], [7]]), (2, 4)),
    "unravel 3": lambda T: T.unravel_index(T.arange(24), (2, 3, 4)),
    "unravel int": lambda T: T.unravel_index(T.tensor([3, 1]), 5),
    "unravel floats": lambda T: T.unravel_index(T.ones(2), (2, 4)),
    "hann": lambda T: T.hann_window(9), "hann whole": lambda T: T.hann_window(8, False),
    "hann 1": lambda T: T.hann_window(1), "hann 0": lambda T: T.hann_window(0),
    "hann double": lambda T: T.hann_window(5, dtype=T.float64), "hann int": lambda T: T.hann_window(5, dtype=T.int32),
    "hann negative": lambda T: T.hann_window(-1),
    "hamming": lambda T: T.hamming_window(6), "hamming own": lambda T: T.hamming_window(4, True, 0.5, 0.4),
    "blackman": lambda T: T.blackman_window(7), "bartlett": lambda T: T.bartlett_window(6, periodic=False),
    "kaiser": lambda T: T.kaiser_window(6), "kaiser own": lambda T: T.kaiser_window(6, False, 3.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    assert_same(torch, CALLS[name], rtol=3e-6)
