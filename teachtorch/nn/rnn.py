"""Recurrent networks: RNN, LSTM and GRU over whole sequences, and one step of each as a cell."""

import math
import numbers
import warnings

from ..ops.declare import exports
from ..tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

empty, zeros = exports[""]["empty"], exports[""]["zeros"]
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
NETWORKS = {
    mode: exports[""][name]
    for mode, name in (("RNN_TANH", "rnn_tanh"), ("RNN_RELU", "rnn_relu"), ("LSTM", "lstm"), ("GRU", "gru"))
}


def check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    """PyTorch's refusals, in its order."""
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):
        check_kind(name, value, kind)
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def check_kind(name, value, kind):
    if not isinstance(value, kind):
        raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    if kind is int and value <= 0:
        raise ValueError(f"{name} must be greater than zero")


def permuted(t, permutation, dim=1):
    return t if permutation is None else t.index_select(dim, permutation)


class RNNBase(Module):
    """What RNN, LSTM and GRU share. Weights start uniform in ±1/sqrt(hidden_size).

    Layer k has weight_ih_lk (gates * hidden, inputs), weight_hh_lk (gates * hidden, state), the biases
    bias_ih_lk and bias_hh_lk unless `bias` is False, and weight_hr_lk (proj_size, hidden) with a
    projection; "_reverse" at the end of a name means the second direction. Layers above the first take all
    directions' outputs as their input.
    """

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._add_weights(layer, suffix, device, dtype)
        self.reset_parameters()

    def _add_weights(self, layer, suffix, device, dtype):
        rows, state = GATES[self.mode] * self.hidden_size, self._state_size
        inputs = self.input_size if layer == 0 else state * self._directions
        shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, state)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [f"{name}_l{layer}{suffix}" for name in shapes]
        for name, shape in zip(names, shapes.values()):
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        self._all_weights.append(names)

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    @property
    def _state_size(self):
        return self.proj_size or self.hidden_size

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters of each layer and direction, as lists."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Does nothing: it is for cuDNN, which wants all weights in one block of memory."""

    def reset_parameters(self):
        """Draw all weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ---- checks --------------------------------------------------------------------------------------------

    def check_input(self, input, batch_sizes):
        """The dtype, the number of dimensions and the number of features must fit."""
        wanted = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != wanted:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({wanted}). Convert input: "
                f"input.to({wanted}), or convert model: model.to({input.dtype})"
            )
        dims = 3 if batch_sizes is None else 2
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(self, input, batch_sizes):
        """(layers * directions, batch, state)."""
        return self._layers_and_batch(input, batch_sizes) + (self._state_size,)

    def _layers_and_batch(self, input, batch_sizes):
        batch = input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * self._directions, batch

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """RuntimeError unless a state has the expected size."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """The input and the state must fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """A state with its sequences in another order."""
        return permuted(hx, permutation)

    # ---- forward -------------------------------------------------------------------------------------------

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        batch_dim, is_batched = 0 if self.batch_first else 1, input.dim() == 3
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D{self.DIMENSION_TEXT} instead"
            )
        input = input if is_batched else input.unsqueeze(batch_dim)
        hx = self._start(input, None) if hx is None else self._batched_state(hx, is_batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, None, hx)
        return (output, hidden) if is_batched else (output.squeeze(batch_dim), self._without_batch(hidden))

    def _packed(self, sequence, hx):
        input, batch_sizes, sorted_indices, unsorted_indices = sequence
        given = self._start(input, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(input, given, batch_sizes)
        output, hidden = self._run(input, batch_sizes, given)
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(hidden, unsorted_indices)

    def _start(self, input, batch_sizes):
        """States of zeros."""
        return zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _batched_state(self, hx, is_batched):
        kind, dims = ("batched 3-D", 3) if is_batched else ("unbatched 2-D", 2)
        if hx.dim() != dims:
            raise RuntimeError(f"For {kind} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")
        return hx if is_batched else hx.unsqueeze(1)

    def _without_batch(self, hidden):
        return hidden.squeeze(1)

    def _run(self, input, batch_sizes, hx):
        """(output, hidden) of PyTorch's function."""
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            return NETWORKS[self.mode](input, hx, *options, self.batch_first)
        return NETWORKS[self.mode](input, batch_sizes, hx, *options)

    DIMENSION_TEXT = ""

    def extra_repr(self):
        defaults = (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        )
        options = [f", {name}={getattr(self, name)}" for name, value in defaults if getattr(self, name) != value]
        return f"{self.input_size}, {self.hidden_size}" + "".join(options)


class RNN(RNNBase):
    """Elman's network: h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or relu.

    RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False,
    dropout=0.0, bidirectional=False). Called with the input (steps, batch, inputs), or (batch, steps,
    inputs) with batch_first, or (steps, inputs), or a PackedSequence, and optionally h_0 (layers *
    directions, batch, hidden); it returns the outputs of the last layer, directions side by side, and h_n.
    `dropout`: between the layers.
    """

    DIMENSION_TEXT = " tensor"

    def __init__(self, *args, **kwargs):
        refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


def refuse_projection(options):
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class GRU(RNNBase):
    """Gated recurrent units: r and z from input and state by sigmoid, n = tanh(W_in x + b_in + r (W_hn h +
    b_hn)), h_t = (1 - z) n + z h_(t-1) (Cho et al. 2014). The weights hold the rows of r, z and n, in this
    order.

    GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False); called as RNN.
    """

    def __init__(self, *args, **kwargs):
        refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: i, f and o from input and state by sigmoid, g by tanh; c_t = f c_(t-1) + i g,
    h_t = o tanh(c_t) (Hochreiter and Schmidhuber 1997). The weights hold the rows of i, f, g and o, in this
    order.

    LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0); called as RNN, but with a pair (h_0, c_0), and it returns output,
    (h_n, c_n). With proj_size > 0 the state is W_hr h_t, of that size.
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """(layers * directions, batch, hidden)."""
        return self._layers_and_batch(input, batch_sizes) + (self.hidden_size,)

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else (permuted(hx[0], permutation), permuted(hx[1], permutation))

    def _start(self, input, batch_sizes):
        sizes = (self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes))
        return tuple([zeros(size, dtype=input.dtype, device=input.device) for size in sizes])

    def _batched_state(self, hx, is_batched):
        kind, dims = ("batched 3-D", 3) if is_batched else ("unbatched 2-D", 2)
        if hx[0].dim() != dims or hx[1].dim() != dims:
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {dims}-D but got ({hx[0].dim()}-D, "
                f"{hx[1].dim()}-D) tensors"
            )
        return hx if is_batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _without_batch(self, hidden):
        return tuple([t.squeeze(1) for t in hidden])

    def _run(self, input, batch_sizes, hx):
        output, *hidden = super()._run(input, batch_sizes, hx)
        return output, tuple(hidden)


# ---- cells -------------------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """What the cells share: weight_ih (gates * hidden, inputs), weight_hh (gates * hidden, hidden) and two
    biases, all uniform in ±1/sqrt(hidden_size) at first."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw all weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        text += "" if self.bias is True else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def forward(self, input, hx=None):
        self._check_dims("input", input)
        states = self._states(hx)
        is_batched = input.dim() == 2
        input = input if is_batched else input.unsqueeze(0)
        if not states:
            start = zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            states = [start] * self.STATES
        elif not is_batched:
            states = [t.unsqueeze(0) for t in states]
        found = self._step(input, states)
        return found if is_batched else self._without_batch(found)

    STATES = 1

    def _check_dims(self, name, t):
        if t.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {t.dim()}D instead")

    def _states(self, hx):
        """The states as a list; an empty one if there are none."""
        if hx is None:
            return []
        self._check_dims("hidden", hx)
        return [hx]

    def _step(self, input, states):
        return exports[""][self.FUNCTION](input, *states, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def _without_batch(self, found):
        return found.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of RNN: h' (batch, hidden) from the input (batch, inputs) and h, zeros if left out; both may
    lack the batch dimension."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def _step(self, input, states):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return super()._step(input, states)

    @property
    def FUNCTION(self):
        return f"rnn_{self.nonlinearity}_cell"


class GRUCell(RNNCellBase):
    """One step of GRU; called as RNNCell."""

    FUNCTION = "gru_cell"

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)


class LSTMCell(RNNCellBase):
    """One step of LSTM: (h', c') from the input (batch, inputs) and a pair (h, c)."""

    FUNCTION = "lstm_cell"
    STATES = 2

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def _states(self, hx):
        states = [] if hx is None else list(hx)
        if isinstance(hx, Tensor) and hx.dim() in (1, 2) and self.FUNCTION == "lstm_cell":
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        for place, t in enumerate(states):
            self._check_dims(f"hx[{place}]", t)
        return states

    def _step(self, input, states):
        return super()._step(input, [tuple(states)])

    def _without_batch(self, found):
        return tuple([t.squeeze(0) for t in found])
