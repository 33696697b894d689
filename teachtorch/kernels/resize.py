"""Resampling along dimensions: each result is a weighted sum of a few elements, by the rules of
interpolation.

A rule gives for one dimension `places` and `weights`, both (result size, taps).
"""

import numpy as np

CUBIC = -0.75  # the free parameter of the cubic kernel (Keys 1981), as PyTorch and OpenCV choose it


def source_scale(size, result, align_corners, scale):
    """How many elements one step in the result is."""
    if align_corners:
        return (size - 1) / (result - 1) if result > 1 else 0.0
    return 1 / scale if scale else size / result


def centres(size, result, align_corners, scale):
    """Where each result lies among the elements, as fractions."""
    step = source_scale(size, result, align_corners, scale)
    positions = np.arange(result)
    return positions * step if align_corners else (positions + 0.5) * step - 0.5


def nearest(size, result, scale, is_exact):
    """The element that each result copies; `is_exact`: measured from the middles of the elements."""
    step = np.float32(1 / scale if scale else size / result)
    positions = np.arange(result, dtype=np.float32) + np.float32(0.5 if is_exact else 0)
    places = np.minimum((positions * step).astype(np.int64), size - 1)
    return places[:, None], np.ones((result, 1))


def linear(size, result, align_corners, scale):
    """The two neighbours of each result, weighted by how near they are."""
    centre = np.maximum(centres(size, result, align_corners, scale), 0)
    low = np.minimum(centre.astype(np.int64), size - 1)
    part = np.clip(centre - low, 0, 1)
    return np.stack([low, np.minimum(low + 1, size - 1)], 1), np.stack([1 - part, part], 1)


def cubic(size, result, align_corners, scale):
    """The four neighbours of each result, weighted by the cubic kernel."""
    centre = centres(size, result, align_corners, scale)
    low = np.floor(centre)
    part = centre - low
    places = np.clip(low.astype(np.int64)[:, None] + np.arange(-1, 3), 0, size - 1)
    return places, np.stack(cubic_weights(part), -1)


def cubic_weights(part):
    """The weights of the four neighbours for a fraction in [0, 1)."""
    return cubic_far(part + 1), cubic_near(part), cubic_near(1 - part), cubic_far(2 - part)


def cubic_near(x, a=CUBIC):
    return ((a + 2) * x - (a + 3)) * x * x + 1


def cubic_far(x, a=CUBIC):
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def smoothed(size, result, align_corners, scale, kind):
    """Like linear and cubic, but where the result is smaller over as many elements as fall on one of it."""
    step = source_scale(size, result, align_corners, scale)
    wide = max(step, 1.0)
    reach = {"linear": 1, "cubic": 2}[kind] * wide
    rows = []
    for i in range(result):
        centre = step * (i + 0.5)
        begin = max(int(centre - reach + 0.5), 0)
        end = min(int(centre + reach + 0.5), size)
        distances = np.abs(np.arange(begin, end) - centre + 0.5) / wide
        weights = np.maximum(1 - distances, 0) if kind == "linear" else antialias_cubic(distances)
        rows.append((begin, weights / weights.sum()))
    return as_taps(rows, size)


def antialias_cubic(x):
    return np.where(x < 1, cubic_near(x, -0.5), np.where(x < 2, cubic_far(x, -0.5), 0))


def as_taps(rows, size):
    """Rows of different lengths as arrays, filled with weight 0."""
    taps = max([len(weights) for _, weights in rows])
    places, found = np.zeros((len(rows), taps), np.int64), np.zeros((len(rows), taps))
    for i, (begin, weights) in enumerate(rows):
        places[i] = np.minimum(begin + np.arange(taps), size - 1)
        found[i, : len(weights)] = weights
    return places, found


def resample(x, rules):
    """Each of the last dimensions by its rule (places, weights)."""
    for axis, (places, weights) in zip(range(-1, -1 - len(rules), -1), reversed(rules)):
        x = along(x, axis, places, weights.astype(x.dtype))
    return np.ascontiguousarray(x)


def along(x, axis, places, weights):
    if weights.shape[1] == 1:
        return x.take(places[:, 0], axis)
    shape = (-1,) + (1,) * (-axis - 1)
    found = x.take(places[:, 0], axis) * weights[:, 0].reshape(shape)
    for tap in range(1, weights.shape[1]):
        found += x.take(places[:, tap], axis) * weights[:, tap].reshape(shape)
    return found


def resample_back(grad, space, rules):
    """The transpose of `resample`: the gradient of its x, whose last dimensions are `space`."""
    for axis, size, (places, weights) in zip(range(-len(rules), 0), space, rules):
        matrix = np.zeros((len(places), size), grad.dtype)
        np.add.at(matrix, (np.arange(len(places))[:, None], places), weights.astype(grad.dtype))
        grad = np.moveaxis(np.moveaxis(grad, axis, -1) @ matrix, -1, axis)
    return np.ascontiguousarray(grad)
