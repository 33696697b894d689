"""What random numbers each dtype can hold: rounding, limits, and PyTorch's errors for what does not fit."""
import functools
import math
import warnings

import numpy as np

from teachtorch.core.dtype import cpp_name, from_numpy, scalar_type_name

INT64_MIN = -(1 << 63)
_MANTISSA_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


@functools.cache
def mantissa_bits(dtype):
    """The bits of a floating dtype's mantissa, the hidden one included; None for the other dtypes."""
    return _MANTISSA_BITS.get(dtype.name)


def rounded(values, dtype):
    """Cast as C++ does: to a 2-byte float by way of float32, silently to inf where a number is too large."""
    dtype = np.dtype(dtype)
    if dtype == values.dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and mantissa_bits(dtype):
            values = values.astype(np.float32)
        return values.astype(dtype)


def floating(dtype, kernel):
    """The NumPy dtype, if floating; else NotImplementedError in the name of PyTorch's kernel."""
    dtype = np.dtype(dtype)
    if not mantissa_bits(dtype):
        raise _not_implemented(dtype, kernel)
    return dtype


def not_bool(dtype, kernel):
    """The NumPy dtype, unless bool; then NotImplementedError in the name of PyTorch's kernel."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        raise _not_implemented(dtype, kernel)
    return dtype


def _not_implemented(dtype, kernel):
    return NotImplementedError(f'"{kernel}" not implemented for \'{_type_name(dtype)}\'')


def continuous(dtype, distribution):
    """The NumPy dtype, if floating; else RuntimeError: the distribution is continuous."""
    dtype = np.dtype(dtype)
    if not mantissa_bits(dtype):
        raise RuntimeError(f"{distribution} distribution is a continuous probability distribution. "
                           f"dtype must be a floating point but you specified {_type_name(dtype)}")
    return dtype


def _type_name(dtype):
    return scalar_type_name(from_numpy(dtype))


def largest_integer(dtype):
    """The largest integer up to which the dtype counts without gaps."""
    if mantissa_bits(dtype):
        return 1 << mantissa_bits(dtype)
    return 1 if dtype == np.bool_ else int(np.iinfo(dtype).max)


@functools.cache
def _limits(dtype):
    if dtype == np.bool_:
        return 0, 1
    if not mantissa_bits(dtype):
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}.get(dtype.name)
    largest = largest or float(np.finfo(dtype).max)
    return -largest, largest


def _check_bound(dtype, name, value):
    smallest, largest = _limits(dtype)
    if not smallest <= value <= largest:
        raise RuntimeError(f"{name} is out of bounds for {cpp_name(from_numpy(dtype))}")


def check_uniform_bounds(dtype, low, high):
    """RuntimeError unless low <= high, and both and their distance fit the dtype."""
    _check_bound(dtype, "from", low)
    _check_bound(dtype, "to", high)
    if low > high:
        raise RuntimeError("uniform_ expects to return a [from, to) range, "
                           f"but found from={low:g} > to={high:g}")
    if high - low > _limits(dtype)[1]:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{_type_name(dtype)}>::max(), "
                           f"but found to={high:g} and from={low:g} which result in to-from to exceed "
                           "the limit")


def check_integer_bounds(dtype, first, last):
    """RuntimeError where the dtype does not reach so far; a warning where it does not count so far."""
    for name, value in (("from", first), ("to - 1", last)):
        _check_bound(dtype, name, value)
        bits = mantissa_bits(dtype)
        if bits and abs(value) > 1 << bits:
            warnings.warn(f"{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations "
                          f"{cpp_name(from_numpy(dtype))} can support discrete uniform distribution only within "
                          "this range.", UserWarning, stacklevel=3)


def check_casted_interval(low, high):
    """RuntimeError where rounding to the dtype left nothing between low and high."""
    if not low < high:
        raise RuntimeError("random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                           f"but got from={low} >= to={high}")


def representable_from(dtype, low):
    """`low`, or the next number of the dtype above it if rounding low + 1 would fall below low."""
    next_number = _nearest(low + 1, dtype)
    return low if next_number >= low else next_number + _gap(low + 1, dtype)


def representable_to(dtype, high):
    """`high`, or the number of the dtype below it if rounding high - 1 would reach high."""
    last_number = _nearest(high - 1, dtype)
    return high if last_number < high else last_number - _gap(high - 1, dtype)


def _nearest(value, dtype):
    """The dtype's number nearest to an integer, as an int; the integer itself where the dtype does not reach so far."""
    found = float(rounded(np.array(value, np.int64), dtype))
    return int(found) if math.isfinite(found) else value


def _gap(value, dtype):
    """The distance between neighbouring numbers of the dtype at `value`."""
    return 1 << (abs(value).bit_length() - mantissa_bits(dtype))


def check_permutation_fits(n, dtype):
    """RuntimeError where the dtype cannot hold the numbers below n."""
    if n - 1 > _limits(dtype)[1]:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    exact = largest_integer(dtype) + 1
    if n > exact and dtype.name in ("float16", "float32", "float64"):
        raise RuntimeError(f"n cannot be greater than {exact} for {_type_name(dtype)} type.")


def check_multinomial(probabilities, num_samples, replacement):
    """RuntimeError for weights of another shape, dtype or range, and for too few or too many samples."""
    check_multinomial_shape(probabilities.shape, probabilities.dtype, num_samples, replacement)
    _check_weights(probabilities, drawn_one_by_one=replacement and num_samples > 1)


def check_multinomial_shape(shape, dtype, num_samples, replacement):
    """What can be refused before the weights are known."""
    if not 1 <= len(shape) <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not mantissa_bits(dtype):
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {_type_name(dtype)}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")


def _check_weights(probabilities, drawn_one_by_one):
    """PyTorch draws several with replacement by another kernel, which has its own words."""
    if not (np.isfinite(probabilities) & (probabilities >= 0)).all():
        if not drawn_one_by_one:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        entry = "= infinity or NaN" if (probabilities >= 0).all() else "< 0"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {entry})")
    if (probabilities.sum(axis=-1, dtype=np.float64) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
