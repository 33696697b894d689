"""Random numbers on the device: kernels/cuda/philox.py with the generator's seed and the number of the launch.

What needs more than one draw per element in an order (randperm, multinomial), and the rarer distributions, go
over the host, from a generator made of the same two numbers.
"""

from ...core import dtype as dt
from ...tensor import Tensor
from ..generators import launch_of
from .launching import FLOATS, kernel_for, takes


def drawn(launch, out, generator, draw, first, second=0):
    """Fill a tensor with draws of one kind. The generator counts the launch."""
    from ...kernels.cuda import philox

    if out._dtype not in FLOATS and draw not in ("integers", "bernoulli") or not takes(out):
        return False
    seed, number = launch_of(generator, launch.device)
    target = launch.strided(out)
    launch.enqueue(lambda stream: philox.run(draw, target, seed, number, first, second, stream))


@kernel_for("rand")
def rand(launch, outputs, args):
    return drawn(launch, outputs[0], args[1], "uniform", 0, 1)


@kernel_for("randn")
def randn(launch, outputs, args):
    return drawn(launch, outputs[0], args[1], "normal", 0, 1)


@kernel_for("randint")
def randint(launch, outputs, args):
    low, high, _, generator = args[:4]
    return drawn(launch, outputs[0], generator, "integers", low, high) if high > low else False


@kernel_for("uniform_", "normal_", "exponential_", "bernoulli_", "random_")
def drawn_in_place(launch, outputs, args):
    t, numbers, generator = args
    name = launch.op.name.removesuffix("_")
    if any(isinstance(n, Tensor) or n is None for n in numbers) or not allowed(name, t, *numbers):
        return False
    return drawn(launch, t, generator, {"random": "integers"}.get(name, name), *numbers)


def allowed(name, t, first=0, second=0):
    """Whether the numbers make a distribution. If not, the CPU's kernel says so in PyTorch's words."""
    if name == "uniform":
        return first <= second
    if name == "normal":
        return second >= 0
    if name == "exponential":
        return 0 < first < float("inf")
    if name == "random":
        return first < second and t._dtype is not dt.bool and (t._dtype in FLOATS or fits(t._dtype, first, second))
    return 0 <= first <= 1


def fits(dtype, low, high):
    bits = 8 * dtype.itemsize
    least = 0 if dtype.numpy.kind == "u" else -(2 ** (bits - 1))
    return least <= low and high <= least + 2**bits and high < 2**63


@kernel_for("bernoulli")
def bernoulli(launch, outputs, args):
    _, p, generator = args
    if p is None or not 0 <= p <= 1:
        return False
    return drawn(launch, outputs[0], generator, "bernoulli", p)
