"""The two recurrent cells, with PyTorch's weights.

A cell makes the next state of a sequence from an input and the last state. Its weights are stacked: one block of
`hidden` rows for each gate, in this order

    LSTM   i (input), f (forget), g (candidate), o (output)         w_ih: (4 * hidden, inputs), w_hh: (4 * hidden, hidden)
    GRU    r (reset), z (update), n (candidate)                     w_ih: (3 * hidden, inputs), w_hh: (3 * hidden, hidden)

and there are two biases, b_ih beside the input's product and b_hh beside the state's. With x @ w_ih.T + b_ih and
h @ w_hh.T + b_hh cut into blocks (i_x is the input's block of i, i_h the state's), and s the sigmoid 1 / (1 + exp(-a)):

    LSTM   i = s(i_x + i_h)    f = s(f_x + f_h)    g = tanh(g_x + g_h)    o = s(o_x + o_h)
           c' = f * c + i * g          h' = o * tanh(c')
    GRU    r = s(r_x + r_h)    z = s(z_x + z_h)    n = tanh(n_x + r * n_h)
           h' = (1 - z) * n + z * h

n_h is the whole of the state's block, its bias too. A gate is 1 or 0 for large numbers, too: exp(1000) is inf, and
inf / inf is nan.
"""

import numpy as np


def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    """Return (h', c'), both (N, hidden), float64, for x (N, inputs) and state (h, c), which stay as they are."""
    raise NotImplementedError


def gru_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    """Return h', (N, hidden), float64, for x (N, inputs) and h (N, hidden), which stays as it is."""
    raise NotImplementedError
