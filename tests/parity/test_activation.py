"""Activations against PyTorch."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import assert_same  # noqa: E402

NAN, INF = float("nan"), float("inf")
FLOATING = ["float16", "bfloat16", "float32", "float64"]
OTHER = ["bool", "uint8", "int64"]
# Away from kinks and at them; PyTorch itself disagrees about NaN between its vector and its scalar loops.
VALUES = [[-7.0, -3.0, -1.0, -0.5], [-0.1, 0.0, 0.1, 0.5], [1.0, 3.0, 6.0, 20.0]]
WHOLE = [[0, 1, 2, 3], [4, 5, 6, 7]]

ACTIVATIONS = {
    "relu": lambda F, x: F.relu(x),
    "relu6": lambda F, x: F.relu6(x),
    "leaky_relu": lambda F, x: F.leaky_relu(x),
    "leaky_relu slope": lambda F, x: F.leaky_relu(x, 0.3),
    "elu": lambda F, x: F.elu(x),
    "elu alpha": lambda F, x: F.elu(x, 2.0),
    "celu": lambda F, x: F.celu(x, 1.5),
    "selu": lambda F, x: F.selu(x),
    "gelu": lambda F, x: F.gelu(x),
    "gelu tanh": lambda F, x: F.gelu(x, approximate="tanh"),
    "silu": lambda F, x: F.silu(x),
    "mish": lambda F, x: F.mish(x),
    "hardtanh": lambda F, x: F.hardtanh(x),
    "hardtanh bounds": lambda F, x: F.hardtanh(x, 0.5, 3.0),
    "hardsigmoid": lambda F, x: F.hardsigmoid(x),
    "hardswish": lambda F, x: F.hardswish(x),
    "softplus": lambda F, x: F.softplus(x),
    "softplus beta": lambda F, x: F.softplus(x, beta=2, threshold=1),
    "softsign": lambda F, x: F.softsign(x),
    "logsigmoid": lambda F, x: F.logsigmoid(x),
    "tanhshrink": lambda F, x: F.tanhshrink(x),
    "hardshrink": lambda F, x: F.hardshrink(x),
    "softshrink": lambda F, x: F.softshrink(x, 0.75),
    "threshold": lambda F, x: F.threshold(x, 0.5, 7.0),
    "sigmoid": lambda F, x: F.sigmoid(x),
    "tanh": lambda F, x: F.tanh(x),
    "prelu": lambda F, x: F.prelu(x, x[0]),
    "glu": lambda F, x: F.glu(x),
    "glu dim": lambda F, x: F.glu(x[:2], dim=0),
}


def functional(library):
    return library.nn.functional


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("case", ACTIVATIONS)
def test_value(case, dtype):
    assert_same(torch, lambda lib, x: ACTIVATIONS[case](functional(lib), x), (VALUES, dtype))


@pytest.mark.parametrize("dtype", OTHER)
@pytest.mark.parametrize("case", ACTIVATIONS)
def test_dtype_that_may_be_refused(case, dtype):
    assert_same(
        torch, lambda lib, x: ACTIVATIONS[case](functional(lib), x), (WHOLE, dtype), check_message=True
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", ACTIVATIONS)
def test_gradient(case, dtype):
    def code(lib, x):
        result = ACTIVATIONS[case](functional(lib), x.requires_grad_())
        return lib.autograd.grad(result.sum(), [x])
    assert_same(torch, code, (VALUES, dtype), rtol=5e-6 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("case", [c for c in ACTIVATIONS if c not in ("gelu tanh", "prelu", "glu", "glu dim",
                                                              "hardsigmoid")])
def test_second_gradient(case):
    def code(lib, x):
        result = ACTIVATIONS[case](functional(lib), x.requires_grad_())
        first, = lib.autograd.grad((result * result).sum(), [x], create_graph=True)
        return lib.autograd.grad((first * x).sum(), [x])
    smooth = [[-6.5, -2.5, -0.9, -0.6], [0.2, 0.6, 0.8, 2.5]]
    assert_same(torch, code, (smooth, "float64"), rtol=1e-7)


@pytest.mark.parametrize("name", ["relu", "sigmoid", "silu", "gelu", "softplus", "elu", "leaky_relu", "mish"])
def test_transposed_input_keeps_its_layout(name):
    assert_same(torch, lambda lib, x: getattr(functional(lib), name)(x.t()), (VALUES, "float32"))


IN_PLACE = [
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "celu",
    "selu",
    "silu",
    "mish",
    "hardtanh",
    "hardsigmoid",
    "hardswish",
]


@pytest.mark.parametrize("name", IN_PLACE)
def test_inplace_flag_changes_the_argument(name):
    def code(lib, x):
        result = getattr(functional(lib), name)(x, inplace=True)
        return result is x, x
    assert_same(torch, code, (VALUES, "float32"))


@pytest.mark.parametrize("name", IN_PLACE)
def test_gradient_through_the_inplace_flag(name):
    def code(lib, x):
        result = getattr(functional(lib), name)(x.requires_grad_() * 1, inplace=True)
        return lib.autograd.grad(result.sum(), [x])
    assert_same(torch, code, (VALUES, "float64"), rtol=1e-11)


ERRORS = {
    "glu of an odd size": lambda F, x: F.glu(x, dim=0), "glu of a number": lambda F, x: F.glu(x[0, 0]),
    "gelu": lambda F, x: F.gelu(x, approximate="x"), "celu": lambda F, x: F.celu(x, 0.0),
    "softshrink": lambda F, x: F.softshrink(x, -1.0), "hardtanh": lambda F, x: F.hardtanh(x, 2, 1),
    "prelu channels": lambda F, x: F.prelu(x, x[0, :2]), "prelu dims": lambda F, x: F.prelu(x, x),
    "prelu dtype": lambda F, x: F.prelu(x, x[0].double()),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error_has_the_same_words(case):
    assert_same(
        torch, lambda lib, x: ERRORS[case](functional(lib), x), (VALUES, "float32"), check_message=True
    )


def test_large_arguments_neither_overflow_nor_lose_the_tail():
    for name in ("softplus", "logsigmoid", "silu", "sigmoid", "tanh", "elu", "selu"):
        assert_same(
            torch,
            lambda lib, x, n=name: getattr(functional(lib), n)(x),
            ([-1000.0, -80.0, 80.0, 1000.0], "float32"),
        )


def test_relu_passes_nan_on():
    assert_same(torch, lambda lib, x: lib.relu(x), ([NAN, -1.0, INF], "float32"))
