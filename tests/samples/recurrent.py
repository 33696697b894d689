"""Sample arguments for teachtorch/ops/recurrent.py.

Gradients of the whole layers are checked in tests/nn/test_rnn.py: what a layer keeps for its backward is
one of the operator's outputs, and has no derivative.
"""

import numpy as np

from tests.samples import sample, x

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def layer(mode, input, batch_sizes, reverse, has_bias=True, projection=None):
    """A layer of 3 inputs and 4 hidden units."""
    rows, batch, state = 4 * GATES[mode], batch_sizes[0], projection or 4
    biases = [x(rows, seed=k) if has_bias else None for k in (3, 4)]
    return sample(
        mode,
        input,
        x(batch, state),
        x(batch, 4, seed=1) if mode == "LSTM" else None,
        x(rows, 3),
        x(rows, state, seed=2),
        *biases,
        x(projection, 4, seed=5) if projection else None,
        batch_sizes,
        reverse,
        gradient=False,
    )


def gradients(mode, reserve, **options):
    """The backward of a layer of two steps, one sequence, one input and one hidden unit."""
    rows = GATES[mode]
    return sample(
        x(2, 1),
        x(1, 1),
        x(1, 1, seed=1) if mode == "LSTM" else None,
        mode,
        x(2, 1, seed=2),
        x(rows, 1),
        x(rows, 1, seed=3),
        None,
        [1, 1],
        False,
        x(2 * reserve, seed=4),
        **options,
    )


SAMPLES = {
    "recurrent_layer": [
        sampled
        for mode in GATES
        for sampled in (
            layer(mode, x(5, 2, 3), [2] * 5, False),
            layer(mode, x(5, 2, 3), [2] * 5, True, has_bias=False),
            layer(mode, x(6, 3), [3, 2, 1], False),
            layer(mode, x(6, 3), [3, 2, 1], True),
            layer(mode, np.ascontiguousarray(x(2, 5, 3)).transpose(1, 0, 2), [2] * 5, False),
        )
    ]
    + [layer("LSTM", x(5, 2, 3), [2] * 5, True, projection=2)],
    "recurrent_layer_backward": [
        gradients("RNN_TANH", 2),
        gradients("RNN_RELU", 2),
        gradients("LSTM", 7),
        gradients("GRU", 5),
        gradients("GRU", 5, needs_input=False),
    ],
}
