"""Adam, AdamW and amsgrad, exactly as PyTorch's.

    g = g + weight_decay * p                          Adam;   AdamW: p *= 1 - lr * weight_decay, and g stays
    m = beta1 * m + (1 - beta1) * g                   exp_avg
    v = beta2 * v + (1 - beta2) * g * g               exp_avg_sq
    u = the largest v so far, with amsgrad; else v    max_exp_avg_sq
    p -= lr / (1 - beta1**t) * m / (sqrt(u) / sqrt(1 - beta2**t) + eps)

t counts the steps of THIS parameter, from 1. The state of a parameter is a dict, empty before its first step.
"""

import numpy as np


def adam_step(
    p, g, state, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False, amsgrad=False
):
    """Change the array p, and state, in place. decoupled: AdamW.

    p, g: float64 arrays of one shape; g must not change. state: keys step (an int), exp_avg, exp_avg_sq and,
    with amsgrad, max_exp_avg_sq, as above.
    """
    # solution
    if not state:
        state.update(step=0, exp_avg=np.zeros_like(p), exp_avg_sq=np.zeros_like(p))
        if amsgrad:
            state["max_exp_avg_sq"] = np.zeros_like(p)
    state["step"] += 1
    t, (beta1, beta2) = state["step"], betas
    if decoupled:
        p *= 1 - lr * weight_decay
    else:
        g = g + weight_decay * p
    state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * g
    state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
    second = state["exp_avg_sq"]
    if amsgrad:
        second = state["max_exp_avg_sq"] = np.maximum(state["max_exp_avg_sq"], second)
    scale = np.sqrt(second) / np.sqrt(1 - beta2**t) + eps
    p -= lr / (1 - beta1**t) * state["exp_avg"] / scale
    # end of solution
