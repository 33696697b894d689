"""Grades recurrent_cells.py."""

import numpy as np

from exercises.grading import close, equal, points

ON, OFF = 50.0, -50.0  # before a sigmoid: 1 and 0


def lstm(yours, bias, c=0.0, h=0.0, w_hh=None):
    """One step of a cell with one hidden unit, of which the biases of i, f, g, o say everything."""
    w_hh = np.zeros((4, 1)) if w_hh is None else np.array(w_hh, float).reshape(4, 1)
    state = np.array([[h]]), np.array([[c]])
    return yours.lstm_cell(np.zeros((1, 1)), state, np.zeros((4, 1)), w_hh, np.array(bias, float), np.zeros(4))


def gru(yours, bias, h, w_hh=(0, 0, 0), b_hh=(0, 0, 0)):
    """One step of a cell with one hidden unit; bias and b_hh of r, z, n."""
    w_hh, b_hh = np.array(w_hh, float).reshape(3, 1), np.array(b_hh, float)
    return yours.gru_cell(np.zeros((1, 1)), np.array([[h]]), np.zeros((3, 1)), w_hh, np.array(bias, float), b_hh)


@points(1, "LSTM: what it forgets and what it keeps")
def test_forget(yours):
    why = "the blocks are i, f, g, o: i closed and f open keep c, i closed and f closed lose it"
    close(lstm(yours, [OFF, ON, 1, ON], c=2.0)[1], np.array([[2.0]]), why, what="c' of c = 2, i closed, f open")
    close(lstm(yours, [OFF, OFF, 1, ON], c=2.0)[1], np.array([[0.0]]), why, what="c' of c = 2, i and f closed")


@points(1, "LSTM: what it takes in")
def test_candidate(yours):
    why = "with i open and f closed c' is g = tanh(0.5): the third block, and no sigmoid"
    close(lstm(yours, [ON, OFF, 0.5, ON])[1], np.array([[np.tanh(0.5)]]), why, what="c' with g_x = 0.5")


@points(1, "LSTM: what it shows")
def test_output(yours):
    h, c = lstm(yours, [OFF, ON, 0, ON], c=2.0)
    close(h, np.tanh(np.array([[2.0]])), "h' = o * tanh(c'): the new c, squeezed", what="h' of c' = 2, o open")
    h, c = lstm(yours, [ON, ON, ON, ON], c=1.0)
    close(h, np.tanh(np.array([[2.0]])), "h' is made of c', not of c", what="h' of c = 1 and g = 1")
    close(lstm(yours, [ON, ON, ON, OFF], c=1.0)[0], np.array([[0.0]]), "o is the last block", what="h', o closed")


@points(1, "GRU: update is how much stays")
def test_update(yours):
    why = "h' = (1 - z) * n + z * h: an open update gate keeps the old state"
    close(gru(yours, [0, ON, 1.0], h=0.25), np.array([[0.25]]), why, what="h' of h = 0.25 with z = 1")
    close(gru(yours, [0, OFF, 1.0], h=0.25), np.tanh(np.array([[1.0]])), why, what="h' with z = 0: n = tanh(1)")


@points(2, "GRU: reset comes after the product")
def test_reset(yours):
    why = "n = tanh(n_x + r * n_h): r multiplies the product with its bias; the bias alone would stay"
    got = gru(yours, [OFF, OFF, 0.5], h=0.25, w_hh=(0, 0, 1), b_hh=(0, 0, 3))
    close(got, np.tanh(np.array([[0.5]])), why, what="h' with r = 0, n_x = 0.5, n_h = 0.25 + 3")
    h = np.array([[0.5, -1.0]])
    w_hh = np.vstack([np.zeros((4, 2)), np.array([[0.0, 1.0], [1.0, 0.0]])])
    bias = np.array([OFF, ON, OFF, OFF, 0, 0])  # r differs between the units, so the order of * and @ shows
    got = yours.gru_cell(np.zeros((1, 1)), h, np.zeros((6, 1)), w_hh, bias, np.zeros(6))
    why = "r has the size of the result: it chooses among the products, not among the old values"
    close(got, np.tanh(np.array([[0.0, 0.5]])), why, what="h' of h = [0.5, -1] with r = [0, 1], n_h = [-1, 0.5]")


@points(1, "both biases count")
def test_biases(yours):
    why = "b_ih and b_hh are added in every gate"
    zeros = np.zeros((1, 1)), np.zeros((1, 1))
    b = np.array([ON, OFF, 0.25, ON])
    h, c = yours.lstm_cell(np.zeros((1, 1)), zeros, np.zeros((4, 1)), np.zeros((4, 1)), b / 2, b / 2)
    close(c, np.tanh(np.array([[0.25]])), why, what="c' of an LSTM cell with the bias in two halves")
    got = gru(yours, [ON, OFF, 0.25], h=0.0, b_hh=(0, 0, 0.5))
    close(got, np.tanh(np.array([[0.75]])), why, what="h' of a GRU cell with r = 1, n's biases 0.25 and 0.5")


@points(1, "large numbers")
def test_large(yours):
    with np.errstate(all="ignore"):
        h, c = lstm(yours, [1000, -1000, -1000, 1000], c=1.0)
        close(c, np.array([[-1.0]]), "s(1000) is 1, s(-1000) is 0: and not inf / inf", what="c' of huge gates")
        got = gru(yours, [1000, -1000, 1000], h=0.5)
        close(got, np.array([[1.0]]), "s(-1000) is 0: and not inf / inf", what="h' of huge gates")


@points(2, "any weights, as torch.nn.LSTMCell")
def test_any_lstm(yours, rng):
    for torch, x, w_ih, w_hh, b_ih, b_hh, h, c in cases(rng, 4):
        cell = with_weights(torch.nn.LSTMCell, torch, w_ih, w_hh, b_ih, b_hh)
        before = h.copy(), c.copy()
        got = yours.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        with torch.no_grad():
            wanted = cell(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
        for name, one, other in zip(("h'", "c'"), got, wanted):
            close(one, np.array(other.tolist()), "PyTorch's cell with the same weights", what=name, tolerance=1e-9)
        equal((h, c), before, "the old state belongs to the caller", what="h and c after the call")


@points(2, "any weights, as torch.nn.GRUCell")
def test_any_gru(yours, rng):
    for torch, x, w_ih, w_hh, b_ih, b_hh, h, _ in cases(rng, 3):
        cell = with_weights(torch.nn.GRUCell, torch, w_ih, w_hh, b_ih, b_hh)
        before = h.copy()
        got = yours.gru_cell(x, h, w_ih, w_hh, b_ih, b_hh)
        with torch.no_grad():
            wanted = cell(torch.tensor(x), torch.tensor(h))
        close(got, np.array(wanted.tolist()), "PyTorch's cell with the same weights", what="h'", tolerance=1e-9)
        equal(h, before, "the old state belongs to the caller", what="h after the call")


def cases(rng, gates):
    """Random weights and states, float64."""
    import teachtorch as torch

    numbers = np.random.default_rng(rng.randrange(10**6))
    for _ in range(4):
        n, inputs, hidden = rng.randint(1, 4), rng.randint(1, 4), rng.randint(2, 4)
        rows = gates * hidden
        shapes = [(n, inputs), (rows, inputs), (rows, hidden), (rows,), (rows,), (n, hidden), (n, hidden)]
        yield torch, *[numbers.normal(0, 1, shape) for shape in shapes]


def with_weights(kind, torch, w_ih, w_hh, b_ih, b_hh):
    cell = kind(w_ih.shape[1], w_hh.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for name, value in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), (w_ih, w_hh, b_ih, b_hh)):
            getattr(cell, name).copy_(torch.tensor(value))
    return cell
