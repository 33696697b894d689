"""The base of all distributions, and Independent, which makes dimensions of the batch part of the event."""
from ..autograd.grad_mode import no_grad
from ..core import settings
from ..ops.declare import exports
from ..tensor import Size, Tensor
from . import constraints

ops = exports[""]


def broadcast(*values):
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the tensors among them."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    like = tensors[0] if tensors else None
    made = [v if isinstance(v, Tensor) else as_tensor(v, like) for v in values]
    return ops["broadcast_tensors"](*made)


def as_tensor(value, like=None):
    dtype = settings.get_default_dtype() if like is None else like.dtype
    return ops["tensor"](value, dtype=dtype, device=None if like is None else like.device)


class Distribution:
    """Independent distributions in a batch, each over events of one shape.

    Args:
        batch_shape: how many distributions, and how they are laid out.
        event_shape: the shape of one sample of one of them.
        validate_args: check parameters and values; ValueError for what is outside. None: as set for all.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    support = None
    _validate_args = __debug__

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions check their arguments if not told otherwise."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def _validate_parameters(self):
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                self._require(self.__dict__[name], constraint,
                              f"Expected parameter {name} (Tensor of shape {{}}) of distribution {self!r} to satisfy "
                              f"the constraint {constraint!r}, but found invalid values:\n")

    def _require(self, value, constraint, message):
        if not constraint.check(value).all():
            shape = f"({', '.join(map(str, value.shape))}{',' * (value.dim() == 1)})"
            raise ValueError(message.format(shape) + f"{value.detach().item() if value.dim() == 0 else value}")

    def _validate_sample(self, value):
        """ValueError for a value that is no tensor, does not broadcast to the batch, or lies outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        expected = self._batch_shape + self._event_shape
        for have, want in zip(reversed(value.shape), reversed(expected)):
            if have != 1 and want != 1 and have != want:
                raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                                 f"{value.shape} vs {expected}.")
        self._require(value, self.support, "Expected value argument (Tensor of shape {}) to be within the support "
                      f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n")

    batch_shape = property(lambda self: self._batch_shape, doc="How many distributions, and how they are laid out.")
    event_shape = property(lambda self: self._event_shape, doc="The shape of one sample of one of them.")
    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation, of the shape of the mean.")

    @property
    def mean(self):
        """The mean, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most likely value, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance, of shape batch_shape + event_shape."""
        raise NotImplementedError

    def expand(self, batch_shape):
        """The same distribution with its parameters expanded to another batch shape."""
        raise NotImplementedError

    def sample(self, sample_shape=()):
        """Samples of shape sample_shape + batch_shape + event_shape, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Samples as functions of the parameters, so that gradients flow. NotImplementedError where there is no way."""
        raise NotImplementedError

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError

    def entropy(self):
        """The entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of at most `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of `cdf`: where it reaches the probability `value`."""
        raise NotImplementedError

    def perplexity(self):
        """exp of the entropy, of shape batch_shape."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _expanded(self, batch_shape, **parameters):
        """A distribution of this class with its parameters expanded to another batch."""
        return type(self)(**{name: value.expand(Size(batch_shape)) for name, value in parameters.items()},
                          validate_args=False)

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = [(n, self.__dict__[n]) for n in names]
        return type(self).__name__ + "(" + ", ".join(
            f"{n}: {v if v.numel() == 1 else v.size()}" for n, v in shown) + ")"


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` dimensions of a distribution's batch as part of its event: log_prob sums."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                             f"actual {reinterpreted_batch_ndims} vs {len(batch)}")
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self):
        """Events whose parts are in the support of the base distribution."""
        base = self.base_dist.support
        return constraints.independent(base, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else base

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return self.summed(self.base_dist.log_prob(value))

    def entropy(self):
        return self.summed(self.base_dist.entropy())

    def summed(self, t):
        """`t` summed over the dimensions that now belong to the event."""
        count = self.reinterpreted_batch_ndims
        return t.sum(tuple(range(-count, 0))) if count else t

    def expand(self, batch_shape):
        inner = Size(batch_shape) + self.event_shape[:self.reinterpreted_batch_ndims]
        return Independent(self.base_dist.expand(inner), self.reinterpreted_batch_ndims, validate_args=False)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
