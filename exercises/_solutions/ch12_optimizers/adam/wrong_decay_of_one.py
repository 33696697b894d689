"""Adds the decay without the parameter."""

import numpy as np

FAILS = "test_coupled"
SAYS = "half of it goes into m"


def adam_step(
    p, g, state, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False, amsgrad=False
):
    if not state:
        state.update(step=0, exp_avg=np.zeros_like(p), exp_avg_sq=np.zeros_like(p))
        if amsgrad:
            state["max_exp_avg_sq"] = np.zeros_like(p)
    state["step"] += 1
    t, (beta1, beta2) = state["step"], betas
    if decoupled:
        p *= 1 - lr * weight_decay
    else:
        g = g + weight_decay
    state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * g
    state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
    second = state["exp_avg_sq"]
    if amsgrad:
        second = state["max_exp_avg_sq"] = np.maximum(state["max_exp_avg_sq"], second)
    scale = np.sqrt(second) / np.sqrt(1 - beta2**t) + eps
    p -= lr / (1 - beta1**t) * state["exp_avg"] / scale
