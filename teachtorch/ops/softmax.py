"""softmax and log_softmax with their backward operators, and what is made of them: softmin, gumbel_softmax."""
import numbers
import warnings

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import softmax as rows
from ..kernels.pointwise import SMALL, silently
from .declare import composite, exports, operator, publish, write_out
from .fake import Fake
from .reduction_arguments import check_out_dtypes
from .reduction_arrays import PLAIN, is_number_array, widened


def fake_softmax(kernel):
    """The fake rule of softmax and log_softmax."""
    def fake(self, dim):
        check_dim(dim, kernel)
        dim = geometry.wrap_dim(dim, len(self._shape))
        if self._dtype.category != dt.FLOATING:
            which = "lastdim_kernel" if dim >= len(self._shape) - 1 else "kernel"
            raise NotImplementedError(f'"{kernel}_{which}_impl" not implemented for '
                                      f"'{scalar_type_name(self._dtype)}'")
        return Fake(self._shape, self._dtype)
    return fake


def check_dim(dim, name):
    if not isinstance(dim, numbers.Integral) or isinstance(dim, bool):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")


def along(name, small, large, array, dim):
    """Run a kernel along `dim`, of 16-bit floats in float32; contiguous, with the array's dtype."""
    if dim.__class__ is int and array.dtype.char in PLAIN and 0 < array.size <= SMALL:
        return np.asarray(silently(small, array, dim), order="C")
    check_dim(dim, name)
    if is_number_array(array):
        raise TypeError(f"{name}() needs floating point numbers")
    if array.size > SMALL or not array.size:
        return large(array, geometry.wrap_dim(dim, array.ndim))
    return finished(silently(small, widened(array), dim), array.dtype)


def finished(found, dtype):
    """A fresh contiguous array of the dtype."""
    if found.dtype != dtype:
        found = found.astype(dtype)
    return np.asarray(found, order="C")


def softmax_of(array, dim):
    """exp(x - max) divided by its sum."""
    found = np.exp(array - np.maximum.reduce(array, dim, None, None, True))
    found /= np.add.reduce(found, dim, None, None, True)
    return found


def log_softmax_of(array, dim):
    """x - max - log(sum(exp(x - max)))."""
    found = array - np.maximum.reduce(array, dim, None, None, True)
    found -= np.log(np.add.reduce(np.exp(found), dim, None, None, True))
    return found


# ---- backward

def fake_backward(grad_output, output, dim):
    return Fake(output._shape, output._dtype)


def sum_along(array, dim):
    return np.add.reduce(array, dim, None, None, True)


def backward_along(small, large, grad, output, dim):
    """Run a backward kernel along `dim`, of 16-bit floats in float32."""
    if output.dtype.char in PLAIN and 0 < output.size <= SMALL:
        return np.asarray(silently(small, grad, output, dim), order="C")
    if output.size > SMALL or not output.size:
        return large(grad, output, geometry.wrap_dim(dim, output.ndim))
    return finished(silently(small, widened(grad), widened(output), dim), output.dtype)


def softmax_slopes(grad, output, dim):
    """(grad - sum(grad * output)) * output."""
    return (grad - sum_along(grad * output, dim)) * output


def log_softmax_slopes(grad, output, dim):
    """grad - exp(output) * sum(grad)."""
    return grad - np.exp(output) * sum_along(grad, dim)


def softmax_double_backward(grad, grad_output, output, dim):
    """The derivative of softmax's backward with respect to its output."""
    weighted = (output * grad_output).sum(dim, True)
    return grad * grad_output - weighted * grad - grad_output * (grad * output).sum(dim, True)


def softmax_backward_tangent(grad_output_t, output_t, grad_output, output, dim):
    found = 0
    if grad_output_t is not None:
        found = softmax_backward(grad_output_t, output, dim)
    if output_t is None:
        return found
    centred = grad_output - (grad_output * output).sum(dim, True)
    return found + output_t * centred - output * (grad_output * output_t).sum(dim, True)


def log_softmax_backward_tangent(grad_output_t, output_t, grad_output, output, dim):
    found = 0 if grad_output_t is None else log_softmax_backward(grad_output_t, output, dim)
    if output_t is None:
        return found
    return found + log_softmax_double_backward(output_t, grad_output, output, dim)


@operator("_softmax_backward_data", out=False, spaces=(), fake=fake_backward, jvp=softmax_backward_tangent,
          vjp={"grad_output": lambda grad, output, dim: softmax_backward(grad, output, dim),
               "output": softmax_double_backward})
def softmax_backward(grad_output, output, dim):
    """The gradient of softmax's input: (grad - sum(grad * output)) * output."""
    return backward_along(softmax_slopes, rows.softmax_backward, grad_output, output, dim)


def log_softmax_double_backward(grad, grad_output, output, dim):
    """The derivative of log_softmax's backward with respect to its output."""
    return -grad * output.exp() * grad_output.sum(dim, True)


@operator("_log_softmax_backward_data", out=False, spaces=(), fake=fake_backward,
          jvp=log_softmax_backward_tangent,
          vjp={"grad_output": lambda grad, output, dim: grad - (grad * output.exp()).sum(dim, True),
               "output": log_softmax_double_backward})
def log_softmax_backward(grad_output, output, dim):
    """The gradient of log_softmax's input: grad - exp(output) * sum(grad)."""
    return backward_along(log_softmax_slopes, rows.log_softmax_backward, grad_output, output, dim)


# ---- forward

@operator("_softmax", spaces=(), fake=fake_softmax("softmax"),
          jvp=lambda self_t, dim, result: softmax_backward(self_t, result, dim),
          vjp={"self": lambda grad, result, dim: softmax_backward(grad, result, dim)})
def softmax_(self, dim):
    """exp(self) / sum(exp(self)) along `dim`."""
    return along("softmax", softmax_of, rows.softmax, self, dim)


@operator("_log_softmax", spaces=(), fake=fake_softmax("log_softmax"),
          jvp=lambda self_t, dim, result: self_t - (self_t * result.exp()).sum(dim, True),
          vjp={"self": lambda grad, result, dim: log_softmax_backward(grad, result, dim)},
          arrays={"self": lambda grad, result, dim: backward_along(
              log_softmax_slopes, rows.log_softmax_backward, grad, result, dim)})
def log_softmax_(self, dim):
    """log(softmax(self)) along `dim`."""
    return along("log_softmax", log_softmax_of, rows.log_softmax, self, dim)


_softmax, _log_softmax = registry["_softmax"].call, registry["_log_softmax"].call


def softmax(input, dim=None, dtype=None, *, out=None, axis=None):
    """exp(x) / sum(exp(x)) along `dim`; `dtype`: what to convert to first."""
    if dim is not None and dtype is None and out is None:
        return _softmax(input, dim)
    return general_softmax(_softmax, "softmax", input, axis if dim is None else dim, dtype, out)


def log_softmax(input, dim=None, dtype=None, *, out=None, axis=None):
    """log(softmax(x)) along `dim`, without overflow; `dtype`: what to convert to first."""
    if dim is not None and dtype is None and out is None:
        return _log_softmax(input, dim)
    return general_softmax(_log_softmax, "log_softmax", input, axis if dim is None else dim, dtype, out)


def general_softmax(chosen, name, input, dim, dtype, out):
    """softmax and log_softmax with their rarer arguments."""
    if dim is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    if dtype is not None:
        input = input.to(dtype)
    if out is None:
        return chosen(input, dim)
    check_out_dtypes(name, out, input.dtype)
    return write_out(registry["_" + name], out, (input, dim))


publish("softmax", softmax, ("", "Tensor", "special"))
publish("log_softmax", log_softmax, ("", "Tensor", "special"))


@composite("_safe_softmax", spaces=())
def safe_softmax(self, dim, dtype=None):
    """softmax, but 0 where all along `dim` is -inf: what attention does with a row that is masked out altogether."""
    values = self if dtype is None else self.to(dtype)
    is_masked = (values == -float("inf")).all(dim, keepdim=True)
    return softmax(values.masked_fill(is_masked, 0), dim).masked_fill(is_masked, 0)     # no NaN, nor in gradients


# ---- nn.functional

def implicit_dim(name, ndim, stacklevel):
    """The dimension that softmax used to guess."""
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call "
                  "to include dim=X as an argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1


def functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) along `dim`; `dtype`: what to convert to first."""
    return softmax(input, implicit_dim("softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


def functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)) along `dim`, without overflow; `dtype`: what to convert to first."""
    dim = implicit_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return log_softmax(input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x along `dim`; `dtype`: what to convert to first."""
    return softmax(-input, implicit_dim("softmin", input.dim(), _stacklevel) if dim is None else dim, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the softmax relaxation of choosing a class, from its unnormalised log probabilities.

    `tau`: the temperature. `hard`: a one-hot choice, with the gradient of the soft one (Jang et al. 2016).
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return exports[""]["zeros_like"](logits).scatter_(dim, index, 1.0) - soft.detach() + soft


functional_softmax.__name__ = functional_softmax.__qualname__ = "softmax"
functional_log_softmax.__name__ = functional_log_softmax.__qualname__ = "log_softmax"
for _function in (functional_softmax, functional_log_softmax, softmin, gumbel_softmax):
    publish(_function.__name__, _function, ("nn.functional",))
