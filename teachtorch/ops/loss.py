"""Loss functions."""
import math
import numbers
import warnings

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .arguments import refuse_gradient, require_float, require_kind
from .declare import LINEAR, operator, publish
from .fake import Fake
from .node_names import name_node
from .reduction_arrays import widened

REDUCTIONS = ("none", "mean", "sum")


def reduction_of(reduction, size_average=None, reduce=None):
    """The reduction's name, from PyTorch's older two flags if one is given."""
    if size_average is not None or reduce is not None:
        size_average, reduce = [True if flag is None else flag for flag in (size_average, reduce)]
        reduction = "mean" if size_average and reduce else "sum" if reduce else "none"
        warnings.warn("size_average and reduce args will be deprecated, please use "
                      f"reduction='{reduction}' instead.", stacklevel=3)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


# ---- negative log likelihood

def class_dim(ndim):
    """Classes are in the second dimension of a batch."""
    return 0 if ndim == 1 else 1


def check_nll_shapes(shape, target_shape):
    """`shape`: (C,), (N, C) or (N, C, d1, ...); `target_shape`: the same without C."""
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if target_shape not in ((), (1,)):
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: "
                             f"{target_shape[0]}")
    elif not target_shape or shape[0] != target_shape[0]:
        found = target_shape[0] if target_shape else 0
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({found}).")
    elif len(shape) == 2 and len(target_shape) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif target_shape != shape[:1] + shape[2:]:
        raise RuntimeError(spatial_mismatch(shape, target_shape))


def spatial_mismatch(shape, target_shape):
    if len(shape) != 4:
        return f"Expected target size {list(shape[:1] + shape[2:])}, got {list(target_shape)}"
    if len(target_shape) != 3:
        return ("only batches of spatial targets supported (3D tensors) but got targets of dimension: "
                f"{len(target_shape)}")
    return f"size mismatch (got input: {list(shape)} , target: {list(target_shape)}"


def check_nll_dtypes(dtype, target_dtype, weight_dtype):
    if dtype.category != dt.FLOATING:
        raise NotImplementedError(f'"nll_loss_out_frame" not implemented for \'{scalar_type_name(dtype)}\'')
    if target_dtype not in (dt.int64, dt.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got "
                           f"{scalar_type_name(target_dtype)}")
    if weight_dtype not in (None, dtype):
        raise RuntimeError(f"expected scalar type {scalar_type_name(dtype)} but found "
                           f"{scalar_type_name(weight_dtype)}")


def check_class_weights(shape, weight_shape, start=""):
    """One weight per class."""
    classes = shape[class_dim(len(shape))]
    if weight_shape is not None and weight_shape != (classes,):
        raise RuntimeError(f"{start}weight tensor should be defined either for all {classes} classes or no classes "
                           f"but got weight tensor of shape: {list(weight_shape)}")


def fake_nll_loss(self, target, weight=None, reduction="mean", ignore_index=-100):
    check_nll_shapes(self._shape, target._shape)
    check_nll_dtypes(self._dtype, target._dtype, None if weight is None else weight._dtype)
    check_class_weights(self._shape, None if weight is None else weight._shape)
    shape = loss_shape(self._shape) if reduction == "none" else ()
    return Fake(shape, self._dtype)


def loss_shape(shape):
    return () if len(shape) == 1 else shape[:1] + shape[2:]


def classes_and_weights(shape, target, weight, ignore_index, dtype):
    """(class to pick, its weight) per target; 0 for an ignored one. IndexError for unknown classes."""
    target = target.reshape(loss_shape(shape)).astype(np.int64)
    kept = target != ignore_index
    classes = np.where(kept, target, 0)
    refuse_unknown_class(classes, shape[class_dim(len(shape))])
    weights = kept.astype(dtype) if weight is None else np.where(kept, weight[classes], 0).astype(dtype)
    return classes, weights


def refuse_unknown_class(classes, count):
    if classes.size and (classes.min() < 0 or classes.max() >= count):
        wrong = classes[(classes < 0) | (classes >= count)].reshape(-1)[0]
        raise IndexError(f"Target {wrong} is out of bounds.")


def check_nll(array, target, weight):
    check_nll_shapes(array.shape, target.shape)
    check_nll_dtypes(dt.from_numpy(array.dtype), dt.from_numpy(target.dtype),
                     None if weight is None else dt.from_numpy(weight.dtype))
    check_class_weights(array.shape, None if weight is None else weight.shape)


def nll_of(array, target, weight, reduction, ignore_index):
    """The loss of log probabilities, of 16-bit floats in float32."""
    check_nll(array, target, weight)
    if weight is None and array.ndim == 2 and all_count(target, array.shape[1], ignore_index):
        return plain_nll(array, target, reduction)
    wide, axis = widened(array), class_dim(array.ndim)
    classes, weights = classes_and_weights(array.shape, target, weight, ignore_index, wide.dtype)
    picked = np.take_along_axis(wide, np.expand_dims(classes, axis), axis).reshape(classes.shape)
    losses = np.where(classes_kept(target, classes, ignore_index), -picked * weights, 0)
    if reduction == "none":
        return losses
    total = losses.sum()
    return total / weights.sum() if reduction == "mean" else total


def all_count(target, count, ignore_index):
    """Whether every target surely is a class, and none is ignored."""
    if not target.size:
        return False
    low, high = np.minimum.reduce(target), np.maximum.reduce(target)
    return low >= 0 and high < count and not low <= ignore_index <= high


def plain_nll(array, target, reduction):
    """The loss without weights of (N, C) log probabilities, of 16-bit floats in float32."""
    picked = widened(array[np.arange(target.size), target])
    if reduction == "none":
        return -picked
    total = 0 - np.add.reduce(picked)              # and no -0.0
    return total / target.size if reduction == "mean" else total


def classes_kept(target, classes, ignore_index):
    return target.reshape(classes.shape) != ignore_index


def nll_kernel(array, target, weight, reduction, ignore_index):
    found = silently(nll_of, array, target, weight, reduction, ignore_index)
    return found if found.dtype == array.dtype else found.astype(array.dtype)


def nll_gradient(grad, self, target, weight, reduction, ignore_index):
    return nll_loss_backward(grad, self._shape, target, weight, reduction, ignore_index)


def nll_gradient_on_arrays(grad, self, target, weight, reduction, ignore_index):
    return nll_slopes(grad, self.shape, target, weight, reduction, ignore_index)


@operator("nll_loss", jvp=LINEAR, fake=fake_nll_loss, out=False, spaces=(), vjp={"self": nll_gradient},
          arrays={"self": nll_gradient_on_arrays})
def nll_loss_(self, target, weight=None, reduction="mean", ignore_index=-100):
    """The loss of (N, C) or (C,) log probabilities for the N classes `target`."""
    return nll_kernel(self, target, weight, reduction, ignore_index)


@operator("nll_loss2d", jvp=LINEAR, fake=fake_nll_loss, out=False, spaces=(), vjp={"self": nll_gradient})
def nll_loss2d(self, target, weight=None, reduction="mean", ignore_index=-100):
    """The loss of (N, C, d1, ...) log probabilities for the (N, d1, ...) classes `target`."""
    return nll_kernel(self, target, weight, reduction, ignore_index)


def nll_of_shape(self, target, weight, reduction, ignore_index):
    """The loss by the operator for this number of dimensions."""
    chosen = _nll_loss if self.dim() <= 2 else _nll_loss2d
    if weight is not None:
        refuse_gradient("nll_loss_forward" if self.dim() <= 2 else "nll_loss2d_forward", "weight", weight)
    return chosen(self, target, weight, reduction, ignore_index)


def plain_nll_backward(grad, shape, target, reduction):
    """The gradient without weights, of (N, C) log probabilities."""
    result = np.zeros(shape, grad.dtype)
    count = target.size if reduction == "mean" else 1
    result[np.arange(target.size), target] = -grad / grad.dtype.type(count)
    return result


@operator("nll_loss_backward", out=False, spaces=(), jvp=LINEAR,
          fake=lambda grad_output, shape, *rest: Fake(shape, grad_output._dtype),
          vjp={"grad_output": lambda grad, target, weight, reduction, ignore_index: nll_of_shape(
              grad, target, weight, reduction, ignore_index)})
def nll_loss_backward(grad_output, shape, target, weight, reduction, ignore_index):
    """Minus the weight at each target's class, times the gradient; for a mean over the sum of weights."""
    return nll_slopes(grad_output, shape, target, weight, reduction, ignore_index)


def nll_slopes(grad_output, shape, target, weight, reduction, ignore_index):
    """nll_loss_backward, on arrays."""
    if weight is None and len(shape) == 2 and all_count(target, shape[1], ignore_index):
        return plain_nll_backward(grad_output, shape, target, reduction)
    axis, wide = class_dim(len(shape)), widened(grad_output)
    classes, weights = classes_and_weights(shape, target, weight, ignore_index, wide.dtype)
    if reduction == "mean":
        weights = silently(np.true_divide, weights, weights.sum())
    slopes = np.where(classes_kept(target, classes, ignore_index), -weights * wide, 0)
    result = np.zeros(shape, grad_output.dtype)
    slopes = np.expand_dims(slopes, axis).astype(result.dtype)
    np.put_along_axis(result, np.expand_dims(classes, axis), slopes, axis)
    return result


_nll_loss, _nll_loss2d = registry["nll_loss"].call, registry["nll_loss2d"].call
name_node("nll_loss2d", "NllLoss2DBackward0")


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Negative log likelihood: minus the log probability (N, C, d1, ...) of each target class (N, d1, ...).

    `weight`: (C,); `ignore_index`: a target that does not count; `reduction`: none, sum, or mean, which
    divides by the sum of the targets' weights. IndexError for a class that does not exist.
    """
    if not isinstance(ignore_index, numbers.Integral):
        raise TypeError("nll_loss_nd(): argument 'ignore_index' (position 5) must be int, not "
                        f"{type(ignore_index).__name__}")
    return nll_of_shape(input, target, weight, reduction_of(reduction, size_average, reduce), ignore_index)


# ---- cross entropy

def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    """The cross entropy between logits (N, C, d1, ...) and target classes (N, d1, ...) or class probabilities
    of the input's shape; no softmax beforehand.

    `weight`: (C,); `label_smoothing`: how much of the target is spread evenly over all classes, in [0, 1].
    """
    reduction = reduction_of(reduction, size_average, reduce)
    require_kind(ignore_index, (int, np.integer, Tensor), "int", "cross_entropy_loss", "ignore_index", 5)
    require_float(label_smoothing, "cross_entropy_loss", "label_smoothing", 6)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input._shape == target._shape:
        return probability_loss(input, target, weight, ignore_index, reduction, label_smoothing)
    log_probabilities = input.log_softmax(class_dim(input.dim()))
    loss = nll_of_shape(log_probabilities, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return loss
    smooth = smooth_loss(log_probabilities, target, weight, ignore_index, reduction)
    classes = input.size(class_dim(input.dim()))
    return (1 - label_smoothing) * loss + (label_smoothing / classes) * smooth


def along_classes(weight, ndim):
    """The class weights, to broadcast against the input."""
    return weight if ndim == 1 else weight.view(1, -1, *[1] * (ndim - 2))


def probability_loss(input, target, weight, ignore_index, reduction, label_smoothing):
    if target.dtype.category != dt.FLOATING:
        raise RuntimeError("Expected floating point type for target with class probabilities, got "
                           f"{scalar_type_name(target.dtype)}")
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    dim = class_dim(input.dim())
    if weight is not None:
        check_class_weights(input.shape, tuple(weight.shape), "cross_entropy: ")
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / max(input.size(dim), 1)
    products = input.log_softmax(dim) * target
    if weight is not None:
        products = products * along_classes(weight, input.dim())
    if reduction == "none":
        return -products.sum(dim)
    total = -products.sum()
    if reduction == "sum":
        return total
    return total / math.prod(input.shape[:dim] + input.shape[dim + 1:] if input.size(dim) else (0,))


def smooth_loss(log_probabilities, target, weight, ignore_index, reduction):
    """The loss against evenly spread targets, times the number of classes; ignored targets do not count."""
    dim = class_dim(log_probabilities.dim())
    if weight is not None:
        log_probabilities = log_probabilities * along_classes(weight, log_probabilities.dim())
    ignored = target == ignore_index
    losses = (-log_probabilities.sum(dim)).masked_fill(ignored, 0)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if weight is None:
        return losses.sum() / ignored.logical_not().sum()
    weights = weight.index_select(0, target.masked_fill(ignored, 0).reshape(-1))
    return losses.sum() / weights.masked_fill(ignored.reshape(-1), 0).sum()


publish("nll_loss", nll_loss, ("nn.functional",))
publish("cross_entropy", cross_entropy, ("nn.functional",))


# ---- one hot

@operator("one_hot", out=False, spaces=("nn.functional",))
def one_hot(tensor, num_classes=-1):
    """A new last dimension with 1 at each class's place and 0 elsewhere; int64.

    `num_classes`: its size; -1: one more than the largest class.
    """
    if tensor.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not tensor.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor.size and tensor.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    count = int(tensor.max()) + 1 if num_classes == -1 else num_classes
    if tensor.size and tensor.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (tensor[..., None] == np.arange(count)).astype(np.int64)
