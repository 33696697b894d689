"""Random numbers: PyTorch's CPU streams (kernels/random.py) as tensors, generators and seeds."""
import contextlib
import functools
import secrets

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.device import as_device
from ..dispatch import keys as K
from ..dispatch.operator import Operator, registry
from ..kernels import random as streams
from ..memory.runtime import is_there
from ..tensor import Tensor, array_of, from_array, stride_of
from .arguments import size_argument
from .creation import asked_grad, checked_size, factory_operator, like_operator, made, sizes_for
from .declare import describe, operator, publish, refuse_overlap, register_inplace_keys
from .fake import Fake
from .pointwise import no_gradient

# ---- checks --------------------------------------------------------------------------------------

_nobodys = streams.Generator()            # its numbers are never used


def check_draw(draw, dtype, *args):
    """Raise what drawing numbers of a dtype would raise: draw none."""
    draw(_nobodys, (0,), dtype.numpy, True, *args)


# ---- generators ----------------------------------------------------------------------------------


class Generator:
    """A random number generator (torch.Generator): equal seeds give equal numbers, on the CPU PyTorch's own.

    `stream`: the kernel's generator, made anew unless given.
    """

    def __init__(self, device="cpu", *, stream=None):
        self.device = as_device(device)
        if self.device.type == "meta" or self.device.type == "cuda" and not is_there("cuda"):
            raise RuntimeError(f"{self.device.type.upper()} device type not an accelerator.")
        make = streams.Generator if self.device.type == "cpu" else LaunchSeeds
        self._stream = make() if stream is None else stream

    def manual_seed(self, seed):
        """Restart from a seed, and return the generator."""
        if isinstance(seed, str):
            raise RuntimeError("manual_seed expected a long, but got str")
        self._stream.manual_seed(int(seed))
        return self

    def seed(self):
        """Restart from a seed of the operating system's randomness, and return that seed."""
        return self._stream.seed()

    def initial_seed(self):
        """The seed that the stream was started from."""
        return self._stream.initial_seed()

    def get_state(self):
        """The state as a uint8 tensor, which set_state (here or in PyTorch) continues from."""
        return from_array(self._stream.get_state())

    def set_state(self, new_state):
        """Continue from a state. TypeError unless a uint8 tensor; RuntimeError if it cannot be a state."""
        self._stream.set_state(state_array(new_state))
        return self

    def clone_state(self):
        """A generator of its own with the same state."""
        return restored_generator(self.get_state(), self.device)

    def __reduce__(self):
        return restored_generator, (self.get_state(), self.device)


def restored_generator(state, device="cpu"):
    return Generator(device).set_state(state)


def state_array(state):
    if not isinstance(state, Tensor) or state._dtype is not dt.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return array_of(state)


class LaunchSeeds:
    """The state of an accelerator's generator: a seed, and how many launches have drawn.

    The host hands each launch a generator of its own, made of both, so that the numbers do not depend on when kernels
    run. CUDA's Philox generator works so too (seed and offset); the numbers are not CUDA's.
    """

    def __init__(self):
        self.manual_seed(streams.DEFAULT_SEED)

    def manual_seed(self, seed):
        self._seed, self.offset = seed, 0

    def seed(self):
        self.manual_seed(secrets.randbits(53))
        return self._seed

    def initial_seed(self):
        return self._seed

    def for_launch(self):
        """The generator of the next launch that draws."""
        self.offset += 1
        mixed = np.random.SeedSequence([self._seed % 2**64, self.offset]).generate_state(1, np.uint64)
        return streams.Generator(int(mixed[0]))

    def get_state(self):
        """Seed and offset, as 16 bytes, as of a CUDA generator."""
        return np.array([self._seed % 2**64, self.offset], np.uint64).view(np.uint8)

    def set_state(self, state):
        if state.size != 16:
            raise RuntimeError("RNG state is wrong size")
        self._seed, self.offset = [int(n) for n in np.ascontiguousarray(state).view(np.uint64)]


default_generator = Generator(stream=streams.default_generator)
sim_generator = Generator("sim")
sim_generator.seed()


@functools.lru_cache(maxsize=None)
def cuda_generator():
    """The default generator of the GPU, seeded when it is first asked for."""
    generator = Generator("cuda")
    generator.manual_seed(sim_generator.initial_seed())
    return generator


def stream_of(generator):
    """The stream to draw from, on the CPU."""
    if generator is None:
        return streams.default_generator
    if generator.device.type != "cpu":
        raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")
    return generator._stream


def generator_of_launch(generator, device):
    """The generator for one launch on an accelerator, which the host takes from `generator` (None: the default one)."""
    return Generator(stream=seeds_of(generator, device).for_launch())


def launch_of(generator, device):
    """(seed, number of the launch) for a kernel that makes its own numbers of both; the next launch has another."""
    seeds = seeds_of(generator, device)
    seeds.offset += 1
    return seeds.initial_seed() % 2**64, seeds.offset


def seeds_of(generator, device):
    """The LaunchSeeds of an accelerator's generator (None: the default one). RuntimeError for another device's."""
    if generator is None:
        generator = sim_generator if device.type == "sim" else cuda_generator()
    if generator.device.type != device.type:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")
    return generator._stream


def manual_seed(seed):
    """Seed the default generators of all devices, and return the CPU's."""
    sim_generator.manual_seed(int(seed))
    if is_there("cuda"):
        cuda_generator().manual_seed(int(seed))
    return default_generator.manual_seed(seed)


def seed():
    """Seed the default generators from the operating system, and return that seed."""
    found = default_generator.seed()
    sim_generator.manual_seed(found)
    return found


def initial_seed():
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's state, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Continue the default generator from a state."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Put the default generator's state back at the end of the block."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


for _function in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    publish(_function.__name__, _function, ("",))
publish("Generator", Generator, ("",))
publish("default_generator", default_generator, ("",))


# ---- factories -----------------------------------------------------------------------------------

def drawn(name, draw):
    """Declare a factory `name(size, generator, dtype)` that draws `draw(stream, shape, numpy dtype)`."""
    def kernel(size, generator, dtype):
        return draw(stream_of(generator), size, dtype.numpy)

    def fake(size, generator, dtype):
        check_draw(draw, dtype)
        return Fake(size, dtype)

    kernel.__doc__ = DOCS[name]
    op = factory_operator(name, fake=fake)(kernel)

    def factory(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
                pin_memory=False, **named):
        return made(op, (sizes_for(name, size, named), generator), dtype, device, requires_grad, out, pin_memory)

    factory.__name__ = factory.__qualname__ = name
    factory.__doc__ = DOCS[name]
    op.info.public = publish(name, factory, ("",))
    return op


DOCS = {"rand": "Uniform random numbers in [0, 1), of the given size.",
        "randn": "Random numbers of the standard normal distribution, of the given size."}


def uniform_draw(stream, shape, dtype, contiguous=True):
    return stream.uniform(shape, dtype)


def normal_draw(stream, shape, dtype, contiguous=True):
    return stream.normal(shape, dtype, contiguous=contiguous)


rand, randn = drawn("rand", uniform_draw), drawn("randn", normal_draw)


def fake_randint(low, high, size, generator, dtype):
    check_draw(draw_random, dtype, low, high)
    return Fake(size, dtype)


@factory_operator("randint", fake=fake_randint)
def randint_kernel(low, high, size, generator, dtype):
    """Random integers in [low, high), of the given size."""
    return stream_of(generator).randint(size, dtype.numpy, low, high)


def randint(low=None, high=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
            requires_grad=False, pin_memory=False):
    """Random integers in [low, high), of the given size; low is 0 if left out.

    RuntimeError for an empty interval.
    """
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:                          # randint(high, size=...)
        low, high = 0, low
    low = 0 if low is None else low
    for position, (name, bound) in enumerate((("high", high),) if low == 0 else (("low", low), ("high", high)), 1):
        if isinstance(bound, (float, np.floating)):
            raise TypeError(f"randint(): argument '{name}' (position {position}) must be int, not "
                            f"{type(bound).__name__}")
    if size is None:
        raise TypeError("randint(): argument 'size' (position 2) must be tuple of ints, not "
                        f"{type(high).__name__}")
    size = checked_size(size_argument(size, "randint"), "randint")
    dtype = dt.int64 if dtype is None and out is None else dtype
    return made(randint_kernel, (int(low), int(high), size, generator), dtype, device, requires_grad, out, pin_memory)


@factory_operator("randperm", fake=lambda n, generator, dtype: Fake((n,), dtype))
def randperm_kernel(n, generator, dtype):
    """A random permutation of 0 ... n - 1."""
    return stream_of(generator).randperm(n, dtype.numpy)


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """A random permutation of 0 ... n - 1."""
    if isinstance(n, (float, np.floating)):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    checked_size((n,), "randperm")
    dtype = dt.int64 if dtype is None and out is None else dtype
    return made(randperm_kernel, (n, generator), dtype, device, requires_grad, out, pin_memory)


for _function, _op in ((randint, randint_kernel), (randperm, randperm_kernel)):
    _op.info.public = publish(_function.__name__, _function, ("",))


# ---- like another tensor -------------------------------------------------------------------------

def filled_like(draw, overwrite):
    """The maker for `like_operator`: values drawn in the order of memory of the strides wanted.

    `overwrite`: the name of the in-place operator that draws the same, from (low, high) or (mean, std).
    """
    def make(size, stride, dtype, device, *args):
        target = registry["empty_strided"](device, size, stride, dtype)
        target._stride = stride
        if not target.is_meta and not target.is_cpu:
            registry[overwrite](target, args or (0.0, 1.0), None)
        elif not target.is_meta:
            fill_drawn(target, lambda shape, contiguous: draw(stream_of(None), shape, dtype.numpy, contiguous,
                                                              *args))
        return target
    return make


def like_function(name, draw, overwrite, doc):
    op = like_operator(name, filled_like(draw, overwrite))

    def like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False, memory_format=None):
        t = op(input, (), dtype, device, memory_format)
        return asked_grad(t) if requires_grad else t

    like.__name__ = like.__qualname__ = name
    like.__doc__ = doc
    op.info.public = publish(name, like, ("",))


like_function("rand_like", uniform_draw, "uniform_",
              "Uniform random numbers in [0, 1), with the size and dtype of `input`.")
like_function("randn_like", normal_draw, "normal_",
              "Standard normal random numbers, with the size and dtype of `input`.")
_randint_like = like_operator("randint_like", filled_like(lambda stream, shape, dtype, contiguous, low, high:
                                                           stream.randint(shape, dtype, low, high),
                                                           "random_"))


def randint_like(input, low=None, high=None, *, dtype=None, layout=None, device=None, requires_grad=False,
                 pin_memory=False, memory_format=None):
    """Random integers in [low, high) (low is 0 if left out), with the size and dtype of `input`."""
    low, high = (0, low) if high is None else (low or 0, high)
    t = _randint_like(input, (int(low), int(high)), dtype, device, memory_format)
    return asked_grad(t) if requires_grad else t


_randint_like.info.public = publish("randint_like", randint_like, ("",))


# ---- in place ------------------------------------------------------------------------------------

def fill_drawn(target, draw):
    """Fill a tensor with `draw(shape, whether the tensor is contiguous)`, in the order of its memory."""
    array = array_of(target)
    if array.flags.c_contiguous:
        array[...] = draw(array.shape, True)
    else:
        streams.fill_in_memory_order(array, lambda shape: draw(shape, False))


def overwriting(name, node_name, draw):
    """Declare an in-place operator that fills with `draw(stream, shape, numpy dtype, contiguous, *args)`.

    The gradient of the old values is zero.
    """
    def check(self, args, generator):
        if args and isinstance(args[0], Tensor):
            geometry.expand(args[0]._shape, stride_of(args[0]), 0, self._shape)
        else:
            check_draw(draw, self._dtype, *args)

    info = describe(name, "in-place", draw_signature, {"self": no_gradient}, None, check, False, False)
    op = Operator(name, info)

    def write(keys, self, args, generator):
        refuse_overlap(self)
        stream, dtype = stream_of(generator), self._dtype.numpy
        fill_drawn(self, lambda shape, contiguous: draw(stream, shape, dtype, contiguous, *args))
        return self

    op.register(K.CPU, write)
    op.register(K.META, lambda keys, self, *args: self)
    register_inplace_keys(op, info.derivatives)
    info.derivatives.node_class.__name__ = node_name
    return op


def draw_signature(self, args, generator):
    """Overwrite with random numbers."""


_normal_ = overwriting("normal_", "NormalBackward0", lambda stream, shape, dtype, contiguous, mean, std:
                       stream.normal(shape, dtype, mean, std, contiguous))
_log_normal_ = overwriting("log_normal_", "LogNormalBackward0",
                           lambda stream, shape, dtype, contiguous, mean, std:
                           stream.log_normal(shape, dtype, mean, std))
_cauchy_ = overwriting("cauchy_", "CauchyBackward0", lambda stream, shape, dtype, contiguous, median, sigma:
                       stream.cauchy(shape, dtype, median, sigma))
_exponential_ = overwriting("exponential_", "ExponentialBackward0",
                            lambda stream, shape, dtype, contiguous, rate:
                            stream.exponential(shape, dtype, rate))
_geometric_ = overwriting("geometric_", "GeometricBackward0", lambda stream, shape, dtype, contiguous, p:
                          stream.geometric(shape, dtype, p))


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fill with normally distributed numbers."""
    return _normal_(self, (mean, std), generator)


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fill with numbers whose logarithm is normally distributed."""
    return _log_normal_(self, (mean, std), generator)


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fill with numbers of a Cauchy distribution."""
    return _cauchy_(self, (median, sigma), generator)


def exponential_(self, lambd=1.0, *, generator=None):
    """Fill with exponentially distributed numbers of rate `lambd`."""
    return _exponential_(self, (lambd,), generator)


def geometric_(self, p, *, generator=None):
    """Fill with the number of trials until the first success of probability `p`."""
    return _geometric_(self, (p,), generator)


_uniform_ = overwriting("uniform_", "UniformBackward0", lambda stream, shape, dtype, contiguous, low, high:
                        stream.uniform(shape, dtype, low, high))


def uniform_(self, from_=0.0, to=1.0, *, generator=None, **named):
    """Fill with uniform random numbers in [from, to)."""
    low = named.pop("from", from_)
    check_named(named, "uniform_")
    return _uniform_(self, (low, to), generator)


def check_named(named, name):
    for unexpected in named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{unexpected}'")


def draw_random(stream, shape, dtype, contiguous, low, high):
    if high is None:
        return stream.random(shape, dtype, low)
    return stream.randint(shape, dtype, low, high)


_random_ = overwriting("random_", "RandomBackward2", draw_random)


def random_(self, *bounds, generator=None, **named):
    """Fill with integers in [from, to): `random_()`, `random_(to)` or `random_(from, to)`.

    Without `to`, up to the largest integer that the dtype counts to.
    """
    low, high = named.pop("from", None), named.pop("to", None)
    check_named(named, "random_")
    if len(bounds) == 1:
        low, high = (0, bounds[0]) if high is None else (bounds[0], high)
    elif bounds:
        low, high = bounds
    if high is not None and low is None:
        low = 0
    return _random_(self, (low, high), generator)


def draw_bernoulli(stream, shape, dtype, contiguous, p):
    if isinstance(p, Tensor):
        geometry.expand(p._shape, stride_of(p), 0, shape)
        return stream.bernoulli(shape, dtype, np.broadcast_to(array_of(p), shape))
    return stream.bernoulli(shape, dtype, p)


_bernoulli_ = overwriting("bernoulli_", "BernoulliBackward2", draw_bernoulli)


def bernoulli_(self, p=0.5, *, generator=None):
    """Fill with 1 with probability `p` (a number, or a tensor that broadcasts), else 0."""
    return _bernoulli_(self, (p,), generator)


for _function, _op in ((uniform_, _uniform_), (random_, _random_), (bernoulli_, _bernoulli_),
                       (normal_, _normal_), (log_normal_, _log_normal_), (cauchy_, _cauchy_),
                       (exponential_, _exponential_), (geometric_, _geometric_)):
    _op.info.public = publish(_function.__name__, _function, ("Tensor",))


# ---- draws whose parameters are tensors ----------------------------------------------------------

def fake_bernoulli(self, p=None, generator=None):
    if p is not None:
        check_draw(draw_bernoulli, self._dtype, p)
    elif self._dtype.category != dt.FLOATING:
        raise NotImplementedError("\"bernoulli_tensor_cpu_p_\" not implemented for "
                                  f"'{dt.scalar_type_name(self._dtype)}'")
    return Fake(self._shape, self._dtype)


@operator("bernoulli", vjp={"self": no_gradient}, spaces=(), out=False, fake=fake_bernoulli)
def bernoulli_kernel(self, p, generator):
    """1 with the probability that each element says (or with probability p), else 0."""
    if p is None and self.dtype.kind in "iub":
        raise TypeError("probabilities are floating")        # the fake rule has the words
    return stream_of(generator).bernoulli(self.shape, self.dtype, np.asarray(self) if p is None else p)


def bernoulli(input, p=None, *, generator=None, out=None):
    """1 with the probability that each element of `input` says, else 0; or with the one probability `p`."""
    drawn = registry["bernoulli"](input, p, generator)
    return drawn if out is None else out.copy_(drawn)


def multinomial_shape(self, num_samples, replacement=False, generator=None):
    streams.check_multinomial_shape(self._shape, self._dtype.numpy, num_samples, replacement)
    return Fake(self._shape[:-1] + (num_samples,), dt.int64)


@operator("multinomial", fake=multinomial_shape, spaces=(), out=False)
def multinomial_kernel(self, num_samples, replacement, generator):
    """Indices of categories drawn by their weights."""
    return stream_of(generator).multinomial(np.ascontiguousarray(self), num_samples, replacement)


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """`num_samples` indices of categories, drawn by their weights in (each row of) `input`; int64."""
    if out is not None and out._dtype is not dt.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {dt.scalar_type_name(out._dtype)}")
    if not 1 <= input.dim() <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    drawn = registry["multinomial"](input, num_samples, replacement, generator)
    return drawn if out is None else out.copy_(drawn)


for _function in (bernoulli, multinomial):
    registry[_function.__name__].info.public = publish(_function.__name__, _function, ("", "Tensor"))


def check_std(std):
    """The standard deviations: floating, none negative."""
    if isinstance(std, Tensor):
        if not std.is_meta and (array_of(std) < 0).any():
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def fake_normal(mean, std, generator):
    tensors = [v for v in (mean, std) if isinstance(v, Tensor)]
    check_draw(normal_draw, tensors[0]._dtype)
    return Fake(geometry.broadcast_shapes(*[t._shape for t in tensors]), tensors[0]._dtype)


@operator("normal", vjp={"mean": no_gradient, "std": no_gradient}, fake=fake_normal, spaces=(), out=False)
def normal_kernel(mean, std, generator):
    """Normal random numbers, each with its own mean and standard deviation."""
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    dtype = mean.dtype if isinstance(mean, np.ndarray) else std.dtype
    standard = stream_of(generator).normal(shape, dtype)
    return (standard * std + mean).astype(dtype)


def fake_normal_of_size(size, mean, std, generator, dtype):
    check_draw(normal_draw, dtype)
    return Fake(size, dtype)


@factory_operator("normal.size", fake=fake_normal_of_size)
def normal_of_size(size, mean, std, generator, dtype):
    """Normal random numbers of one mean and standard deviation, of the given size."""
    return stream_of(generator).normal(size, dtype.numpy, mean, std)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           requires_grad=False, pin_memory=False):
    """Normal random numbers: `normal(mean, std)`, one of them a tensor, or `normal(0., 1., size)`."""
    if size is not None:
        check_std(std)
        size = checked_size(size_argument(size, "normal"), "normal")
        return made(normal_of_size, (size, mean, std, generator), dtype, device, requires_grad, out, pin_memory)
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise TypeError("normal() received an invalid combination of arguments - got "
                        f"({type(mean).__name__}, {type(std).__name__})")
    check_std(std)
    drawn = registry["normal"](mean, std, generator)
    return drawn if out is None else out.copy_(drawn)


registry["normal"].info.public = normal_of_size.info.public = publish("normal", normal, ("",))
