"""How far one distribution is from another: KL(p || q) = E_p[log p - log q], in closed form."""
import math

from ..ops.declare import exports
from .bernoulli import Bernoulli
from .categorical import Categorical, OneHotCategorical
from .continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from .distribution import Independent

ops, F = exports[""], exports["nn.functional"]
_formulas = {}                          # (class of p, class of q) -> function


def register_kl(type_p, type_q):
    """Decorates the formula for a pair of classes; subclasses use it too."""
    def declare(formula):
        _formulas[type_p, type_q] = formula
        return formula
    return declare


def kl_divergence(p, q):
    """KL(p || q), of the batch's shape. NotImplementedError for a pair without a formula."""
    for class_p in type(p).__mro__:
        for class_q in type(q).__mro__:
            if (class_p, class_q) in _formulas:
                return _formulas[class_p, class_q](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
                              f"{type(q).__name__}")


@register_kl(Normal, Normal)
def normals(p, q):
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def log_normals(p, q):
    return normals(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def bernoullis(p, q):
    softplus = F["softplus"]
    return (p.probs * (softplus(-q.logits) - softplus(-p.logits))
            + (1 - p.probs) * (softplus(q.logits) - softplus(p.logits)))


@register_kl(Categorical, Categorical)
def categoricals(p, q):
    t = p.probs * (p.logits - q.logits)
    t = ops["where"](q.probs == 0, float("inf"), t)
    return ops["where"](p.probs == 0, 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def one_hots(p, q):
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Uniform, Uniform)
def uniforms(p, q):
    t = ((q.high - q.low) / (p.high - p.low)).log()
    return t.masked_fill((q.low > p.low) | (q.high < p.high), float("inf"))


@register_kl(Exponential, Exponential)
def exponentials(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def laplaces(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Uniform, Normal)
def uniform_normal(p, q):
    width = p.high - p.low
    return ((math.sqrt(math.pi * 2) * q.scale / width).log()
            + ((width / q.scale).pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / (2 * q.scale)).pow(2)) / 2)


@register_kl(Independent, Independent)
def independents(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p.summed(kl_divergence(p.base_dist, q.base_dist))
