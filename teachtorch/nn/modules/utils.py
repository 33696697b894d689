"""Arguments that may be one value or one for each dimension (torch.nn.modules.utils)."""
from collections.abc import Iterable
from itertools import repeat


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))
    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = [_ntuple(n, name) for n, name in enumerate(
    ("_single", "_pair", "_triple", "_quadruple"), start=1)]


def _reverse_repeat_tuple(t, n):
    """The values in reverse, each `n` times: what nn.functional.pad takes."""
    return tuple(value for value in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """An output size with the input's sizes where it says None. ValueError for too few sizes."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [default if size is None else size for size, default in zip(out_size, defaults[-len(out_size):])]
