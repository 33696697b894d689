"""Losses between two tensors of one shape: element by element, then reduced ("none", "mean" or "sum")."""
import warnings

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..core.promotion import promote_types
from ..dispatch.operator import registry
from ..kernels.pointwise import silently
from .arguments import refuse_gradient, require_bool
from .declare import exports, operator, publish
from .elementwise import check_cast, common_dtype
from .fake import Fake, require_tensor
from .loss import reduction_of
from .reduction_arrays import widened

log_sigmoid_of = exports["nn.functional"]["logsigmoid"]


# ---- reducing ---------------------------------------------------------------------------------------------------

def reduced(losses, reduction, dtype):
    """The losses (an array) as they are, their mean or their sum, in the given dtype."""
    if reduction == "none":
        return np.ascontiguousarray(losses.astype(dtype, copy=False)).reshape(losses.shape)
    total = np.add.reduce(losses, None)
    if reduction == "mean":
        total = silently(np.true_divide, total, losses.size)
    return np.asarray(total).astype(dtype, copy=False)


def reduced_tensor(losses, reduction):
    """The same of a tensor, for compositions."""
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def share(grad, self, reduction):
    """The gradient of one element's loss: a mean divides by their number."""
    return grad / self.numel() if reduction == "mean" else grad


def pair_fake(name, keeps_dtype=False):
    """The fake rule of `loss(self, target, reduction, ...)`: broadcast, promote, and refuse what is not floating.

    `keeps_dtype`: the result is of the first argument's dtype, not of the common one.
    """
    def fake(self, target, reduction, *options):
        dtype = common_dtype((self, target))
        if keeps_dtype:
            check_cast(name, dtype, self._dtype)
        if dtype.category != dt.FLOATING:
            raise NotImplementedError(f'"{name}" not implemented for \'{scalar_type_name(dtype)}\'')
        shape = geometry.broadcast_shapes(self._shape, target._shape)
        return Fake(shape if reduction == "none" else (), self._dtype if keeps_dtype else dtype)
    return fake


def floats(*arrays):
    """The arrays, 16-bit floats as float32. TypeError unless all are floating; their fake rule has the words."""
    if any(a.dtype.kind in "biu" for a in arrays):
        raise TypeError("the loss needs floats")
    return [widened(a) for a in arrays]


def pair_loss(name, formula, keeps_dtype=False):
    """The CPU kernel of a loss of the difference: `formula(difference, *options)` of arrays of one dtype."""
    def kernel(self, target, reduction, *options):
        dtype = promote_types(dt.from_numpy(self.dtype), dt.from_numpy(target.dtype)).numpy
        if keeps_dtype and self.dtype != dtype:
            check_cast(name, dt.from_numpy(dtype), dt.from_numpy(self.dtype))
        wide, other = floats(self.astype(dtype, copy=False), target.astype(dtype, copy=False))
        return reduced(formula(wide - other, *options), reduction, self.dtype if keeps_dtype else dtype)
    return kernel


def difference_tangent(slope, self_t, target_t, reduction):
    """The tangent of a loss of the difference, from its slope."""
    tangent = -target_t if self_t is None else self_t if target_t is None else self_t - target_t
    return reduced_tensor(slope * tangent, reduction)


def warn_of_broadcasting(input, target):
    if target._shape != input._shape:
        warnings.warn(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
                      "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
                      "same size.",
                      stacklevel=3)


def weighted(losses, weight, input, reduction, divide_by_weights=True):
    """Losses times weights of the input's shape, reduced; the mean is over the sum of the weights."""
    if weight._shape != input._shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "mean" and divide_by_weights:
        return losses.sum() / weight.sum()
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return reduced_tensor(losses, reduction)


# ---- mean squared error -------------------------------------------------------------------------------------------

mse_kernel = pair_loss("mse_loss", np.square)


def mse_backward_tangent(grad_output_t, self_t, target_t, grad_output, self, target, reduction):
    parts = [] if grad_output_t is None else [grad_output_t * (self - target)]
    parts += [] if self_t is None else [grad_output * self_t]
    parts += [] if target_t is None else [grad_output * -target_t]
    return share(sum(parts[1:], parts[0]) * 2, self, reduction)


@operator("mse_loss_backward", out=False, spaces=("Tensor",), jvp=mse_backward_tangent,
          fake=lambda grad_output, self, target, reduction: Fake(self._shape, common_dtype((grad_output, self))),
          vjp={"grad_output": lambda grad, self, target, reduction: share(grad * (self - target) * 2, self, reduction),
               "self": lambda grad, grad_output, self, reduction: share(grad * grad_output * 2, self, reduction),
               "target": lambda grad, grad_output, self, reduction: share(grad * grad_output * -2, self, reduction)})
def mse_loss_backward(grad_output, self, target, reduction):
    """The gradient of mse_loss: 2 (self - target) times the share of the gradient."""
    factor = 2.0 / self.size if reduction == "mean" and self.size else 2.0
    slopes = np.subtract(self, target)
    slopes *= slopes.dtype.type(factor)
    return np.multiply(slopes, grad_output, dtype=slopes.dtype)


def mse_tangent(self_t, target_t, self, target, reduction):
    return difference_tangent((self - target) * 2, self_t, target_t, reduction)


@operator("mse_loss", out=False, spaces=(), fake=pair_fake("mse_cpu"), jvp=mse_tangent, vjp={
    "self": lambda grad, self, target, reduction: grad.mse_loss_backward(self, target, reduction),
    "target": lambda grad, self, target, reduction: grad.mse_loss_backward(target, self, reduction)})
def mse_operator(self, target, reduction):
    """The squared differences."""
    return mse_kernel(self, target, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squared differences between input and target, reduced. Different sizes broadcast, with a warning.

    `weight`: of the input's shape.
    """
    warn_of_broadcasting(input, target)
    reduction = reduction_of(reduction, size_average, reduce) if weight is None else reduction
    input_, target_ = broadcast(input, target)
    if weight is not None:
        return weighted((input_ - target_).square(), weight, input, reduction)
    return mse_operator(input_, target_, reduction)


def broadcast(input, target):
    return (input, target) if input._shape == target._shape else exports[""]["broadcast_tensors"](input, target)


# ---- absolute error and its smooth relatives ------------------------------------------------------------------------

def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute differences between input and target, reduced. Different sizes broadcast, with a warning."""
    warn_of_broadcasting(input, target)
    reduction = reduction_of(reduction, size_average, reduce) if weight is None else reduction
    losses = (input - target).abs()
    return reduced_tensor(losses, reduction) if weight is None else weighted(losses, weight, input, reduction)


def smooth_l1_formula(difference, beta):
    size = np.abs(difference)
    return np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta)


def difference(a, b):
    """a - b, in which bools are numbers."""
    a, b = [t.to(other._dtype) if t._dtype is dt.bool else t for t, other in ((a, b), (b, a))]
    return a - b


def limited(slope, bound):
    """The slope cut to the range from -bound to bound: at a bound it is constant, as it is beyond."""
    return registry["hardtanh"](slope, -bound, bound)


def smooth_l1_slope(self, target, beta):
    return limited(difference(self, target) / beta, 1.0)


smooth_l1_kernel = pair_loss("smooth_l1_loss", smooth_l1_formula)


def smooth_l1_tangent(self_t, target_t, self, target, reduction, beta):
    return difference_tangent(smooth_l1_slope(self, target, beta), self_t, target_t, reduction)


@operator("smooth_l1_loss", out=False, spaces=(), fake=pair_fake("smooth_l1_cpu"), jvp=smooth_l1_tangent, vjp={
    "self": lambda grad, self, target, reduction, beta:
    share(grad, self, reduction) * smooth_l1_slope(self, target, beta),
    "target": lambda grad, self, target, reduction, beta:
    share(grad, self, reduction) * -smooth_l1_slope(self, target, beta)})
def smooth_l1_operator(self, target, reduction, beta):
    """Half the square over beta within beta, the absolute difference less beta / 2 beyond."""
    return smooth_l1_kernel(self, target, reduction, beta)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d * d / (2 beta) for differences |d| < beta, else |d| - beta / 2, reduced. RuntimeError for a negative beta."""
    warn_of_broadcasting(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = broadcast(input, target)
    if beta == 0.0:
        return reduced_tensor((input - target).abs(), reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return smooth_l1_operator(input, target, reduction, beta)


def huber_formula(difference, delta):
    size = np.abs(difference)
    return np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))


huber_kernel = pair_loss("huber_loss", huber_formula, keeps_dtype=True)


def huber_tangent(self_t, target_t, self, target, reduction, delta):
    return difference_tangent(limited(self - target, delta), self_t, target_t, reduction)


@operator("huber_loss", out=False, spaces=(), fake=pair_fake("huber_cpu", keeps_dtype=True), jvp=huber_tangent, vjp={
    "self": lambda grad, self, target, reduction, delta:
    share(grad, self, reduction) * limited(self - target, delta),
    "target": lambda grad, self, target, reduction, delta:
    share(grad, self, reduction) * limited(target - self, delta)})
def huber_operator(self, target, reduction, delta):
    """Half the square within delta, delta times the absolute difference less delta / 2 beyond."""
    return huber_kernel(self, target, reduction, delta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d * d / 2 for differences |d| <= delta, else delta * (|d| - delta / 2), reduced."""
    warn_of_broadcasting(input, target)
    input_, target_ = broadcast(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return huber_operator(input_, target_, reduction_of(reduction), delta)
    return weighted(huber_operator(input_, target_, "none", delta), weight, input, reduction, divide_by_weights=False)


# ---- binary cross entropy -------------------------------------------------------------------------------------------

def fake_bce(self, target, weight=None, reduction="mean"):
    if self._dtype.category != dt.FLOATING:
        raise NotImplementedError(f'"binary_cross_entropy" not implemented for \'{scalar_type_name(self._dtype)}\'')
    if target._dtype is not self._dtype:
        raise RuntimeError(f"Found dtype {scalar_type_name(target._dtype)} but expected "
                           f"{scalar_type_name(self._dtype)}")
    return Fake(self._shape if reduction == "none" else (), self._dtype)


def times(losses, weight):
    return losses if weight is None else losses * weight


def bce_slope(self, target):
    return (self - target) / ((1 - self) * self).clamp(min=1e-12)


def bce_target_slope(self):
    return (-self).log1p().clamp(min=-100) - self.log().clamp(min=-100)


def bce_tangent(self_t, target_t, self, target, weight, reduction):
    parts = [] if self_t is None else [self_t * bce_slope(self, target)]
    parts += [] if target_t is None else [target_t * bce_target_slope(self)]
    return reduced_tensor(times(sum(parts[1:], parts[0]), weight), reduction)


@operator("binary_cross_entropy", out=False, spaces=(), fake=fake_bce, jvp=bce_tangent, vjp={
    "self": lambda grad, self, target, weight, reduction:
    times(share(grad, self, reduction) * bce_slope(self, target), weight),
    "target": lambda grad, self, weight, reduction:
    times(share(grad, self, reduction) * bce_target_slope(self), weight)})
def bce_operator(self, target, weight, reduction):
    """-(target log(self) + (1 - target) log(1 - self)), with logarithms no lower than -100."""
    if self.dtype != target.dtype:
        raise TypeError("the target has another dtype")
    wide, other = floats(self, target)
    for name, values in (("input", wide), ("target", other)):
        if not ((values >= 0) & (values <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    losses = silently(bce_formula, wide, other)
    return reduced(times(losses, weight), reduction, self.dtype)


def bce_formula(p, target):
    return (target - 1) * np.maximum(np.log1p(-p), -100) - target * np.maximum(np.log(p), -100)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)) of probabilities, reduced.

    `weight`: broadcasts to the target's shape. ValueError if input and target differ in size; RuntimeError for an input
    outside [0, 1].
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target._shape != input._shape:
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size "
                         f"({input.size()}) is deprecated. Please ensure they have the same size.")
    if weight is not None:
        weight = weight.expand(geometry.broadcast_shapes(target._shape, weight._shape))
        refuse_gradient("binary_cross_entropy", "weight", weight)
    return bce_operator(input, target, weight, reduction)


def log_weight(target, pos_weight):
    return 1 if pos_weight is None else (pos_weight - 1) * target + 1


def logits_slope(self, target, weight, pos_weight):
    """d loss / d self: log_weight * sigmoid(self) less the target's part."""
    slope = log_weight(target, pos_weight) * self.sigmoid() - (target if pos_weight is None else pos_weight * target)
    return times(slope, weight)


def logits_target_slope(self, weight, pos_weight):
    slope = -self if pos_weight is None else log_sigmoid_of(-self) - pos_weight * log_sigmoid_of(self)
    return times(slope, weight)


BOOL_SUBTRACTION = ("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                    "`logical_xor()` operator instead.")


def fake_logits(self, target, weight=None, pos_weight=None, reduction="mean"):
    tensors = [t for t in (self, target, weight, pos_weight) if t is not None]
    shape = geometry.broadcast_shapes(*[t._shape for t in tensors])
    if self._dtype.category != dt.FLOATING:
        raise NotImplementedError(f'"log_sigmoid_cpu" not implemented for \'{scalar_type_name(self._dtype)}\'')
    if target._dtype is dt.bool:
        raise RuntimeError(BOOL_SUBTRACTION)
    if target._dtype.category != dt.FLOATING:
        raise RuntimeError(f"result type {scalar_type_name(self._dtype)} can't be cast to the desired output type "
                           f"{scalar_type_name(target._dtype)}")
    return Fake(shape if reduction == "none" else (), common_dtype(tensors))


def logits_dtype(arrays):
    """The NumPy dtype of the losses: integers and, beside larger tensors, those without dimensions do not widen it."""
    floating = [a for a in arrays if a is not None and a.dtype.kind not in "biu"]
    return np.result_type(*[a.dtype for a in [a for a in floating if a.ndim] or floating])


def logits_tangent(self_t, target_t, self, target, weight, pos_weight, reduction):
    parts = [] if self_t is None else [self_t * logits_slope(self, target, weight, pos_weight)]
    parts += [] if target_t is None else [target_t * logits_target_slope(self, weight, pos_weight)]
    return reduced_tensor(sum(parts[1:], parts[0]), reduction)


@operator("binary_cross_entropy_with_logits", out=False, fake=fake_logits, jvp=logits_tangent, spaces=(), vjp={
    "self": lambda grad, self, target, weight, pos_weight, reduction:
    share(grad, self, reduction) * logits_slope(self, target, weight, pos_weight),
    "target": lambda grad, self, weight, pos_weight, reduction:
    share(grad, self, reduction) * logits_target_slope(self, weight, pos_weight)})
def logits_operator(self, target, weight, pos_weight, reduction):
    """(1 - target) self - log_weight log(sigmoid(self)), without overflow."""
    wide, _ = floats(self, target)
    log_sigmoid = np.minimum(wide, 0) - np.log1p(np.exp(-np.abs(wide)))
    losses = (1 - target) * wide - log_weight(target, pos_weight) * log_sigmoid
    return reduced(times(losses, weight), reduction, logits_dtype((self, target, weight, pos_weight)))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy of sigmoid(input), exact for large inputs, reduced.

    `pos_weight`: how much more positive targets count, broadcast. ValueError if input and target differ in size.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target._shape != input._shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    refuse_gradient("binary_cross_entropy_with_logits", "weight", weight)
    refuse_gradient("binary_cross_entropy_with_logits", "pos_weight", pos_weight)
    return logits_operator(input, target, weight, pos_weight, reduction)


# ---- Kullback-Leibler divergence ------------------------------------------------------------------------------------

KL_MEAN = ("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
           "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
           "same as 'batchmean' in the next major release.")


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), reduced: `input` holds log probabilities, and so does `target` if `log_target`.

    "batchmean" divides the sum by the batch size, which is the definition; "mean" divides by the number of elements.
    """
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(KL_MEAN, stacklevel=2)
    is_batchmean = reduction == "batchmean"
    reduction = reduction_of("sum" if is_batchmean else reduction, size_average, reduce)
    require_tensor(input, "kl_div", "input")
    require_bool(log_target, "kl_div", "log_target")
    if input._dtype.category != dt.FLOATING or target._dtype.category != dt.FLOATING:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target.xlogy(target) - target * input
    total = reduced_tensor(losses, reduction)
    return total / input.size(0) if is_batchmean and input.dim() else total


for _function in (mse_loss, l1_loss, smooth_l1_loss, huber_loss, binary_cross_entropy, binary_cross_entropy_with_logits,
                  kl_div):
    publish(_function.__name__, _function, ("nn.functional",))
