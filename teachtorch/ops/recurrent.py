"""Recurrent layers: torch.rnn_tanh, rnn_relu, lstm, gru, and one step of each (`rnn_tanh_cell`, ...).

One layer in one direction is one operator, which walks through time in its kernel (kernels/recurrent.py);
so is its backward. Other dtypes and devices, forward mode and gradients of gradients take the same layer
composed of operators.
"""

from ..autograd.api import grad as gradients_of
from ..core import dtype as dt
from ..dispatch import keys as K
from ..dispatch.state import state
from ..kernels import recurrent as kernels
from ..tensor import Tensor
from .declare import exports, operator, publish
from .fake import Fake

OUTPUTS = ("output", "h_n", "c_n", "reserve")
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
PLAIN_CPU = K.CPU | K.AD_INPLACE_OR_VIEW | K.AUTOGRAD | K.BACKEND_SELECT

cat, stack, linear = exports[""]["cat"], exports[""]["stack"], exports["nn.functional"]["linear"]


# ---- one layer by one operator -----------------------------------------------------------------------------


def rows_of(array):
    return array.reshape(-1, array.shape[-1])


def fake_layer(mode, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse):
    hidden = w_ih._shape[0] // GATES[mode]
    sizes = kernels.CELLS[mode].block_sizes(hidden, w_hh._shape[1])
    shapes = (
        input._shape[:-1] + hx._shape[1:],
        hx._shape,
        (0,) if cx is None else cx._shape,
        (input.numel() // input._shape[-1] * sum(sizes),),
    )
    return [Fake(shape, input._dtype) for shape in shapes]


def layer_slopes(grads, mode, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse, reserve, needs):
    """The gradients of the tensors of a layer: by one kernel, or by operators where they are to be differentiated."""
    tensors = (input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr)
    if state.grad_enabled:
        return slopes_by_operators(grads, mode, tensors, batch_sizes, reverse, needs)
    grad_output = input.new_zeros((*input._shape[:-1], hx._shape[1])) if grads[0] is None else grads[0]
    grad_h = hx.new_zeros(hx._shape) if grads[1] is None else grads[1]
    grad_c = cx.new_zeros(cx._shape) if grads[2] is None and cx is not None else grads[2]
    found = layer_backward(
        grad_output, grad_h, grad_c, mode, input, w_ih, w_hh, w_hr, batch_sizes, reverse, reserve, needs[0]
    )
    return [slope if needed else None for slope, needed in zip(found, needs)]


def slopes_by_operators(grads, mode, tensors, batch_sizes, reverse, needs):
    """The same as a graph, from the layer composed anew of its inputs."""
    inputs = [None if t is None else t.view_as(t) for t in tensors]
    outputs = composed_layer(mode, *inputs, batch_sizes, reverse)
    pairs = [(out, grad) for out, grad in zip(outputs, grads) if out is not None and grad is not None]
    wanted = [t for t, needed in zip(inputs, needs) if needed]
    found = iter(
        gradients_of(
            [out for out, _ in pairs], wanted, [grad for _, grad in pairs], create_graph=True, allow_unused=True
        )
    )
    return [next(found) if needed else None for needed in needs]


@operator(
    "recurrent_layer",
    fake=fake_layer,
    outputs=OUTPUTS,
    out=False,
    spaces=(),
    vjp={"input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr": layer_slopes},
)
def recurrent_layer(mode, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse):
    """One layer in one direction: its output, its last state and cell, and what its backward needs.

    `input`: (steps, batch, inputs), or packed rows (n, inputs). `batch_sizes`: how many rows belong to each
    step. `cx` is None but for an LSTM, `w_hr` but for one with a projection.
    """
    out, h, c, reserve = kernels.forward(
        mode, rows_of(input), batch_sizes, reverse, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr
    )
    return out.reshape(*input.shape[:-1], -1), h, reserve[:0].copy() if c is None else c, reserve


def fake_backward(
    grad_output, grad_h, grad_c, mode, input, w_ih, w_hh, w_hr, batch_sizes, reverse, reserve, needs_input=True
):
    bias = w_ih._shape[:1]
    shapes = (
        input._shape if needs_input else (0,),
        grad_h._shape,
        (0,) if grad_c is None else grad_c._shape,
        w_ih._shape,
        w_hh._shape,
        bias,
        bias,
        (0,) if w_hr is None else w_hr._shape,
    )
    return [Fake(shape, input._dtype) for shape in shapes]


@operator(
    "recurrent_layer_backward",
    fake=fake_backward,
    out=False,
    spaces=(),
    outputs=("input", "hx", "cx", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr"),
)
def layer_backward(
    grad_output, grad_h, grad_c, mode, input, w_ih, w_hh, w_hr, batch_sizes, reverse, reserve, needs_input=True
):
    """The gradients of recurrent_layer's tensors; empty for those that it has not, or that are not needed."""
    found = kernels.backward(
        mode,
        (rows_of(grad_output), grad_h, grad_c),
        rows_of(input),
        batch_sizes,
        reverse,
        w_ih,
        w_hh,
        w_hr,
        reserve,
        needs_input,
    )
    found[0] = found[0].reshape(input.shape) if needs_input else None
    return tuple([reserve[:0].copy() if slope is None else slope for slope in found])


# ---- the same, composed ------------------------------------------------------------------------------------


def composed_layer(mode, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse):
    """(output, last state, last cell or None) by operators."""
    rows = linear(input, w_ih, b_ih).reshape(-1, w_ih._shape[0])
    h, c, outputs = hx, cx, []
    for begin, count in kernels.spans(batch_sizes, reverse):
        gates = rows.narrow(0, begin, count)
        new, new_cell = STEPS[mode](gates, leading(h, count), leading(c, count), w_hh, b_hh)
        new = new if w_hr is None else linear(new, w_hr)
        h, c = followed(new, h, count), followed(new_cell, c, count)
        outputs.append(new)
    out = cat(outputs[::-1] if reverse else outputs)
    return out.reshape(*input._shape[:-1], out._shape[1]), h, c


def leading(t, count):
    return t if t is None or t._shape[0] == count else t.narrow(0, 0, count)


def followed(new, before, count):
    """The new rows of a state, and those that this step does not change."""
    if before is None or before._shape[0] == count:
        return new
    return cat([new, before.narrow(0, count, before._shape[0] - count)])


def elman_step(function):
    def step(gates, h, c, w_hh, b_hh):
        return function(gates + linear(h, w_hh, b_hh)), None

    return step


def lstm_step(gates, h, c, w_hh, b_hh):
    i, f, g, o = (gates + linear(h, w_hh, b_hh)).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(gates, h, c, w_hh, b_hh):
    (r, z, n), (hr, hz, hn) = gates.chunk(3, 1), linear(h, w_hh, b_hh).chunk(3, 1)
    n = (n + (r + hr).sigmoid() * hn).tanh()
    return n + (z + hz).sigmoid() * (h - n), None


STEPS = {
    "RNN_TANH": elman_step(exports[""]["tanh"]),
    "RNN_RELU": elman_step(exports[""]["relu"]),
    "LSTM": lstm_step,
    "GRU": gru_step,
}


# ---- choosing ----------------------------------------------------------------------------------------------


def layer(mode, input, hx, cx, weights, batch_sizes, reverse):
    """(output, last state, last cell or None); `weights`: w_ih, w_hh, b_ih, b_hh, w_hr."""
    if not has_kernel(mode, input, hx, cx, weights):
        return composed_layer(mode, input, hx, cx, *weights, batch_sizes, reverse)
    out, h, c, _ = recurrent_layer(mode, input, hx, cx, *weights, batch_sizes, reverse)
    return out, h, None if cx is None else c


def has_kernel(mode, input, hx, cx, weights):
    """Whether all are plain CPU tensors of one dtype that the kernel knows, and fit."""
    dtype = input._dtype
    if dtype not in (dt.float32, dt.float64) or state.included & ~PLAIN_CPU or not input.numel():
        return False
    tensors = [t for t in (input, hx, cx, *weights) if t is not None]
    if any([t._dtype is not dtype or t._keys & ~PLAIN_CPU for t in tensors]):
        return False
    return fits(GATES[mode], input, hx, cx, *weights)


def fits(gates, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr):
    if not len(w_ih._shape) == len(w_hh._shape) == len(hx._shape) == 2:
        return False
    rows, state_size, hidden = w_ih._shape[0], hx._shape[1], w_ih._shape[0] // gates
    wanted = [
        (w_ih, (gates * hidden, input._shape[-1])),
        (w_hh, (rows, state_size)),
        (b_ih, (rows,)),
        (b_hh, (rows,)),
        (cx, (hx._shape[0], hidden)),
        (w_hr, (state_size, hidden)),
    ]
    is_consistent = (b_ih is None) == (b_hh is None) and (w_hr is not None or state_size == hidden)
    return is_consistent and all([t is None or t._shape == shape for t, shape in wanted])


# ---- several layers ----------------------------------------------------------------------------------------


def layers_of(params, has_biases, has_projections, count):
    """[w_ih, w_hh, b_ih, b_hh, w_hr] of each layer and direction, from the flat list of parameters."""
    width = 2 + 2 * has_biases + has_projections
    if len(params) != width * count:
        raise RuntimeError("got an incorrect number of RNN parameters")
    for k in range(count):
        part = list(params[k * width : (k + 1) * width])
        projection = part.pop() if has_projections else None
        yield (part if has_biases else part + [None, None]) + [projection]


def run(mode, input, batch_sizes, hx, cx, params, has_biases, num_layers, dropout, train, bidirectional):
    """(output, h_n, c_n or None) of all layers; `input` is (steps, batch, inputs), or packed rows."""
    directions = 2 if bidirectional else 1
    has_projections = cx is not None and hx._shape[2] != cx._shape[2]
    layers = layers_of(params, has_biases, has_projections, num_layers * directions)
    states, cells = hx.unbind(0), [None] * hx._shape[0] if cx is None else cx.unbind(0)
    h_n, c_n = [], []
    for depth in range(num_layers):
        outputs = []
        for direction in range(directions):
            place = depth * directions + direction
            out, h, c = layer(mode, input, states[place], cells[place], next(layers), batch_sizes, direction == 1)
            outputs.append(out)
            h_n.append(h)
            c_n.append(c)
        input = cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and depth < num_layers - 1:
            input = exports[""]["dropout"](input, dropout, True)
    return input, stack(h_n), None if cx is None else stack(c_n)


def padded(mode, input, hx, cx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """`run` for (steps, batch, inputs), or (batch, steps, inputs) with batch_first."""
    input = input.transpose(0, 1) if batch_first else input
    if not input._shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    batch_sizes = [input._shape[1]] * input._shape[0]
    out, h_n, c_n = run(mode, input, batch_sizes, hx, cx, params, has_biases, num_layers, dropout, train, bidirectional)
    return (out.transpose(0, 1) if batch_first else out), h_n, c_n


def declare_network(name, mode):
    """Publish torch's function of `mode`: both its forms, the second one with packed rows and their batch sizes."""

    def network(input, *args, **kwargs):
        if isinstance(args[1], Tensor):
            return packed(input, *args, **kwargs)
        return whole(input, *args, **kwargs)

    def whole(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        return padded(
            mode, input, hx, None, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )[:2]

    def packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
        return run(
            mode, data, batch_sizes.tolist(), hx, None, params, has_biases, num_layers, dropout, train, bidirectional
        )[:2]

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"""All layers of {mode}: (output, h_n).

    As {name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or with
    packed rows as {name}(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
    bidirectional). nn.RNN and nn.GRU call it.
    """
    return publish(name, network, ("",))


rnn_tanh, rnn_relu, gru = (
    declare_network(name, mode) for name, mode in (("rnn_tanh", "RNN_TANH"), ("rnn_relu", "RNN_RELU"), ("gru", "GRU"))
)


def lstm(input, *args, **kwargs):
    """All layers of an LSTM: (output, h_n, c_n).

    As lstm(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or
    with packed rows as lstm(data, batch_sizes, (h, c), params, has_biases, num_layers, dropout, train,
    bidirectional). nn.LSTM calls it.
    """
    if isinstance(args[0], Tensor):
        return packed_lstm(input, *args, **kwargs)
    return whole_lstm(input, *args, **kwargs)


def whole_lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return padded(
        "LSTM", input, *checked_pair(hx), params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    )


def packed_lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    return run(
        "LSTM",
        data,
        batch_sizes.tolist(),
        *checked_pair(hx),
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
    )


def checked_pair(hx):
    if isinstance(hx, Tensor):
        raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    return hx


publish("lstm", lstm, ("",))


# ---- one step ----------------------------------------------------------------------------------------------


def check_step(input, w_ih, w_hh, states):
    """The input (batch, inputs) and the states (batch, hidden) must fit the weights."""
    if input._shape[1] != w_ih._shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input._shape[1]} expected {w_ih._shape[1]}")
    for label, hx in enumerate(states):
        if input._shape[0] != hx._shape[0]:
            raise RuntimeError(
                f"Input batch size {input._shape[0]} doesn't match hidden{label} batch size {hx._shape[0]}"
            )
        if hx._shape[1] != w_hh._shape[1]:
            raise RuntimeError(
                f"hidden{label} has inconsistent hidden_size: got {hx._shape[1]}, expected {w_hh._shape[1]}"
            )


def one_step(mode, input, hx, cx, *weights):
    check_step(input, *weights[:2], (hx,) if cx is None else (hx, cx))
    _, h, c = layer(mode, input, hx, cx, (*weights, None), [input._shape[0]], False)
    return h, c


def declare_cell(name, mode):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        return one_step(mode, input, hx, None, w_ih, w_hh, b_ih, b_hh)[0]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = (
        f"The next state (batch, hidden) of one step of {mode}, from the input (batch, inputs) and the state."
    )
    return publish(name, cell, ("",))


rnn_tanh_cell, rnn_relu_cell, gru_cell = (
    declare_cell(name, mode)
    for name, mode in (("rnn_tanh_cell", "RNN_TANH"), ("rnn_relu_cell", "RNN_RELU"), ("gru_cell", "GRU"))
)


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """The next state and cell, (batch, hidden) each, of one step of an LSTM; `hx`: the state and the cell."""
    return one_step("LSTM", input, *checked_pair(hx), w_ih, w_hh, b_ih, b_hh)


publish("lstm_cell", lstm_cell, ("",))
