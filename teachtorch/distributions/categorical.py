"""One of several classes."""
from ..autograd.grad_mode import enable_grad, no_grad
from ..core.dtype import finfo
from ..ops.declare import exports
from ..tensor import Size
from . import constraints
from .bernoulli import clamp_probs, either
from .distribution import Distribution

ops, F = exports[""], exports["nn.functional"]


class Categorical(Distribution):
    """A number from 0 to K - 1.

    Args:
        probs: (..., K), not negative; divided by their sum; or
        logits: (..., K), logarithms of the probabilities up to a constant.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        either(probs, logits)
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._given, self._num_events = name, given.size()[-1]
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def __getattr__(self, name):
        """probs from logits, or logits from probs, made when first asked for; with their graph, even if sample asks."""
        if name not in ("probs", "logits"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with enable_grad():
            value = F["softmax"](self.logits, dim=-1) if name == "probs" else clamp_probs(self.probs).log()
        self.__dict__[name] = value
        return value

    def __repr__(self):
        value = self.__dict__[self._given]
        return f"{type(self).__name__}({self._given}: {value if value.numel() == 1 else value.size()})"

    param_shape = property(lambda self: self.__dict__[self._given].size())
    support = property(lambda self: constraints.integer_interval(0, self._num_events - 1),
                       doc="The numbers of the categories, from 0 on.")
    mode = property(lambda self: self.probs.argmax(dim=-1))

    @property
    def mean(self):
        """NaN: classes have no average."""
        return self.probs.new_full(self._extended_shape(), float("nan"))

    variance = mean

    def expand(self, batch_shape):
        value = self.__dict__[self._given]
        return type(self)(**{self._given: value.expand(Size(batch_shape) + (self._num_events,))}, validate_args=False)

    def sample(self, sample_shape=()):
        with no_grad():
            drawn = ops["multinomial"](self.probs.reshape(-1, self._num_events), Size(sample_shape).numel(), True)
            return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, table = ops["broadcast_tensors"](value.long().unsqueeze(-1), self.logits)
        return table.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        """All classes, in the first dimension."""
        values = ops["arange"](self._num_events).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values


class OneHotCategorical(Distribution):
    """A Categorical whose samples are vectors with a single 1."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self.probs)
    mode = property(lambda self: F["one_hot"](self.probs.argmax(-1), self.event_shape[0]).to(self.probs))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        return F["one_hot"](self._categorical.sample(sample_shape), self.event_shape[0]).to(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def expand(self, batch_shape):
        wide = self._categorical.expand(batch_shape)
        return OneHotCategorical(**{wide._given: wide.__dict__[wide._given]}, validate_args=False)

    def enumerate_support(self, expand=True):
        """All unit vectors, in the first dimension."""
        count = self.event_shape[0]
        values = ops["eye"](count, dtype=self.probs.dtype).view((count,) + (1,) * len(self._batch_shape) + (count,))
        return values.expand((count,) + self._batch_shape + (count,)) if expand else values
