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
    raise NotImplementedError
