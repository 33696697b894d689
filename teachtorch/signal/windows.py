"""Window functions (torch.signal.windows), as in scipy.signal.windows.

Each takes the number of points M, and by name: `sym` (True: symmetric, for filters; False: one period of a periodic
window, for spectra), `dtype` (float32 or float64), `layout`, `device` and `requires_grad`. Results have the shape (M,).
ValueError for a negative M, another dtype or layout.
"""
import collections.abc
import math

from ..core import dtype as dt
from ..core import settings
from ..core.layout import strided
from ..ops.declare import exports

_torch = exports[""]

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
           "hann", "kaiser", "nuttall"]


def _checked(name, M, dtype, layout):
    """The dtype of a window. ValueError for what no window has."""
    dtype = dtype or settings.default_dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dt.float32, dt.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _ones(M, dtype, device, requires_grad):
    return _torch["ones"]((M,), dtype=dtype, device=device, requires_grad=requires_grad)


def _places(start, end, M, dtype, device, requires_grad):
    """M evenly spaced numbers, of which the window is a function."""
    return _torch["linspace"](start, end, M, dtype=dtype, device=device, requires_grad=requires_grad)


def _periods(M, sym):
    """How many points one period of the window has."""
    return M if not sym and M > 1 else M - 1


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-|n - center| / tau). `center`: the middle, unless `sym` is False. `tau`: how slowly it decays, positive."""
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return _ones(0, dtype, device, requires_grad)
    center = _periods(M, sym) / 2.0 if center is None else center
    constant = 1 / tau
    return (-_places(-center * constant, (-center + (M - 1)) * constant, M, dtype, device, requires_grad).abs()).exp()


def cosine(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """sin(pi (n + 1/2) / M)."""
    dtype = _checked("cosine", M, dtype, layout)
    if M == 0:
        return _ones(0, dtype, device, requires_grad)
    constant = math.pi / (_periods(M, sym) + 1)
    return _places(0.5 * constant, (0.5 + (M - 1)) * constant, M, dtype, device, requires_grad).sin()


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-n² / (2 std²)), n counted from the middle. `std`: the standard deviation, positive."""
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return _ones(0, dtype, device, requires_grad)
    start, constant = -_periods(M, sym) / 2.0, 1 / (std * math.sqrt(2))
    return (-_places(start * constant, (start + (M - 1)) * constant, M, dtype, device, requires_grad) ** 2).exp()


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """I0(beta sqrt(1 - x²)) / I0(beta), x from -1 to 1; I0 is torch.i0. `beta`: how narrow it is, not negative."""
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _ones(M, dtype, device, requires_grad)
    beta = _torch["tensor"](beta, dtype=dtype, device=device)
    end = _torch["minimum"](beta, -beta + (M - 1) * (2.0 * beta / (M - 1 if sym else M)))
    places = _places(-beta, end, M, dtype, device, requires_grad)
    return (beta * beta - places.pow(2)).sqrt().i0() / beta.i0()


def bartlett(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A triangle, 0 at its ends."""
    dtype = _checked("bartlett", M, dtype, layout)
    if M < 2:
        return _ones(M, dtype, device, requires_grad)
    constant = 2 / (M - 1 if sym else M)
    return 1 - _places(-1, -1 + (M - 1) * constant, M, dtype, device, requires_grad).abs()


def general_cosine(M, *, a, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The sum over i of (-1)^i a[i] cos(2 pi i n / M'), where M' is M, or M - 1 if `sym`. `a`: a list of numbers."""
    dtype = _checked("general_cosine", M, dtype, layout)
    if M < 2:
        return _ones(M, dtype, device, requires_grad)
    if not isinstance(a, collections.abc.Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    constant = 2 * math.pi / (M - 1 if sym else M)
    places = _places(0, (M - 1) * constant, M, dtype, device, requires_grad)
    weights = _torch["tensor"]([(-1) ** i * w for i, w in enumerate(a)], dtype=dtype, device=device,
                               requires_grad=requires_grad)
    order = _torch["arange"](len(a), dtype=dtype, device=device, requires_grad=requires_grad)
    return (weights.unsqueeze(-1) * (order.unsqueeze(-1) * places).cos()).sum(0)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """alpha - (1 - alpha) cos(2 pi n / M')."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi n / M')."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """(1 - cos(2 pi n / M')) / 2."""
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / M') + 0.08 cos(4 pi n / M')."""
    dtype = _checked("blackman", M, dtype, layout)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The sum of four cosines with the least side lobes (Nuttall 1981)."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)
