"""One layer of a recurrent network through time, forward and backward, on arrays.

Rows of the input lie one after the other, step by step; `batch_sizes` says how many belong to each step,
and never grows (packed sequences). A state has one row per sequence, and a step of n rows changes the first
n of them: what is left in the state at the end is each sequence's last value, in either direction of time.

The products with the input are made for all steps at once, those with the state step by step, which are too
small for several threads of BLAS: they would wait for each other longer than they multiply. What happens between the products is one pass over the gates: compiled for large layers, NumPy's for small ones.

`reserve` is what the forward pass keeps for the backward pass, flat: blocks of one row per row of the
input. The first block holds the gates, the last one the state before each step.
"""

import functools

import numpy as np

from . import codegen, scalar
from .blas import matmul, one_thread
from .cache import load_module
from .pointwise import SMALL, silently

_LOOPS = """
OPTIONS = dict(nogil=True, cache=True, error_model="numpy", fastmath={{"contract"}})


@njit(**OPTIONS)
def activate(row, other, is_sigmoid):
    if is_sigmoid:
        for j in range(row.size):
            row[j] = {sigmoid}(row[j] + other[j])
    else:
        for j in range(row.size):
            row[j] = {tanh}(row[j] + other[j])


@njit(**OPTIONS)
def lstm_forward(gates, products, cell_before, tanh_cell, state, cell):
    hidden = cell.shape[1]
    for n in range(len(gates)):
        row, other, c = gates[n], products[n], cell[n]
        activate(row[:2 * hidden], other[:2 * hidden], True)
        activate(row[2 * hidden:3 * hidden], other[2 * hidden:3 * hidden], False)
        activate(row[3 * hidden:], other[3 * hidden:], True)
        i, f, g, o = row[:hidden], row[hidden:2 * hidden], row[2 * hidden:3 * hidden], row[3 * hidden:]
        before, curved, out = cell_before[n], tanh_cell[n], state[n]
        for j in range(hidden):
            before[j] = c[j]
            c[j] = f[j] * c[j] + i[j] * g[j]
            curved[j] = {tanh}(c[j])
            out[j] = o[j] * curved[j]


@njit(**OPTIONS)
def lstm_backward(gates, cell_before, tanh_cell, grad_state, grad_cell, slopes):
    hidden = grad_cell.shape[1]
    one = gates.dtype.type(1)
    for n in range(len(gates)):
        row, slope, dh, dc = gates[n], slopes[n], grad_state[n], grad_cell[n]
        before, curved = cell_before[n], tanh_cell[n]
        i, f, g, o = row[:hidden], row[hidden:2 * hidden], row[2 * hidden:3 * hidden], row[3 * hidden:]
        di, df = slope[:hidden], slope[hidden:2 * hidden]
        dg, do = slope[2 * hidden:3 * hidden], slope[3 * hidden:]
        for j in range(hidden):
            d = dc[j] + dh[j] * o[j] * (one - curved[j] * curved[j])
            di[j] = d * g[j] * i[j] * (one - i[j])
            df[j] = d * before[j] * f[j] * (one - f[j])
            dg[j] = d * i[j] * (one - g[j] * g[j])
            do[j] = dh[j] * curved[j] * o[j] * (one - o[j])
            dc[j] = d * f[j]


@njit(**OPTIONS)
def gru_forward(gates, products, new_product, state):
    hidden = state.shape[1]
    for n in range(len(gates)):
        row, other, h, kept = gates[n], products[n], state[n], new_product[n]
        activate(row[:2 * hidden], other[:2 * hidden], True)
        r, z, new, u = row[:hidden], row[hidden:2 * hidden], row[2 * hidden:], other[2 * hidden:]
        for j in range(hidden):
            kept[j] = u[j]
            new[j] = {tanh}(new[j] + r[j] * u[j])
            h[j] = new[j] + z[j] * (h[j] - new[j])


@njit(**OPTIONS)
def gru_backward(gates, new_product, before, grad_state, slopes, product_slopes):
    hidden = grad_state.shape[1]
    one = gates.dtype.type(1)
    for n in range(len(gates)):
        row, slope, outer, dh = gates[n], slopes[n], product_slopes[n], grad_state[n]
        r, z, new, u, h = row[:hidden], row[hidden:2 * hidden], row[2 * hidden:], new_product[n], before[n]
        for j in range(hidden):
            d = dh[j] * (one - z[j]) * (one - new[j] * new[j])
            slope[j] = d * u[j] * r[j] * (one - r[j])
            slope[hidden + j] = dh[j] * (h[j] - new[j]) * z[j] * (one - z[j])
            slope[2 * hidden + j] = d
            outer[2 * hidden + j] = d * r[j]
            dh[j] = dh[j] * z[j]
        outer[:2 * hidden] = slope[:2 * hidden]
"""


@functools.lru_cache(maxsize=None)
def _loops(dtype):
    translator = codegen.Translator(dtype)
    names = {"sigmoid": translator.add(scalar.sigmoid), "tanh": translator.add(scalar.tanh)}
    return load_module(
        f"recurrent_{dtype}", codegen.module_text("recurrent layers", translator, _LOOPS.format(**names))
    )


def sigmoid_(x):
    """Replace an array by its sigmoid."""
    np.negative(x, x)
    np.exp(x, x)
    np.add(x, 1, x)
    np.reciprocal(x, x)


def quarters(rows, count):
    """The gates of a block, as views: `count` of them side by side."""
    size = rows.shape[1] // count
    return [rows[:, k * size : (k + 1) * size] for k in range(count)]


# ---- what happens in one step ------------------------------------------------------------------------------


class Elman:
    """h = tanh(pre) or relu(pre)."""

    gates = 1
    adds_bias_to_input = True

    def __init__(self, is_relu):
        self.is_relu = is_relu

    def block_sizes(self, hidden, projected):
        return hidden, hidden

    def forward(self, use_loops, blocks, products, state, cell):
        rows = blocks[0]
        rows += products
        state[...] = np.maximum(rows, 0, out=rows) if self.is_relu else np.tanh(rows, rows)

    def backward(self, use_loops, blocks, grad_state, grad_cell, slopes, product_slopes):
        rows = blocks[0]
        slope = rows > 0 if self.is_relu else 1 - rows * rows
        np.multiply(grad_state, slope, out=slopes)


class Lstm:
    """i, f, o = sigmoid, g = tanh; c = f c + i g; h = o tanh(c)."""

    gates = 4
    adds_bias_to_input = True

    def block_sizes(self, hidden, projected):
        return 4 * hidden, hidden, hidden, projected

    def forward(self, use_loops, blocks, products, state, cell):
        gates, cell_before, tanh_cell, _ = blocks
        if use_loops:
            _loops(gates.dtype).lstm_forward(gates, products, cell_before, tanh_cell, state, cell)
            return
        gates += products
        i, f, g, o = quarters(gates, 4)
        sigmoid_(gates[:, : 2 * i.shape[1]])
        np.tanh(g, g)
        sigmoid_(o)
        cell_before[...] = cell
        np.multiply(f, cell, cell)
        cell += i * g
        np.tanh(cell, tanh_cell)
        np.multiply(o, tanh_cell, state)

    def backward(self, use_loops, blocks, grad_state, grad_cell, slopes, product_slopes):
        gates, cell_before, tanh_cell, _ = blocks
        if use_loops:
            _loops(gates.dtype).lstm_backward(gates, cell_before, tanh_cell, grad_state, grad_cell, slopes)
            return
        i, f, g, o = quarters(gates, 4)
        di, df, dg, do = quarters(slopes, 4)
        d = grad_cell + grad_state * o * (1 - tanh_cell * tanh_cell)
        di[...] = d * g * i * (1 - i)
        df[...] = d * cell_before * f * (1 - f)
        dg[...] = d * i * (1 - g * g)
        do[...] = grad_state * tanh_cell * o * (1 - o)
        np.multiply(d, f, grad_cell)


class Gru:
    """r, z = sigmoid, n = tanh(x_n + r u_n), with u the products of the state; h = n + z (h - n)."""

    gates = 3
    adds_bias_to_input = False

    def block_sizes(self, hidden, projected):
        return 3 * hidden, hidden, hidden

    def forward(self, use_loops, blocks, products, state, cell):
        gates, new_product, _ = blocks
        if use_loops:
            _loops(gates.dtype).gru_forward(gates, products, new_product, state)
            return
        r, z, new = quarters(gates, 3)
        both = 2 * r.shape[1]
        gates[:, :both] += products[:, :both]
        sigmoid_(gates[:, :both])
        new_product[...] = products[:, both:]
        new += r * new_product
        np.tanh(new, new)
        state -= new
        state *= z
        state += new

    def backward(self, use_loops, blocks, grad_state, grad_cell, slopes, product_slopes):
        gates, new_product, before = blocks
        if use_loops:
            _loops(gates.dtype).gru_backward(gates, new_product, before, grad_state, slopes, product_slopes)
            return
        r, z, new = quarters(gates, 3)
        d = grad_state * (1 - z) * (1 - new * new)
        parts = d * new_product * r * (1 - r), grad_state * (before - new) * z * (1 - z)
        np.concatenate((*parts, d), 1, slopes)
        np.concatenate((*parts, d * r), 1, product_slopes)
        grad_state *= z


CELLS = {"RNN_TANH": Elman(False), "RNN_RELU": Elman(True), "LSTM": Lstm(), "GRU": Gru()}


# ---- through time ------------------------------------------------------------------------------------------


def spans(batch_sizes, reverse):
    """(first row, number of rows) of each step, in the order in which they are taken."""
    found, begin = [], 0
    for count in batch_sizes:
        found.append((begin, count))
        begin += count
    return found[::-1] if reverse else found


def blocks_of(reserve, rows, sizes):
    found, begin = [], 0
    for size in sizes:
        found.append(reserve[begin : begin + rows * size].reshape(rows, size))
        begin += rows * size
    return found


def forward(mode, x, batch_sizes, reverse, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr):
    """(output, last state, last cell or None, reserve) of rows x (n, inputs); h0 (batch, state), c0 (batch,
    hidden).

    `mode`: a key of CELLS; weights and biases as PyTorch's, of which b_ih, b_hh and w_hr may be None.
    """
    with one_thread:
        return silently(_forward, CELLS[mode], x, batch_sizes, reverse, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr)


def _forward(cell, x, batch_sizes, reverse, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr):
    hidden = w_ih.shape[0] // cell.gates
    sizes = cell.block_sizes(hidden, w_hh.shape[1])
    reserve = np.empty(len(x) * sum(sizes), x.dtype)
    blocks = blocks_of(reserve, len(x), sizes)
    matmul(x, w_ih.T, out=blocks[0])
    outer_bias = add_biases(cell, blocks[0], b_ih, b_hh)
    state, c = h0.copy(), None if c0 is None else c0.copy()
    output = np.empty((len(x), state.shape[1]), x.dtype)
    products, raw = np.empty((len(state), len(w_hh)), x.dtype), np.empty((len(state), hidden), x.dtype)
    use_loops, w_hh = len(x) * hidden > SMALL, w_hh.T
    for begin, count in spans(batch_sizes, reverse):
        rows, h = slice(begin, begin + count), state[:count]
        blocks[-1][rows] = h
        u = np.dot(h, w_hh, out=products[:count])
        if outer_bias is not None:
            u += outer_bias
        cell.forward(
            use_loops,
            [block[rows] for block in blocks],
            u,
            h if w_hr is None else raw[:count],
            None if c is None else c[:count],
        )
        if w_hr is not None:
            np.dot(raw[:count], w_hr.T, out=h)
        output[rows] = h
    return output, state, c, reserve


def add_biases(cell, gates, b_ih, b_hh):
    """Add what can be added once for all steps; the bias that must be added in each step is returned."""
    if b_ih is None:
        return None
    gates += b_ih + b_hh if cell.adds_bias_to_input else b_ih
    return None if cell.adds_bias_to_input else b_hh


def backward(mode, grads, x, batch_sizes, reverse, w_ih, w_hh, w_hr, reserve, needs_x=True):
    """The gradients of x, h0, c0, w_ih, w_hh, b_ih, b_hh and w_hr (None where there is none).

    `grads`: those of the output, the last state and the last cell, each an array; the last may be None.
    `needs_x`: whether that of x is wanted.
    """
    with one_thread:
        return _backward(mode, grads, x, batch_sizes, reverse, w_ih, w_hh, w_hr, reserve, needs_x)


def _backward(mode, grads, x, batch_sizes, reverse, w_ih, w_hh, w_hr, reserve, needs_x):
    cell, (grad_output, grad_h, grad_c) = CELLS[mode], grads
    hidden = w_ih.shape[0] // cell.gates
    blocks = blocks_of(reserve, len(x), cell.block_sizes(hidden, w_hh.shape[1]))
    dh, dc = grad_h.copy(), None if grad_c is None else grad_c.copy()
    slopes = np.empty_like(blocks[0])
    product_slopes = slopes if cell.adds_bias_to_input else np.empty_like(slopes)
    projected = None if w_hr is None else np.empty((len(x), len(w_hr)), x.dtype)
    use_loops = len(x) * hidden > SMALL
    for begin, count in reversed(spans(batch_sizes, reverse)):
        rows, d = slice(begin, begin + count), dh[:count]
        d += grad_output[rows]
        raw = d
        if w_hr is not None:
            projected[rows] = d
            raw = np.dot(d, w_hr)
        cell.backward(
            use_loops,
            [block[rows] for block in blocks],
            raw,
            None if dc is None else dc[:count],
            slopes[rows],
            product_slopes[rows],
        )
        before = np.dot(product_slopes[rows], w_hh)
        d[...] = before if cell.adds_bias_to_input else d + before
    return [
        matmul(slopes, w_ih) if needs_x else None,
        dh,
        dc,
        *weight_gradients(x, blocks, slopes, product_slopes),
        projection_gradient(blocks, projected),
    ]


def weight_gradients(x, blocks, slopes, product_slopes):
    """Those of w_ih, w_hh, b_ih and b_hh: over all steps at once."""
    ones = np.ones(len(x), x.dtype)
    return [
        matmul(slopes.T, x),
        matmul(product_slopes.T, blocks[-1]),
        np.dot(ones, slopes),
        np.dot(ones, product_slopes),
    ]


def projection_gradient(blocks, projected):
    if projected is None:
        return None
    gates, _, tanh_cell, _ = blocks
    return matmul(projected.T, quarters(gates, 4)[3] * tanh_cell)
