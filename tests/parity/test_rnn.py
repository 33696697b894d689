"""Recurrent modules, their cells and packed sequences against PyTorch."""

import numpy as np
import pytest

import teachtorch
from tests.parity.programs import assert_close, assert_same, outcome

torch = pytest.importorskip("torch")

STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 3, 5


def array(torch, *shape, seed=0, dtype="float32"):
    return torch.from_numpy(np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype))


def flat(result):
    return [result] if not isinstance(result, (list, tuple)) else [part for r in result for part in flat(r)]


def trained(torch, module, inputs, call=None):
    """Everything about one forward and backward of a module: parameters, results, strides, gradients."""
    leaves = [t.requires_grad_() for t in flat(inputs)]
    torch.manual_seed(1)
    results = [t for t in flat((call or module)(*inputs)) if t is not None and t.dtype.is_floating_point]
    parameters = list(module.parameters())
    sum((out * out).sum() * (k + 1) for k, out in enumerate(results)).backward()
    return {
        "state": module.state_dict(),
        "repr": repr(module),
        "results": results,
        "strides": [out.stride() for out in results],
        "gradients": [p.grad for p in leaves + parameters],
    }


def state(torch, kind, options, batch):
    layers = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shape = (layers, *batch)
    h = array(torch, *shape, options.get("proj_size") or HIDDEN, seed=1, dtype=options["dtype"])
    return (h, array(torch, *shape, HIDDEN, seed=2, dtype=options["dtype"])) if kind == "LSTM" else h


def assert_same_results(program):
    """Without warnings: PyTorch says once that its faster kernel has no projections."""
    assert_close(outcome(program, teachtorch)[0], outcome(program, torch)[0], 1e-4)


OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"batch_first": True, "bias": False},
    {"num_layers": 3, "dropout": 0.5},
]
CASES = [(kind, options) for kind in ("RNN", "LSTM", "GRU") for options in OPTIONS]
CASES += [
    ("RNN", {"nonlinearity": "relu"}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("is_batched", [False, True])
@pytest.mark.parametrize(("kind", "options"), CASES)
def test_network(kind, options, is_batched, has_state, dtype):
    def program(torch):
        torch.manual_seed(0)
        module = getattr(torch.nn, kind)(INPUTS, HIDDEN, dtype=getattr(torch, dtype), **options)
        input = array(torch, STEPS, *[BATCH] * is_batched, INPUTS, dtype=dtype)
        batch = [STEPS if options.get("batch_first") else BATCH] * is_batched
        return trained(
            torch,
            module,
            (input, state(torch, kind, {**options, "dtype": dtype}, batch)) if has_state else (input,),
        )

    assert_same_results(program)


@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("enforce_sorted", [False, True])
@pytest.mark.parametrize(("kind", "options"), CASES)
def test_packed_network(kind, options, enforce_sorted, has_state):
    def program(torch):
        torch.manual_seed(0)
        rnn = torch.nn.utils.rnn
        module = getattr(torch.nn, kind)(INPUTS, HIDDEN, **options)
        is_first = options.get("batch_first", False)
        input = array(torch, *((BATCH, STEPS) if is_first else (STEPS, BATCH)), INPUTS)
        lengths = [4, 2, 1] if enforce_sorted else [1, 4, 2]

        def call(input, *hx):
            packed = rnn.pack_padded_sequence(input, lengths, is_first, enforce_sorted)
            out, hidden = module(packed, *hx)
            return rnn.pad_packed_sequence(out, is_first)[0], hidden

        hx = (state(torch, kind, {**options, "dtype": "float32"}, [BATCH]),) if has_state else ()
        return trained(torch, module, (input, *hx), call)

    assert_same_results(program)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradient_of_gradient(kind):
    def program(torch):
        torch.manual_seed(0)
        module = getattr(torch.nn, kind)(INPUTS, HIDDEN, 2, dtype=torch.float64)
        input = array(torch, STEPS, BATCH, INPUTS, dtype="float64").requires_grad_()
        leaves = [input, *module.parameters()]
        first = torch.autograd.grad(module(input)[0].square().sum(), leaves, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), leaves)

    assert_same(torch, program, 1e-6)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("RNNCell", {}),
        ("RNNCell", {"nonlinearity": "relu", "bias": False}),
        ("LSTMCell", {}),
        ("LSTMCell", {"bias": False}),
        ("GRUCell", {}),
        ("GRUCell", {"bias": False}),
    ],
)
def test_cell(kind, options, has_state, batch):
    def program(torch):
        torch.manual_seed(0)
        module = getattr(torch.nn, kind)(INPUTS, HIDDEN, **options)
        h, c = array(torch, *batch, HIDDEN, seed=1), array(torch, *batch, HIDDEN, seed=2)
        states = ((h, c) if kind == "LSTMCell" else h,) if has_state else ()
        return trained(torch, module, (array(torch, *batch, INPUTS), *states))

    assert_same(torch, program, 1e-4)


REFUSED = [
    "torch.nn.RNN(3, 5, dropout=2)",
    "torch.nn.RNN(3, 5, dropout=True)",
    "torch.nn.RNN(3, 5, bias=1)",
    "torch.nn.GRU(3, 5, batch_first=1)",
    "torch.nn.GRU(3.0, 5)",
    "torch.nn.GRU(0, 5)",
    "torch.nn.GRU(3, 5.0)",
    "torch.nn.GRU(3, -1)",
    "torch.nn.GRU(3, 5, 0)",
    "torch.nn.LSTM(3, 5, proj_size=-1)",
    "torch.nn.LSTM(3, 5, proj_size=5)",
    "torch.nn.GRU(3, 5, proj_size=2)",
    "torch.nn.RNN(3, 5, proj_size=2)",
    "torch.nn.RNN(3, 5, nonlinearity='x')",
    "torch.nn.RNN(3, 5)(x)",
    "torch.nn.RNN(2, 5)(x.double())",
    "torch.nn.RNN(2, 5)(x[0, 0])",
    "torch.nn.GRU(2, 5)(x[0, 0])",
    "torch.nn.LSTM(2, 5)(x[0, 0])",
    "torch.nn.RNN(2, 5)(x, h[0])",
    "torch.nn.LSTM(2, 5)(x, (h[0], h[0]))",
    "torch.nn.LSTM(2, 5)(x[:, 0], (h, h))",
    "torch.nn.GRU(2, 5)(x[:, 0], h)",
    "torch.nn.GRU(2, 5)(x, h[:, :2])",
    "torch.nn.LSTM(2, 5)(x, (h, h[:, :2]))",
    "torch.nn.LSTM(2, 5)(x, (h[:, :2], h))",
    "torch.nn.LSTM(2, 5)(x[:0])",
    "torch.nn.RNNCell(2, 5)(x)",
    "torch.nn.RNNCell(2, 5)(x[0], h)",
    "torch.nn.LSTMCell(2, 5)(x[0], (h, h))",
    "torch.nn.LSTMCell(2, 5)(x)",
    "torch.nn.GRUCell(2, 5)(x[0], h)",
    "torch.nn.GRUCell(3, 5)(x[0])",
    "torch.nn.GRUCell(2, 5)(x[0], h[0, :2])",
    "torch.nn.GRUCell(2, 5)(x[0], h[0, :, :4])",
    "torch.nn.RNNCell(2, 5, nonlinearity='x')(x[0])",
    "rnn.pack_padded_sequence(x, [2, 4, 1])",
    "rnn.pack_padded_sequence(x, [4, 4, 0])",
    "rnn.pack_padded_sequence(x, [4, 4])",
    "rnn.pack_padded_sequence(x, torch.tensor([[4, 4, 2]]))",
    "rnn.pack_padded_sequence(x[:0], [1, 1, 1])",
    "rnn.pad_sequence([])",
    "rnn.pad_sequence(3)",
    "rnn.pad_sequence([x[0]], padding_side='x')",
    "rnn.pack_sequence([x[:2, 0], x[:, 0]])",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 3, 2]), total_length=3)",
    "rnn.PackedSequence(x)",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refusal(call):
    def program(torch):
        names = {
            "torch": torch,
            "rnn": torch.nn.utils.rnn,
            "x": array(torch, 4, 3, 2),
            "h": array(torch, 1, 3, 5),
        }
        return eval(call, names)

    assert_same(torch, program)


def fields(packed):
    return list(packed)


PACKING = [
    "fields(rnn.pack_padded_sequence(x, [4, 3, 1]))",
    "fields(rnn.pack_padded_sequence(x, torch.tensor([2, 4, 3]), enforce_sorted=False))",
    "fields(rnn.pack_padded_sequence(x, [3, 3, 2, 1], batch_first=True))",
    "fields(rnn.pack_sequence([x[:, 0], x[:2, 1]]))",
    "fields(rnn.pack_sequence([x[:2, 1], x[:, 0]], enforce_sorted=False))",
    "fields(rnn.pack_padded_sequence(x, [2, 2, 1]).double())",
    "str(rnn.pack_padded_sequence(x, [2, 2, 1]).half().data.dtype)",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False), padding_value=-1)",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 3, 1]), True, total_length=6)",
    "rnn.pad_sequence([x[:, 0], x[:2, 1], x[:3, 2]], padding_value=7)",
    "rnn.pad_sequence([x[:, 0], x[:2, 1]], True)",
    "rnn.pad_sequence([x[:, 0], x[:2, 1]], padding_side='left')",
    "rnn.unpad_sequence(x.clone(), torch.tensor([4, 2, 1]))",
    "rnn.unpad_sequence(x, torch.tensor([3, 2, 1, 1]), batch_first=True)",
    "rnn.unpack_sequence(rnn.pack_sequence([x[:2, 1], x[:, 0]], enforce_sorted=False))",
    "rnn.invert_permutation(torch.tensor([2, 0, 1]))",
    "rnn.invert_permutation(None)",
    "torch.nn.LSTM(2, 5).all_weights",
    "[n for n in torch.nn.LSTM(2, 5, 2, bidirectional=True)._flat_weights_names]",
]


@pytest.mark.parametrize("call", PACKING)
def test_packing(call):
    def program(torch):
        torch.manual_seed(0)
        names = {"torch": torch, "rnn": torch.nn.utils.rnn, "x": array(torch, 4, 3, 2), "fields": fields}
        return eval(call, names)

    assert_same(torch, program)
