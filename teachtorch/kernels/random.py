"""Random numbers: PyTorch's CPU streams, so that one seed gives the same numbers here and there.

`Generator` owns a Mersenne Twister (mt19937) and fills NumPy arrays. Every method that draws takes
`(shape, dtype, ...)` with a NumPy dtype (float16, bfloat16, float32, float64; also integers and bool where it
says "any"), returns a new C-contiguous array, and advances the stream exactly as PyTorch 2.13 does:

    g.uniform(shape, dtype, low=0.0, high=1.0)     rand, uniform_: [low, high)
    g.normal(shape, dtype, mean=0.0, std=1.0, contiguous=True)   randn, normal_; `contiguous` is the target's
    g.log_normal(shape, dtype, mean=1.0, std=2.0)  log_normal_
    g.cauchy(shape, dtype, median=0.0, sigma=1.0)  cauchy_
    g.exponential(shape, dtype, rate=1.0)          exponential_
    g.geometric(shape, dtype, p)                   geometric_; any dtype but bool
    g.bernoulli(shape, dtype, p)                   bernoulli, bernoulli_; p a number or an array; any dtype
    g.dropout_mask(shape, dtype, p)                0 with probability p, else 1 / (1 - p); 0 < p < 1
    g.randint(shape, dtype, low, high)             randint, random_(low, high): [low, high); any dtype
    g.random(shape, dtype, low=None)               random_(), random_(low, None); any dtype
    g.randperm(n, dtype)                           randperm; any dtype but bool
    g.multinomial(probabilities, num_samples, replacement=False)   int64; probabilities 1-D or 2-D
    g.words(n), g.long_words(n)                    the next n 32-bit / 64-bit random integers
    g.manual_seed(seed), g.seed(), g.initial_seed(), g.get_state(), g.set_state(state)

`get_state` is PyTorch's own 5056 bytes: a state saved by either library continues in the other.
`fill_in_memory_order(out, draw)` fills a permuted array as PyTorch fills a permuted tensor.
`default_generator` is the one that functions without a `generator=` use. A lock makes each draw atomic.

Equal to the bit are all integers, bits and masks, `uniform`, `normal` of 16 elements or more in float32 and
the 2-byte floats (see box_muller.py), and the stream's position after any call. May differ from PyTorch in
the last place: float64 `normal`, `normal` of fewer elements, `exponential`, `log_normal` and `cauchy`,
because PyTorch calls the C library's double-precision log, log1p, sin, cos, tan and exp, and NumPy has its
own; rounded to float32 they are nearly always equal. PyTorch without AVX2 (on ARM, say) computes float32
`normal` with other functions, up to about 1e-6 away. `multinomial` without replacement orders categories
that tie (of weight zero, or in bfloat16's coarse scores) by index; PyTorch leaves their order open.

Sources: M. Matsumoto, T. Nishimura, Mersenne Twister (1998); PyTorch's ATen/core/DistributionsHelper.h,
ATen/native/cpu/DistributionTemplates.h, ATen/native/Distributions.cpp.
"""
import functools
import math
import secrets
import threading

import numpy as np

from .box_muller import BLOCK, box_muller, fused_multiply_add
from .random_dtypes import (
    INT64_MIN, check_casted_interval, check_integer_bounds, check_multinomial, check_multinomial_shape,  # noqa: F401
    check_permutation_fits, check_uniform_bounds, continuous, floating, largest_integer, mantissa_bits, not_bool,
    representable_from, representable_to, rounded)

DEFAULT_SEED = 67280421310721
_STATE_WORDS = 624
_SMALL = 256                    # below it NumPy's random_raw has less overhead, above it randint is faster
_WIDE_RANGE = 1 << 28           # randint ranges from here on draw 64 bits per element
_COMPILED_SHUFFLE = 1 << 16     # permutations from here on are worth loading Numba

_STATE_LAYOUT = np.dtype([
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", _STATE_WORDS),
    ("normal_x", "<f8"), ("next_normal", "<f8"), ("normal_rho", "<f8"), ("has_next_normal", "<i4"),
    ("padding", "<i4"), ("next_float_normal", "<f4"), ("has_next_float_normal", "?")], align=True)


def _locked(draw):
    """Make a method hold the generator's lock, so that threads never split one draw."""
    @functools.wraps(draw)
    def locked(self, *args, **kwargs):
        with self._lock:
            return draw(self, *args, **kwargs)
    return locked


class Generator:
    """A random number generator with the streams of PyTorch's CPU generator.

    Args: `seed`, an int in [-2**63, 2**64); as in PyTorch only its low 32 bits select the stream.
    Source: https://pytorch.org/docs/stable/generated/torch.Generator.html
    """

    def __init__(self, seed=DEFAULT_SEED):
        self._lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self._source = np.random.RandomState(self._bits)
        self.manual_seed(seed)

    # Seeding and state

    @_locked
    def manual_seed(self, seed):
        """Restart the stream from `seed` (ValueError outside [-2**63, 2**64)) and return the generator."""
        if not INT64_MIN <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % (1 << 64)
        self._source.seed(self._seed & 0xFFFFFFFF)
        self._is_fresh = True
        self._next_normal = None
        return self

    def seed(self):
        """Restart from a seed of 53 bits taken from the operating system, and return that seed."""
        seed = secrets.randbits(53)
        self.manual_seed(seed)
        return seed

    def initial_seed(self):
        """The seed that the stream was started from."""
        return self._seed

    @_locked
    def get_state(self):
        """The state as a uint8 array of shape (5056,), byte for byte what PyTorch's get_state returns."""
        state = np.zeros((), _STATE_LAYOUT)
        _, words, position, *_ = self._source.get_state()
        state["seed"], state["seeded"], state["words"] = self._seed, 1, words
        # PyTorch counts what is left of the 624 words; before the first draw it says "1 left, next is 0".
        state["left"] = 1 if self._is_fresh else _STATE_WORDS + 1 - position
        state["next"] = 0 if self._is_fresh else position
        if self._next_normal is not None:
            state["has_next_normal"], state["next_normal"] = 1, self._next_normal
        return np.frombuffer(state.tobytes(), np.uint8).copy()

    @_locked
    def set_state(self, state):
        """Continue from a state of get_state, here or in PyTorch; RuntimeError if it cannot be one."""
        if state.size != _STATE_LAYOUT.itemsize:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {_STATE_LAYOUT.itemsize} "
                               f"but found the input RNG state size to be {state.size}")
        fields = np.ascontiguousarray(state, np.uint8).reshape(-1).view(_STATE_LAYOUT)[0]
        left, position = int(fields["left"]), int(fields["next"])
        if not (fields["seeded"] and 0 < left <= _STATE_WORDS and position <= _STATE_WORDS):
            raise RuntimeError("Invalid mt19937 state")
        self._seed = int(fields["seed"])
        self._is_fresh = left == 1 and position == 0
        words = fields["words"].astype(np.uint32)
        self._source.set_state(("MT19937", words, _STATE_WORDS if self._is_fresh else position))
        self._next_normal = float(fields["next_normal"]) if fields["has_next_normal"] else None

    def __getstate__(self):
        return self.get_state()

    def __setstate__(self, state):
        self.__init__()
        self.set_state(state)

    # Raw bits

    @_locked
    def words(self, n):
        """The next n numbers of the Mersenne Twister: uint32 of shape (n,)."""
        if n == 0:
            return np.empty(0, np.uint32)
        self._is_fresh = False
        if n < _SMALL:
            return self._bits.random_raw(n).astype(np.uint32)
        return self._source.randint(0, 1 << 32, n, dtype=np.uint32)

    def long_words(self, n):
        """The next n pairs of numbers as uint64 of shape (n,): the first of a pair is the high half."""
        words = self.words(2 * n)
        if n < _SMALL:
            words = words.astype(np.uint64)
            return words[0::2] << np.uint64(32) | words[1::2]
        swapped = words.astype("<u4", copy=False).view("<u8")
        return (swapped << np.uint64(32)) | (swapped >> np.uint64(32))

    def _unit_floats(self, n):
        """n float32 in [0, 1): the low 24 bits of a word, divided by 2**24."""
        return (self.words(n) & np.uint32(0xFFFFFF)).astype(np.float32) * np.float32(2.0 ** -24)

    def _unit_doubles(self, n):
        """n float64 in [0, 1): the low 53 bits of a long word, divided by 2**53."""
        return (self.long_words(n) & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0 ** -53

    def _unit(self, n, dtype):
        return self._unit_doubles(n) if dtype == np.float64 else self._unit_floats(n)

    # Continuous distributions

    @_locked
    def uniform(self, shape, dtype, low=0.0, high=1.0):
        """Uniform on [low, high); RuntimeError where low > high or a bound does not fit the dtype."""
        dtype = floating(dtype, "check_uniform_bounds")
        if low == 0.0 and high == 1.0 and dtype.itemsize > 2:
            return self._unit(math.prod(shape), dtype).reshape(shape)
        check_uniform_bounds(dtype, low, high)
        unit = self._unit(math.prod(shape), dtype)
        span_type = unit.dtype.type
        low, high = span_type(low), span_type(high)
        values = fused_multiply_add(unit, high - low, low).astype(dtype)
        # Rounding may reach `high`, which the interval excludes: PyTorch then answers `low`.
        values[values == dtype.type(high)] = dtype.type(low)
        return values.reshape(shape)

    @_locked
    def normal(self, shape, dtype, mean=0.0, std=1.0, contiguous=True):
        """Normal by Box-Muller; RuntimeError where std < 0.

        PyTorch has two algorithms and picks by size and layout: blocks of 16 in the result's precision for a
        contiguous tensor of at least 16 elements, otherwise pairs in double precision (the second of a pair
        waits in the generator). Pass `contiguous=False` when the tensor to fill is not contiguous.
        """
        if not std >= 0.0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        dtype, n = floating(dtype, "normal_kernel_cpu"), math.prod(shape)
        if n >= BLOCK and contiguous:
            values = self._normal_blocks(n, dtype, mean, std)
        else:
            values = fused_multiply_add(self._paired_normals(n), float(std), float(mean))
        return rounded(values, dtype).reshape(shape)

    def _normal_blocks(self, n, dtype, mean, std):
        whole = n - n % BLOCK
        # 2-byte floats draw block by block; wider ones for all n, then again for an incomplete last block.
        uniforms = self._unit(whole if dtype.itemsize == 2 else n, dtype)
        uniforms[:whole] = box_muller(uniforms[:whole], mean, std)
        if whole == n:
            return uniforms
        values = np.empty(n, uniforms.dtype)
        values[:whole] = uniforms[:whole]
        values[-BLOCK:] = box_muller(self._unit(BLOCK, dtype), mean, std)
        return values

    def _paired_normals(self, n):
        """n standard normals (float64), made in pairs; an odd one out is kept for the next call."""
        kept = [] if self._next_normal is None or n == 0 else [self._next_normal]
        pairs = (n - len(kept) + 1) // 2
        unit = self._unit_doubles(2 * pairs).reshape(pairs, 2)
        radius = np.sqrt(-2.0 * np.log1p(-unit[:, 1]))
        angle = 2.0 * np.pi * unit[:, 0]
        values = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
        values = np.concatenate([kept, values])
        if n > 0:
            self._next_normal = float(values[n]) if len(values) > n else None
        return values[:n]

    @_locked
    def log_normal(self, shape, dtype, mean=1.0, std=2.0):
        """exp of a normal(mean, std); RuntimeError where std <= 0."""
        if not std > 0.0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        dtype = floating(dtype, "log_normal_cpu")
        normals = self._paired_normals(math.prod(shape))
        exponents = fused_multiply_add(normals, float(std), float(mean))
        return rounded(np.exp(exponents), dtype).reshape(shape)

    @_locked
    def cauchy(self, shape, dtype, median=0.0, sigma=1.0):
        """Cauchy by its inverse distribution function; RuntimeError where sigma <= 0."""
        if not sigma > 0.0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        dtype = continuous(dtype, "Cauchy")
        unit = self._unit_doubles(math.prod(shape))
        tangents = np.tan(np.pi * (unit - 0.5))
        return rounded(fused_multiply_add(tangents, float(sigma), float(median)), dtype).reshape(shape)

    @_locked
    def exponential(self, shape, dtype, rate=1.0):
        """Exponential with the given rate (PyTorch's `lambd`); RuntimeError where rate <= 0."""
        if not rate > 0.0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
        dtype = continuous(dtype, "Exponential")
        unit = self._unit_doubles(math.prod(shape))
        return rounded(-1.0 / rate * np.log1p(-unit), dtype).reshape(shape)

    # Discrete distributions

    @_locked
    def geometric(self, shape, dtype, p):
        """How many trials until the first success (1, 2, ...); RuntimeError unless 0 < p < 1."""
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        dtype = not_bool(dtype, "geometric_cpu")
        unit = self._unit_doubles(math.prod(shape))
        with np.errstate(divide="ignore"):
            trials = np.ceil(np.log(unit) / math.log1p(-p))
        return rounded(trials, dtype).reshape(shape)

    @_locked
    def bernoulli(self, shape, dtype, p):
        """1 with probability p, else 0. `p` is a number, or an array that broadcasts to `shape`.

        A float64 p and a number are compared with 53 random bits per element, other arrays with 24.
        RuntimeError where a probability lies outside [0, 1].
        """
        if isinstance(p, np.ndarray):
            return self._bernoulli_array(shape, dtype, p)
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return (self._unit_doubles(math.prod(shape)) < p).astype(dtype).reshape(shape)

    def _bernoulli_array(self, shape, dtype, p):
        if not np.logical_and(p >= 0, p <= 1).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
                               "improved?  If so, please report an enhancement request to PyTorch.)")
        if p.dtype != np.float64:
            p = p.astype(np.float32)
        unit = self._unit(math.prod(shape), p.dtype).reshape(shape)
        return (unit < p).astype(dtype)

    def dropout_mask(self, shape, dtype, p):
        """What dropout multiplies by: bernoulli(1 - p) / (1 - p).

        For 0 < p < 1: at 0 and 1 PyTorch draws nothing.
        """
        kept = self.bernoulli(shape, dtype, 1.0 - p)
        return np.divide(kept, np.dtype(dtype).type(1.0 - p), dtype=dtype)

    @_locked
    def randint(self, shape, dtype, low, high):
        """Integers in [low, high); RuntimeError where the interval is empty or does not fit the dtype."""
        dtype = np.dtype(dtype)
        if not low < high:
            raise RuntimeError("random_ expects 'from' to be less than 'to', "
                               f"but got from={low} >= to={high}")
        if mantissa_bits(dtype):
            low, high = representable_from(dtype, low), representable_to(dtype, high)
            check_casted_interval(low, high)
        check_integer_bounds(dtype, low, high - 1)
        return self._integers(shape, dtype, low, high - low)

    @_locked
    def random(self, shape, dtype, low=None):
        """Integers from 0, or `low`, up to the largest the dtype counts to (2**mantissa bits for floats)."""
        dtype = np.dtype(dtype)
        if low is None:
            return self._natural_numbers(shape, dtype)
        if low == INT64_MIN:
            return self._all_64_bits(shape, dtype)
        largest = largest_integer(dtype)
        if mantissa_bits(dtype):
            low = representable_from(dtype, low)
            check_casted_interval(low, largest)
        check_integer_bounds(dtype, low, largest)
        return self._integers(shape, dtype, low, largest - low + 1)

    def _integers(self, shape, dtype, low, span):
        n = math.prod(shape)
        if span < _WIDE_RANGE:
            offsets = (self.words(n) % np.uint32(span)).astype(np.int64)
        else:
            offsets = (self.long_words(n) % np.uint64(span)).view(np.int64)
        return rounded(offsets + np.int64(low), dtype).reshape(shape)

    def _natural_numbers(self, shape, dtype):
        n = math.prod(shape)
        largest = largest_integer(dtype)
        if dtype == np.int64 or dtype == np.float64:
            values = self.long_words(n) % np.uint64(largest + 1)
        else:
            values = self.words(n) % np.uint32(largest + 1)
        return rounded(values.astype(np.int64), dtype).reshape(shape)

    def _all_64_bits(self, shape, dtype):
        if dtype.name not in ("int64", "float64", "float32", "bfloat16"):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only "
                               "int64, double, float and bfloat16")
        return rounded(self.long_words(math.prod(shape)).view(np.int64), dtype).reshape(shape)

    @_locked
    def randperm(self, n, dtype=np.int64):
        """A permutation of 0 ... n - 1 (Fisher-Yates); RuntimeError if n < 0 or the dtype is too small."""
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        dtype = not_bool(dtype, "randperm")
        check_permutation_fits(n, dtype)
        remaining = np.arange(n, 1, -1, dtype=np.int64)
        targets = self.words(max(n - 1, 0)) % remaining + np.arange(n - 1)
        return rounded(_shuffled(n, targets), dtype)

    @_locked
    def multinomial(self, probabilities, num_samples, replacement=False):
        """Draw category indices by their (unnormalised) weights.

        Args: `probabilities`, floats of shape (categories,) or (rows, categories). Returns int64 of shape
        (num_samples,) or (rows, num_samples). RuntimeError for invalid weights or too many samples.
        """
        check_multinomial(probabilities, num_samples, replacement)
        if replacement and num_samples > 1:
            return self._multinomial_with_replacement(probabilities, num_samples)
        # The race of exponentials: with q ~ Exp(1), the largest p / q is at i with probability p_i / sum(p).
        waits = self.exponential(probabilities.shape, probabilities.dtype)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            scores = probabilities / waits
        order = np.argsort(-scores, axis=-1, kind="stable")
        return order[..., :num_samples].astype(np.int64)

    def _multinomial_with_replacement(self, probabilities, num_samples):
        precision = np.float64 if probabilities.dtype == np.float64 else np.float32
        cumulative = np.cumsum(np.atleast_2d(probabilities), axis=-1, dtype=precision)
        cumulative /= cumulative[:, -1:]
        cumulative[:, -1] = 1
        unit = self._unit_doubles(len(cumulative) * num_samples).reshape(-1, num_samples)
        rows = [np.searchsorted(row.astype(np.float64), draws) for row, draws in zip(cumulative, unit)]
        return np.array(rows, np.int64).reshape(*probabilities.shape[:-1], num_samples)


def fill_in_memory_order(out, draw):
    """Fill `out` (any strides) as PyTorch fills a tensor: in the order of memory, not of its indices.

    Args: `draw`, a function from a shape to an array, such as `lambda shape: g.uniform(shape, np.float32)`.
    """
    axes = sorted(range(out.ndim), key=lambda axis: -abs(out.strides[axis]))
    in_memory_order = out.transpose(axes)
    in_memory_order[...] = draw(in_memory_order.shape)


# Shuffling

def _shuffled(n, targets):
    """0 ... n - 1 after swapping element i with element targets[i], for i = 0, 1, ..."""
    if n < _COMPILED_SHUFFLE:
        permutation = list(range(n))
        _swap_in_turn(permutation, targets.tolist())
        return np.array(permutation, np.int64)
    permutation = np.arange(n, dtype=np.int64)
    _compiled_swap_in_turn()(permutation, targets)
    return permutation


def _swap_in_turn(permutation, targets):
    for i, target in enumerate(targets):
        chosen = permutation[target]
        permutation[target] = permutation[i]
        permutation[i] = chosen


@functools.cache
def _compiled_swap_in_turn():
    import numba
    return numba.njit(cache=True, nogil=True)(_swap_in_turn)


default_generator = Generator(secrets.randbits(53))


def manual_seed(seed):
    """Seed `default_generator` and return it."""
    return default_generator.manual_seed(seed)
