"""Fused optimizer updates: one operator call for the whole list of parameters.

A for-loop of in-place operators costs several calls per parameter, which is most of the time where tensors are small.
torch._fused_sgd_ (aten/src/ATen/native/FusedSGD.cpp).
"""
from ..autograd.tensor_fields import bump_version
from ..dispatch import keys as K
from ..dispatch.operator import Operator
from ..tensor import array_of
from .declare import publish, refuse_overlap


def sgd_step(p, grad, buffer, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step):
    """One parameter's update, on arrays; rounded as the operators of optim/sgd.py round."""
    number = p.dtype.type
    if maximize:
        grad = -grad
    if weight_decay:
        grad = grad + p * number(weight_decay)
    if momentum:
        if is_first_step:
            buffer[...] = grad
        else:
            buffer *= number(momentum)
            buffer += grad if dampening == 0 else grad * number(1 - dampening)
        grad = grad + buffer * number(momentum) if nesterov else buffer
    p += grad * number(-lr)


fused_sgd = Operator("_fused_sgd_")


def fused_sgd_cpu(keys, params, grads, buffers, *options):
    for p in params:
        refuse_overlap(p)
    for i, p in enumerate(params):
        sgd_step(array_of(p), array_of(grads[i]), array_of(buffers[i]) if buffers else None, *options)


def fused_sgd_versions(keys, params, grads, buffers, *options):
    fused_sgd.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, params, grads, buffers, *options)
    for t in (*params, *buffers):
        bump_version(t)


fused_sgd.register(K.CPU, fused_sgd_cpu)
fused_sgd.register(K.AD_INPLACE_OR_VIEW, fused_sgd_versions)


def _fused_sgd_(self, grads, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov, maximize,
                is_first_step, grad_scale=None, found_inf=None):
    """SGD's step on a list of parameters, in place; the gradients and (with momentum) the buffers in lists as long.

    `is_first_step`: the buffers hold nothing yet. NotImplementedError for `grad_scale` and `found_inf`.
    """
    if grad_scale is not None or found_inf is not None:
        raise NotImplementedError("_fused_sgd_: gradient scaling (grad_scale, found_inf) is not there")
    fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, maximize,
              is_first_step)


publish("_fused_sgd_", _fused_sgd_, ("",))
