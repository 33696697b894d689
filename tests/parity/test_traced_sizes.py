"""Traces at other sizes than the example's: what is computed of sizes follows them, as in PyTorch."""

import io
import warnings

import numpy as np
import pytest

import teachtorch
from tests.parity.both import assert_same_value

torch = pytest.importorskip("torch")


def numbers(lib, *shape):
    return lib.tensor(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).tolist())


PROGRAMS = {  # name: (function, shape of the example, other shape)
    "view": (lambda lib, x: x.view(x.size(0), -1) * x.shape[0], (2, 2, 2), (3, 2, 4)),
    "reshape": (
        lambda lib, x: x.reshape(x.shape[0] * x.shape[1], x.shape[2]).t().reshape(*x.shape),
        (2, 2, 2),
        (4, 3, 2),
    ),
    "flatten": (lambda lib, x: lib.flatten(x, 1), (1, 2, 2), (3, 2, 2)),
    "sizes unpacked": (lambda lib, x: x.view(x.size()[0] * x.size()[1]), (2, 2), (3, 4)),
    "negative dims": (lambda lib, x: x.reshape(-1, x.size(-1)).sum(0), (2, 2, 3), (3, 2, 4)),
    "factories": (
        lambda lib, x: (
            x + lib.zeros(x.shape) + lib.arange(x.size(-1)) + lib.full((x.size(0), 1), 2.0) + x.new_ones(x.size())
        ),
        (2, 2),
        (3, 4),
    ),
    "expand and repeat": (
        lambda lib, x: lib.arange(3.0).unsqueeze(0).expand(x.size(0), -1) + x.repeat(x.size(0) // 2, 1)[: x.size(0)],
        (2, 3),
        (4, 3),
    ),
    "arithmetic": (
        lambda lib, x: x.sum(0) / x.size(0) + 2 ** x.size(0) - (-x.size(0)) + (7 - x.size(1)) % 4 + 1 / x.shape[1],
        (2, 3),
        (4, 5),
    ),
    "numel": (lambda lib, x: x.sum() / x.numel(), (4,), (2, 4)),
    "slices": (lambda lib, x: x[: x.size(0) // 2, x.shape[1] - 1 :] + x[x.size(0) // 2 :, :1], (4, 3), (6, 5)),
    "narrow": (lambda lib, x: x.narrow(0, 1, x.size(0) - 1), (4, 3), (6, 5)),
    "chunk": (lambda lib, x: x.chunk(2, 1)[0] * 2 + x.chunk(2, -1)[1], (1, 4), (3, 8)),
    "interpolate": (
        lambda lib, x: lib.nn.functional.interpolate(x, size=(x.size(2) * 2, x.shape[3] * 2)),
        (1, 1, 2, 2),
        (1, 1, 3, 4),
    ),
    "pad": (lambda lib, x: lib.nn.functional.pad(x, (0, 4 - x.size(1) % 4)), (1, 3), (2, 6)),
    "mask": (lambda lib, x: lib.tril(lib.ones(x.size(1), x.size(1))) @ x[0].unsqueeze(-1), (1, 3), (1, 5)),
    "linear": (lambda lib, x: lib.nn.functional.linear(x, lib.ones(2, 3), lib.ones(2)), (1, 2, 3), (4, 5, 3)),
    "matmul": (lambda lib, x: x @ lib.ones(3, 2), (1, 2, 3), (4, 5, 3)),
    "scores of heads": (
        lambda lib, x: (lambda q: (q @ q.transpose(-1, -2)).softmax(-1))(
            x.view(x.size(0), x.size(1), 2, x.size(2) // 2).transpose(1, 2)
        ),
        (1, 3, 4),
        (2, 5, 4),
    ),
    "a loop's length is frozen": (lambda lib, x: sum(x[i] for i in range(x.size(0))), (3,), (5,)),
    "a branch on a size is frozen": (lambda lib, x: x * 2 if x.size(0) > 2 else x * 3, (3,), (1,)),
    "a length is frozen": (lambda lib, x: x * len(x), (3,), (5,)),
}


def traced(lib, name):
    function, shape, _ = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lib.jit.trace(lambda x: function(lib, x), numbers(lib, *shape))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_trace_at_another_size(name):
    shape = PROGRAMS[name][2]
    wanted, found = [traced(lib, name)(numbers(lib, *shape)) for lib in (torch, teachtorch)]
    assert_same_value(torch, found, wanted, rtol=1e-5)


def test_sizes_are_in_the_file(tmp_path):
    file = io.BytesIO()
    teachtorch.jit.save(traced(teachtorch, "view"), file)
    file.seek(0)
    loaded, x = teachtorch.jit.load(file), numbers(teachtorch, 3, 2, 4)
    assert teachtorch.equal(loaded(x), x.view(3, 8) * 3)


def test_sizes_are_plain_after_the_trace():
    traced(teachtorch, "arithmetic")
    x = teachtorch.ones(2, 3)
    assert [type(n) for n in (*x.shape, x.size(0), x.numel(), *x.stride(), *x.t().reshape(6).shape)] == [int] * 7


def test_two_traces_keep_their_sizes_apart():
    first, second = traced(teachtorch, "view"), traced(teachtorch, "reshape")
    for function, name in ((first, "view"), (second, "reshape")):
        x = numbers(teachtorch, *PROGRAMS[name][2])
        assert teachtorch.equal(function(x), PROGRAMS[name][0](teachtorch, x))


@pytest.mark.parametrize("lib", [torch, teachtorch], ids=["torch", "teachtorch"])
def test_a_length_is_warned_of(lib):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lib.jit.trace(lambda x: x * len(x), lib.ones(3))
    assert any(str(w.message).startswith("Using len to get tensor shape might cause the trace") for w in caught)
