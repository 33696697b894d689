"""The autograd fields and methods of Tensor: requires_grad, grad, grad_fn, hooks, detach."""
import collections
import warnings

from ..core import observer
from ..core import dtype as dt
from ..core.dtype import cpp_name, scalar_type_name
from ..dispatch.overriding import overriding
from ..dispatch.state import state
from ..tensor import Tensor, adopt, counter_of, method, storage_of
from .detached import detached
from ..core.hooks import RemovableHandle
from .meta import grad_fn_of, gradient_edge, keep_gradient_at, meta_of, set_requires_grad, tracks

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
    "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.")


def _requires_grad(self):
    """Whether gradients flow to this tensor."""
    return tracks(self)


def _set_requires_grad(self, value):
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    if value and not _is_leaf(self):
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    if value and self._dtype.category != dt.FLOATING:
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    set_requires_grad(self, value)


def _grad(self):
    """The accumulated gradient of a leaf (or of a tensor that retains it); None until a backward filled it."""
    meta = self._meta
    if meta is None:
        return None
    if meta.grad is None and meta.grad_fn is not None and not meta.retains_grad:
        warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
    return meta.grad


def _set_grad(self, value):
    if value is not None:
        check_grad_assignable(self, value)
    if value is not None or self._meta is not None:
        meta_of(self).grad = value


def check_grad_assignable(t, value):
    """`.grad` must be a tensor of the same shape, dtype and device."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value._dtype is not t._dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{cpp_name(value._dtype)}' to a tensor with "
            f"grad_dtype '{scalar_type_name(t._dtype)}'. The gradient must match the tensor's grad_dtype "
            "(defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
            "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the "
            "dtypes of a tensor and its gradient may break downstream systems that assume they match."
        )
    if value._shape != t._shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(value._shape)}' to a tensor of size "
                           f"'{list(t._shape)}'. Please ensure that the gradient and the tensor are the same size")
    if value._device.type != t._device.type:
        raise RuntimeError(f"attempting to assign a gradient with device type '{value._device.type}' to a tensor with "
                           f"device type '{t._device.type}'. Please ensure that the gradient and the tensor are on the "
                           "same device")


def _backward_hooks(self):
    """The hooks of a leaf by number, None before the first."""
    hooks = None if self._meta is None else self._meta.hooks
    return None if hooks is None else collections.OrderedDict(hooks)


def _grad_fn(self):
    """The node of the graph that made this tensor; None for a leaf."""
    return grad_fn_of(self)


def _is_leaf(self):
    """Whether no recorded operator made this tensor (PyTorch: grad_fn is None)."""
    return grad_fn_of(self) is None


def _output_nr(self):
    return 0 if self._meta is None else self._meta.output_nr


def _retains_grad(self):
    """Whether backward keeps this non-leaf's gradient in `grad` (retain_grad)."""
    return self._meta is not None and self._meta.retains_grad


Tensor.requires_grad = property(_requires_grad, _set_requires_grad)
Tensor.grad = property(_grad, _set_grad, lambda self: _set_grad(self, None))
Tensor.grad_fn = property(_grad_fn)
Tensor.is_leaf = property(_is_leaf)
Tensor._backward_hooks = property(_backward_hooks)
Tensor.output_nr = property(_output_nr)
Tensor.retains_grad = property(_retains_grad)


@method
def requires_grad_(self, requires_grad=True):
    """Set requires_grad in place and return self. RuntimeError for non-leaves and integer tensors."""
    if not isinstance(requires_grad, bool):
        raise TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                        f"{type(requires_grad).__name__}")
    set_requires_grad(self, bool(requires_grad))
    return self


@method
def retain_grad(self):
    """Keep this non-leaf's gradient in `.grad`. No effect on a leaf; RuntimeError if it does not require grad."""
    if not tracks(self):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    meta = self._meta
    if meta.grad_fn is None or meta.retains_grad:
        return
    grad_fn = grad_fn_of(self)
    meta.retains_grad = True
    keep_gradient_at(self, grad_fn, meta.output_nr)


@method
def register_hook(self, hook):
    """Call hook(grad) when this tensor's gradient is computed; a tensor it returns replaces the gradient."""
    if not tracks(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    edge = gradient_edge(self)
    if edge is None:
        raise RuntimeError("cannot register a hook on a view that requires gradient only because its base does: it was "
                           "made before that, and no gradient reaches it")
    node, input_nr = edge
    if self._meta.grad_fn is None:
        hooks = self._meta.hooks = self._meta.hooks if self._meta.hooks is not None else {}
        node.own_hooks().tensor_pre[0] = hooks        # a leaf's hooks outlive its accumulators
    else:
        hooks = node.own_hooks().tensor_pre.setdefault(input_nr, {})
    return RemovableHandle.add(hooks, hook)


@method
def register_post_accumulate_grad_hook(self, hook):
    """Call hook(tensor) after a backward added to this leaf's `.grad`. RuntimeError in backward if it returns something
    else."""
    if not tracks(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = self._meta
    meta.post_accumulate_hooks = meta.post_accumulate_hooks if meta.post_accumulate_hooks is not None else {}
    return RemovableHandle.add(meta.post_accumulate_hooks, hook)


@method
def detach(self):
    """A tensor over the same memory and version counter that no gradient flows to."""
    storage_of(self)
    return detached(self)


@method
def detach_(self):
    """Leave the graph: become a leaf without gradient; nothing in inference mode. RuntimeError for views."""
    if state.inference:
        return self
    if self._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
            "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
            "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
            "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    meta = self._meta
    if meta is not None:
        meta.requires_grad, meta.grad_fn, meta.output_nr = False, None, 0
    return self


def _data(self):
    """The same memory without graph or version: changes through it go unnoticed. Prefer detach()."""
    plain = detach(self)
    plain._counter = None
    if state.subclass_functions and overriding[type(self)] and not isinstance(plain, type(self)):
        plain.__class__, plain._keys = type(self), self._keys
    return plain


def _set_data(self, value):
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if tracks(self) and not value._dtype.is_floating_point:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    storage_of(value)
    adopt(self, value)


def _keep_data(self):
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


Tensor.data = property(_data, _set_data, _keep_data)


def bump_version(t):
    """Count one in-place change of the tensor's storage lineage."""
    counter = counter_of(t)
    counter.value += 1
    if observer.active:
        observer.report("inplace", tensor=t, version=counter.value)
