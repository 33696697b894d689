"""Leaves the second bias away."""

FAILS = "test_biases"
SAYS = "added in every gate"

import numpy as np


def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = np.split(x @ w_ih.T + b_ih + h @ w_hh.T, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    r_x, z_x, n_x = np.split(x @ w_ih.T + b_ih, 3, axis=1)
    r_h, z_h, n_h = np.split(h @ w_hh.T, 3, axis=1)
    r, z = sigmoid(r_x + r_h), sigmoid(z_x + z_h)
    n = np.tanh(n_x + r * n_h)
    return (1 - z) * n + z * h


def sigmoid(a):
    return 0.5 * (1 + np.tanh(a / 2))
