"""Fused optimizer updates: the whole update of all parameters in one operator call, one pass over the memory.

A for-loop of operators reads and writes the memory once per operator (for Adam seven times and more) and
costs a call per operator and parameter. Here each update is written once, for one element;
`kernels.optim.ListKernel` makes it a loop over all parameters ("vertical" and "horizontal" fusion in one).
torch._fused_adam_ and others (aten/src/ATen/native/FusedAdam.cpp, FusedSGD.cpp, FusedAdagrad.cpp).
"""
import functools

import numpy as np

from ..autograd.tensor_fields import bump_version
from ..dispatch import keys as K
from ..dispatch.operator import Operator
from ..kernels.optim import ListKernel
from .declare import publish, refuse_overlap
from .foreach import arrays_of, between, plain_numbers
from .launch import device_of, launch


# ---- updates of one element --------------------------------------------------------------------------------
# Choices are made when the kernel is: `decayed`, `climbs` and others are constants in the compiled loop.

@functools.lru_cache(maxsize=None)
def sgd_kernel(climbs, decayed):
    def sgd(p, grad, decay, lr):
        if climbs:
            grad = -grad
        if decayed:
            grad = grad + decay * p
        return p - lr * grad
    return ListKernel(sgd, 2, reads=(0, 1), writes=(0,))


@functools.lru_cache(maxsize=None)
def momentum_kernel(climbs, decayed, nesterov):
    def sgd_momentum(p, grad, buffer, decay, lr, momentum, share):
        if climbs:
            grad = -grad
        if decayed:
            grad = grad + decay * p
        buffer = momentum * buffer + share * grad
        direction = buffer
        if nesterov:
            direction = grad + momentum * buffer
        return p - lr * direction, buffer
    return ListKernel(sgd_momentum, 3, reads=(0, 1, 2), writes=(0, 2))


@functools.lru_cache(maxsize=None)
def adam_kernel(climbs, decayed, decoupled):
    """`correction`: the square root of 1 - beta2 ** t; `step_size`: lr / (1 - beta1 ** t)."""
    def adam(p, grad, m, v, decay, kept, weight1, beta2, weight2, correction, eps, step_size):
        if climbs:
            grad = -grad
        if decoupled:
            p = kept * p
        if decayed:
            grad = grad + decay * p
        m = between(m, grad, weight1)
        v = beta2 * v + weight2 * grad * grad
        return p - step_size * m / (np.sqrt(v) / correction + eps), m, v
    return ListKernel(adam, 4, reads=(0, 1, 2, 3), writes=(0, 2, 3))


@functools.lru_cache(maxsize=None)
def amsgrad_kernel(climbs, decayed, decoupled):
    """Adam with the largest v so far in the place of v."""
    def amsgrad(p, grad, m, v, largest, decay, kept, weight1, beta2, weight2, correction, eps, step_size):
        if climbs:
            grad = -grad
        if decoupled:
            p = kept * p
        if decayed:
            grad = grad + decay * p
        m = between(m, grad, weight1)
        v = beta2 * v + weight2 * grad * grad
        largest = np.maximum(largest, v)
        return p - step_size * m / (np.sqrt(largest) / correction + eps), m, v, largest
    return ListKernel(amsgrad, 5, reads=(0, 1, 2, 3, 4), writes=(0, 2, 3, 4))


@functools.lru_cache(maxsize=None)
def adagrad_kernel(climbs, decayed):
    def adagrad(p, grad, total, decay, lr, eps):
        if climbs:
            grad = -grad
        if decayed:
            grad = grad + decay * p
        total = total + grad * grad
        return p - lr * grad / (np.sqrt(total) + eps), total
    return ListKernel(adagrad, 3, reads=(0, 1, 2), writes=(0, 2))


# ---- the operators -----------------------------------------------------------------------------------------

def fused_operator(name):
    """The operator `kernel, params, grads, states, numbers`: states is a list of lists, written like the params."""
    op = Operator(name)

    def cpu(keys, kernel, params, grads, states, numbers):
        for p in params:
            refuse_overlap(p)
        if not kernel(arrays_of((params, grads, *states)), numbers):
            raise RuntimeError(f"{name}: params, grads and states must have same dtype, device and layout")

    def versions(keys, kernel, params, grads, states, numbers):
        op.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, kernel, params, grads, states, numbers)
        for tensors in (params, *states):
            for t in tensors:
                bump_version(t)

    def on_device(keys, kernel, params, grads, states, numbers):
        args = (kernel, params, grads, states, numbers)
        launch(op, cpu, device_of(op, args), args, written=(params, states))

    op.register(K.CPU, cpu)
    op.register(K.SIM, on_device)
    op.register(K.CUDA, on_device)
    op.register(K.AD_INPLACE_OR_VIEW, versions)
    return op


SGD, ADAM, ADAMW, ADAGRAD = map(fused_operator,
                                ("_fused_sgd_", "_fused_adam_", "_fused_adamw_", "_fused_adagrad_"))


def fused_sgd(params, grads, buffers, weight_decay, momentum, lr, dampening, nesterov, maximize):
    decayed = weight_decay != 0
    if momentum:
        SGD(momentum_kernel(maximize, decayed, nesterov), params, grads, [buffers],
            (weight_decay, lr, momentum, 1 - dampening))
    else:
        SGD(sgd_kernel(maximize, decayed), params, grads, [], (weight_decay, lr))


def fused_adam(op, params, grads, moments, steps, lr, beta1, beta2, weight_decay, eps, maximize):
    """`moments`: the lists exp_avg, exp_avg_sq and, for amsgrad, max_exp_avg_sq. `steps`: numbers."""
    decays, decoupled = weight_decay != 0, op is ADAMW
    make = amsgrad_kernel if len(moments) == 3 else adam_kernel
    kernel = make(maximize, decays and not decoupled, decays and decoupled)
    corrections = per_tensor(lambda t: (1 - beta2 ** t) ** 0.5, steps)
    step_sizes = per_tensor(lambda t: lr / (1 - beta1 ** t), steps)
    op(kernel, params, grads, moments,
       (weight_decay, 1 - lr * weight_decay, 1 - beta1, beta2, 1 - beta2, corrections,
                                        eps, step_sizes))


def fused_adagrad(params, grads, sums, steps, lr, lr_decay, weight_decay, eps, maximize):
    rates = per_tensor(lambda t: lr / (1 + (t - 1) * lr_decay), steps)
    ADAGRAD(adagrad_kernel(maximize, weight_decay != 0), params, grads, [sums], (weight_decay, rates, eps))


def per_tensor(function, steps):
    """[function(t) for t in steps], computed once for each different t."""
    known = {t: function(t) for t in set(steps)}
    return [known[t] for t in steps]


# ---- what PyTorch's optimizers call ------------------------------------------------------------------------

def unscaled(grads, grad_scale, found_inf):
    """Divide the gradients by the scale of a GradScaler; False if it found one that is not finite: then no update."""
    if found_inf is not None and plain_numbers(found_inf) == 1:
        return False
    if grad_scale is not None:
        for grad in grads:
            grad.div_(grad_scale)
    return True


def _fused_sgd_(self, grads, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov,
                maximize, is_first_step, grad_scale=None, found_inf=None):
    """SGD's step on a list of parameters, in place; the gradients and (with momentum) the buffers in lists as long.

    `is_first_step`: the buffers hold nothing yet. `grad_scale`, `found_inf`: 1-element tensors of a
    GradScaler.
    """
    if not unscaled(grads, grad_scale, found_inf):
        return
    if is_first_step:
        for buffer in momentum_buffer_list:
            buffer.zero_()
    fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, plain_numbers(lr),
              0 if is_first_step else dampening, nesterov, maximize)


def adam_function(name, op, title):
    def function(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *, lr, beta1, beta2,
                 weight_decay, eps, amsgrad, maximize, grad_scale=None, found_inf=None):
        if not unscaled(grads, grad_scale, found_inf):
            return
        moments = [exp_avgs, exp_avg_sqs, max_exp_avg_sqs] if amsgrad else [exp_avgs, exp_avg_sqs]
        fused_adam(op, self, grads, moments, plain_numbers(state_steps), plain_numbers(lr), beta1, beta2,
                   weight_decay, eps, maximize)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"{title}'s step on a list of parameters, in place. `state_steps`: their counts, "
                        "this step included.")
    return function


def _fused_adagrad_(self, grads, state_sums, state_steps, *, lr, lr_decay, weight_decay, eps, maximize,
                    grad_scale=None, found_inf=None):
    """Adagrad's step on a list of parameters, in place. `state_steps`: their counts, this step included."""
    if unscaled(grads, grad_scale, found_inf):
        fused_adagrad(self, grads, state_sums, plain_numbers(state_steps), plain_numbers(lr), lr_decay,
                      weight_decay, eps, maximize)


for _function in (_fused_sgd_, _fused_adagrad_, adam_function("_fused_adam_", ADAM, "Adam"),
                  adam_function("_fused_adamw_", ADAMW, "AdamW")):
    publish(_function.__name__, _function, ("",))
