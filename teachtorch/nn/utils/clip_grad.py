"""Keeping gradients small (torch.nn.utils.clip_grad_norm_ and clip_grad_value_)."""
import types
import warnings

from ...autograd.grad_mode import no_grad
from ...ops.declare import exports
from ...tensor import Tensor

stack, tensor = exports[""]["stack"], exports[""]["tensor"]
vector_norm = exports["linalg"]["vector_norm"]


def gradients(parameters):
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of the norms of `tensors`, a 0-dim tensor.

    `norm_type`: p, or inf for the largest magnitude. RuntimeError if it is not finite and `error_if_nonfinite`.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return tensor(0.0)
    total = vector_norm(stack([vector_norm(t, norm_type) for t in tensors]), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                           "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                           "anyway, set `error_if_nonfinite=False`")
    return total


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients, in place, by max_norm / (total_norm + 1e-6), but never up."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for grad in gradients(parameters):
        grad.mul_(factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the parameters' gradients, in place, so that their total norm is at most `max_norm`.

    Returns the total norm before, a 0-dim tensor. Parameters without gradient do not count. `foreach` is accepted as in
    PyTorch and changes nothing here. RuntimeError if the norm is not finite and `error_if_nonfinite`.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    is_generator = isinstance(parameters, types.GeneratorType)
    parameters = list(parameters)
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total_norm = get_total_norm(gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every element of the parameters' gradients, in place, to the range from -clip_value to clip_value."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    clip_value = float(clip_value)
    for grad in gradients(parameters):
        grad.clamp_(min=-clip_value, max=clip_value)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Deprecated: clip_grad_norm_."""
    warnings.warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
                  FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
