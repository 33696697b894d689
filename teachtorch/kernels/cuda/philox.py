"""Random numbers: Philox 4x32-10, which turns a counter and a key into 128 random bits (Salmon and others,
"Parallel Random Numbers: As Easy as 1, 2, 3", 2011).

A generator whose state each number changes would make threads wait for one another. Here the number of an
element is the state: thread n asks for the bits of counter n. The key is the generator's seed; the counter's
upper half is the number of the launch, so that no two launches draw the same. CUDA's library curand, and
with it PyTorch, has the same function but hands out counters in another way: the numbers are not PyTorch's.
"""

import functools

import numpy as np

from .arrays import size_of
from .grid import run_flat
from .pointwise import places
from .source import DeviceTranslator, load_kernel


def philox(counter, launch, key, part):
    """64 of the 128 bits for (counter, launch): the first two words (part 0) or the other two. All are uint64."""
    c0, c1, c2, c3 = counter & 0xFFFFFFFF, counter >> 32, launch & 0xFFFFFFFF, launch >> 32
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (
            (second >> 32) ^ c1 ^ k0,
            second & 0xFFFFFFFF,
            (first >> 32) ^ c3 ^ k1,
            first & 0xFFFFFFFF,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0 << 32 | c1 if part == 0 else c2 << 32 | c3


# u and v are uniform in [0, 1), with as many bits as the dtype has digits.
KERNEL = """
@cuda.jit
def kernel(out, size, launch, key, first, second, {numbers}):
    for n in range(cuda.grid(1), size, cuda.gridsize(1)):
{places}
        bits = {philox}(np.uint64(n), launch, key, np.uint64(0))
        u = np.{wide}(bits >> np.uint64({shift})) * np.{wide}({unit})
        {draw}
"""

SECOND = (
    "v = np.{wide}({philox}(np.uint64(n), launch, key, np.uint64(1)) >> np.uint64({shift}))"
    " * np.{wide}({unit})"
)

# What becomes of them. Where rounding would give the end of a half-open interval, its beginning is given.
DRAWS = {
    "uniform": "out[pout] = first + (second - first) * u if first + (second - first) * u < second else first",
    "bernoulli": "out[pout] = 1 if u < first else 0",
    "exponential": "out[pout] = -math.log(np.{wide}(1) - u) / first",
    "normal": SECOND + "; out[pout] = first + second * math.sqrt(np.{wide}(-2) * math.log(np.{wide}(1) - u))"
    " * math.cos(np.{wide}(6.283185307179586) * v)",
    "integers": "out[pout] = first + np.int64(bits % np.uint64(second - first))",
}


def run(draw, out, seed, launch, first, second=0, stream=0):
    """Fill a Strided with random numbers.

    Args:
        draw: uniform in [first, second), normal of mean and deviation, bernoulli of a probability,
        exponential of a rate, or integers in [first, second).
        seed, launch: the generator's, below 2**64.
    """
    dtype = np.dtype(out.dtype)
    wide = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    kind = np.int64 if draw == "integers" else wide.type
    kernel = compiled(draw, wide, len(out.shape))
    numbers = [np.uint64(launch), np.uint64(seed), kind(first), kind(second)]
    sizes = [np.int64(each) for each in (*out.shape, *out.strides)]
    size = size_of(out.shape)
    run_flat(kernel, size, stream, out.memory, np.int64(size), *numbers, *sizes)


@functools.cache
def compiled(draw, wide, ndim):
    translator = DeviceTranslator(np.uint64)
    digits = 24 if wide == np.float32 else 53
    words = {"philox": translator.add(philox), "wide": wide, "shift": 64 - digits, "unit": 2.0**-digits}
    text = KERNEL.format(
        numbers=", ".join([f"size{d}" for d in range(ndim)] + [f"stepout_{d}" for d in range(ndim)]),
        places=places(["out"], ndim) if ndim else "        pout = 0",
        draw=DRAWS[draw].format(**words),
        **words,
    )
    return load_kernel(draw, translator, text)
