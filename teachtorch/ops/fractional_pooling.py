"""Fractional max pooling: windows of one size whose steps are random, so that any output size can be asked for.

Source: Graham, Fractional Max-Pooling, 2014; PyTorch's aten/src/ATen/native/FractionalMaxPool2d.cpp.
"""
import math

import numpy as np

from ..core import dtype as dt
from ..dispatch.operator import registry
from .creation import checked_size
from .declare import exports, operator, publish
from .fake import Fake, require_tensor
from .node_names import capital_dimensions
from .pooling_arguments import gathered, planes

AXES = {2: ("height", "width"), 3: ("time", "height", "width")}
SPARE = {2: 0, 3: 1}                    # elements that must stay uncovered: PyTorch wants one in three dimensions
COLUMNS = {2: (1, 0), 3: (0, 1, 2)}     # which column of the random samples moves each axis: PyTorch's order


def starts_of(samples, size, window, count):
    """Where the windows of one axis begin, (planes, count): steps of the mean length, shifted by the plane's sample."""
    last = np.full((len(samples), 1), size - window)
    if count <= 1:
        return last[:, :count]
    step = samples.dtype.type((size - window) / (count - 1))
    shifted = (np.arange(count - 1).astype(samples.dtype) + samples[:, None]) * step
    first = (shifted.astype(np.int64) - (samples[:, None] * step).astype(np.int64))
    return np.concatenate([first, last], 1)


def places_of(starts, window, axis, count):
    """The positions along one axis of all windows' elements, shaped to broadcast: (planes, *outputs, *window)."""
    positions = starts[:, :, None] + np.arange(window)
    shape = [len(starts)] + [1] * (2 * count)
    shape[1 + axis], shape[1 + count + axis] = starts.shape[1], window
    return positions.reshape(shape)


def maxima(flat, places, count):
    """(values, where in its plane) of the largest element of each window; NaN counts as the largest."""
    rows = np.arange(len(flat)).reshape(-1, *[1] * (2 * count))
    windows = flat[rows, places]
    windows = windows.reshape(*windows.shape[:1 + count], math.prod(places.shape[1 + count:]))
    best = np.argmax(windows, -1)[..., None]
    where = np.broadcast_to(places, (*windows.shape[:1 + count], *places.shape[1 + count:])).reshape(windows.shape)
    return np.take_along_axis(windows, best, -1)[..., 0], np.take_along_axis(where, best, -1)[..., 0]


def check_samples(self, samples, count):
    """Refuse random samples, an array or a tensor, that do not fit the input: (batch, channels, count)."""
    batch = self.shape[0] if len(self.shape) == count + 2 else 1
    if samples.dtype != self.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(samples.shape) != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {len(samples.shape)}")
    if samples.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != self.shape[-count - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != count:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {count}; got {samples.shape[2]}.")


def check_input(self, kernel_size, output_size, count, name):
    """Refuse an input, an array or a tensor, that has no room for the windows."""
    if len(self.shape) not in (count + 1, count + 2):
        raise RuntimeError(f"{name}: Expected {count + 1}D or {count + 2}D tensor, but got: {list(self.shape)}")
    for d in range(len(self.shape) - count - 1, len(self.shape)):
        if self.shape[d] == 0:
            raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but "
                               f"got{list(self.shape)} with dimension {d} being empty.")
    for axis, size, window, out in zip(AXES[count], self.shape[-count:], kernel_size, output_size):
        if out + window - 1 + SPARE[count] > size:
            raise RuntimeError(f"{name}: pool {axis} {window} too large relative to input {axis} {size}")
    checked_size((*self.shape[:-count], *output_size), name)


def declare_fractional_pool(count):
    """Declare fractional_max_pool{count}d_with_samples; return its function."""
    name = f"fractional_max_pool{count}d"
    caller = f"{name}()" if count == 2 else f"{name}_out()"

    def fake(self, kernel_size, output_size, samples):
        check_input(self, kernel_size, output_size, count, caller)
        check_samples(self, samples, count)
        shape = (*self._shape[:-count], *output_size)
        return Fake(shape, self._dtype), Fake(shape, dt.int64)

    def forward(self, kernel_size, output_size, samples):
        check_input(self, kernel_size, output_size, count, caller)
        check_samples(self, samples, count)
        flat = planes(self, count)
        draws = samples.reshape(-1, count)[:len(flat)]
        has_elements = min(kernel_size) > 0         # PyTorch takes windows without: the largest of nothing is -inf
        places = 0
        for axis, column in enumerate(COLUMNS[count]):
            size = self.shape[self.ndim - count + axis]
            starts = starts_of(draws[:, column], size, kernel_size[axis], output_size[axis])
            places = places * size + places_of(starts, kernel_size[axis] if has_elements else 1, axis, count)
        if has_elements:
            values, indices = maxima(flat.reshape(len(flat), math.prod(flat.shape[1:])), places, count)
        else:
            values, indices = np.full(places.shape, -np.inf, flat.dtype), places
        shape = (*self.shape[:-count], *output_size)
        return values.reshape(shape), indices.reshape(shape)

    forward.__doc__ = f"The maximum of each window over {count} dimensions, and where in its plane it is."
    back = registry[f"max_pool{count}d_with_indices_backward"]
    pool = operator(
        name, spaces=(), out=False, outputs=("result0", "result1"), fake=fake,
        jvp=lambda self_t, result1: (gathered(self_t, result1, count), None),
        vjp={"self": lambda grads, self, result1: back.call(grads[0], self, result1)})(forward)
    capital_dimensions(name)
    return pool


pools = {count: declare_fractional_pool(count) for count in (2, 3)}
DOC = ("The maximum of windows over {0} dimensions of a batch or one sample, at random steps.\n\n"
       "`output_size`: of the result, or `output_ratio`: its share of the input's size (ValueError for neither);\n"
       "`return_indices`: also where in its plane each maximum is; `_random_samples`: (N, C, {0}) numbers in [0, 1).")


def wanted_size(input, output_size, output_ratio, count, name):
    """The output size, from whichever is given."""
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return sizes_of(output_size, count, name, "output_size")
    ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * count
    if len(ratios) > count:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    return tuple([int(size * ratio) for size, ratio in zip(input._shape[-count:], ratios)])


def sizes_of(values, count, name, what):
    if isinstance(values, int):
        return (values,) * count
    if len(values) != count:
        raise RuntimeError(f"{name}: {what} must either be a single Int or tuple of Ints")
    return tuple(values)


def publish_pool(count):
    name = f"fractional_max_pool{count}d"

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                     _random_samples=None):
        require_tensor(input, name, "input")
        output_size = wanted_size(input, output_size, output_ratio, count, name)
        if _random_samples is None:
            batch = 1 if input.dim() == count + 1 else input.size(0)
            _random_samples = exports[""]["rand"](batch, input.size(-count - 1), count, dtype=input.dtype,
                                                  device=input.device)
        return pools[count](input, sizes_of(kernel_size, count, name, "kernel_size"), output_size, _random_samples)

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)
        return tuple(found) if return_indices else found[0]

    for function, known_as in ((pool, name), (with_indices, f"{name}_with_indices")):
        function.__name__ = function.__qualname__ = known_as
        function.__doc__ = DOC.format(count)
        publish(known_as, function, ("nn.functional",))


for _count in (2, 3):
    publish_pool(_count)
