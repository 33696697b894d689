"""Random numbers as tensors, by PyTorch's CPU streams (kernels/random.py). Generators and seeds: generators.py."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..dispatch import keys as K
from ..dispatch.operator import Operator, registry
from ..kernels import random as streams
from ..tensor import Tensor, array_of, stride_of
from .arguments import size_argument
from .creation import asked_grad, checked_size, factory_operator, like_operator, made, sizes_for
from .declare import describe, operator, publish, refuse_overlap, register_inplace_keys
from .fake import Fake
from .generators import stream_of
from .pointwise import no_gradient

# ---- checks --------------------------------------------------------------------------------------

_nobodys = streams.Generator()            # its numbers are never used


def check_draw(draw, dtype, *args):
    """Raise what drawing numbers of a dtype would raise: draw none."""
    draw(_nobodys, (0,), dtype.numpy, True, *args)


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
