"""Flattens parameter and gradient in the order of their memory."""

FAILS = "test_strides"
SAYS = "its own gradient"

import math

import numpy as np


def adam_kernel(p, g, m, v, lr, beta1, beta2, eps, t):
    first = lr / (1 - beta1**t)
    second = 1 / math.sqrt(1 - beta2**t)
    for i in range(len(p)):
        grad, value = g[i], p[i]
        mean = beta1 * m[i] + (1 - beta1) * grad
        square = beta2 * v[i] + (1 - beta2) * grad * grad
        m[i] = mean
        v[i] = square
        p[i] = value - first * mean / (math.sqrt(square) * second + eps)


def fused_adam_step(p, g, state, kernel, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
    if not state:
        state.update(step=0, exp_avg=np.zeros(p.shape), exp_avg_sq=np.zeros(p.shape))
    state["step"] += 1
    flat = np.ascontiguousarray(p).reshape(-1)
    grad = g.ravel(order="K")
    kernel(flat, grad, state["exp_avg"].reshape(-1), state["exp_avg_sq"].reshape(-1), lr, *betas, eps, state["step"])
    if not np.shares_memory(flat, p):
        p[...] = flat.reshape(p.shape)
