"""Yes with some probability."""
from ..autograd.grad_mode import enable_grad, no_grad
from ..core.dtype import finfo
from ..ops.declare import exports
from . import constraints
from .distribution import Distribution, broadcast

ops, F = exports[""], exports["nn.functional"]


def either(probs, logits):
    """ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def clamp_probs(probs):
    """Probabilities held away from 0 and 1 by the dtype's eps, so that logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def log_odds(p):
    return p.log() - (-p).log1p()


class Bernoulli(Distribution):
    """1 with probability `probs`, else 0.

    Args:
        probs: the probability of 1; or
        logits: its log odds, log(p / (1 - p)).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        either(probs, logits)
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        value, = broadcast(given)
        self.__dict__[name] = value
        super().__init__(value.shape, validate_args=validate_args)

    def __getattr__(self, name):
        """probs from logits, or logits from probs, made when first asked for; with their graph, even if sample asks."""
        if name not in ("probs", "logits"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with enable_grad():
            value = self.logits.sigmoid() if name == "probs" else log_odds(clamp_probs(self.probs))
        self.__dict__[name] = value
        return value

    def __repr__(self):
        first = next(n for n in self.__dict__ if n in ("probs", "logits"))
        value = self.__dict__[first]
        return f"Bernoulli({first}: {value if value.numel() == 1 else value.size()})"

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    param_shape = property(lambda self: self.probs.size())

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, float("nan"))

    def expand(self, batch_shape):
        name = "probs" if "probs" in self.__dict__ else "logits"
        return self._expanded(batch_shape, **{name: self.__dict__[name]})

    def sample(self, sample_shape=()):
        with no_grad():
            return ops["bernoulli"](self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = ops["broadcast_tensors"](self.logits, value)
        return -F["binary_cross_entropy_with_logits"](logits, value, reduction="none")

    def entropy(self):
        return F["binary_cross_entropy_with_logits"](self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        """0 and 1, in the first dimension."""
        values = ops["arange"](2, dtype=self.probs.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
