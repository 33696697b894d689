"""Compares without the absolute value."""

import numpy as np

FAILS = "test_verdict"
SAYS = "too small is as wrong"


def unit(size, rng):
    direction = rng.random(size)
    return direction / np.linalg.norm(direction)


def forward_number(f, x, u, v, eps=1e-6):
    return float(v @ (f(x + eps * u) - f(x - eps * u)) / (2 * eps))


def backward_number(backward, x, u, v):
    return float(backward(x, v) @ u)


def fast_gradcheck(f, backward, x, rng, eps=1e-6, atol=1e-5, rtol=1e-3):
    outputs = f(x)
    u, v = unit(x.size, rng), unit(outputs.size, rng)
    numeric = forward_number(f, x, u, v, eps)
    analytic = backward_number(backward, x, u, v)
    return bool(analytic - numeric <= atol * u.sum() * v.sum() + rtol * abs(numeric))
