"""Arithmetic, elementary functions, comparison and logic against PyTorch."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import assert_same  # noqa: E402

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NAN, INF = float("nan"), float("inf")
FLOATS = [[0.0, -0.5, 1.5, NAN], [INF, -INF, 0.3, -2.7]]
INTEGERS = [[0, 1, 2, 3], [5, 7, 100, 4]]

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfinv exp exp2 expm1 floor frac "
    "lgamma digamma log log10 log1p log2 logit nan_to_num neg positive reciprocal round rsqrt sigmoid "
    "sign sgn signbit sin sinc sinh sqrt square tan tanh trunc isfinite isinf isnan isposinf isneginf "
    "isreal logical_not bitwise_not deg2rad rad2deg relu angle"
).split()
BINARY = (
    "add sub mul div floor_divide remainder fmod pow atan2 maximum minimum fmax fmin xlogy logaddexp "
    "logaddexp2 logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift eq ne lt le gt ge copysign hypot heaviside gcd lcm "
    "float_power rsub"
).split()
NUMBERS = (2, 2.5, -1, 0)


def values(dtype, shift=0):
    """Eight numbers of the dtype, special ones among them."""
    plain = np.array(FLOATS if "float" in dtype else INTEGERS).ravel()
    return np.roll(plain, shift).reshape(2, 4).tolist(), dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_tensor(name, dtype):
    assert_same(torch, lambda lib, x: getattr(lib, name)(x), values(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in UNARY if hasattr(torch.Tensor, name + "_")])
def test_function_in_place(name, dtype):
    assert_same(torch, lambda lib, x: getattr(x, name + "_")(), values(dtype))


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_promotion_of_two_tensors(name, first, second):
    assert_same(torch, lambda lib, x, y: getattr(lib, name)(x, y), values(first), values(second, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_a_zero_dim_tensor_raises_the_category_only(name, dtype):
    for other in ("int64", "float64"):
        if (name, dtype) != ("floor_divide", "bfloat16"):  # which PyTorch rounds before it takes the floor
            assert_same(
                torch, lambda lib, x, y: getattr(lib, name)(x, y[0, 1]), values(dtype), values(other, 3)
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_a_number_as_the_second_operand(name, dtype):
    for number in NUMBERS:
        assert_same(torch, lambda lib, x, n=number: getattr(lib, name)(x, n), values(dtype))


OPERATORS = {
    "x + 1": lambda lib, x: x + 1,
    "1.5 + x": lambda lib, x: 1.5 + x,
    "x - 1": lambda lib, x: x - 1,
    "1 - x": lambda lib, x: 1 - x,
    "x * 2.5": lambda lib, x: x * 2.5,
    "x / 2": lambda lib, x: x / 2,
    "2 / x": lambda lib, x: 2 / x,
    "x // 2": lambda lib, x: x // 2,
    "3 // (x + 1)": lambda lib, x: 3 // (x + 1),
    "x % 2": lambda lib, x: x % 2,
    "-3 % (x + 1)": lambda lib, x: -3 % (x + 1),
    "x ** 2": lambda lib, x: x**2,
    "2 ** x": lambda lib, x: 2**x,
    "x ** -1": lambda lib, x: x**-1,
    "x < 1": lambda lib, x: x < 1,
    "1 < x": lambda lib, x: 1 < x,
    "x == 1": lambda lib, x: x == 1,
    "x != 1": lambda lib, x: x != 1,
    "~x": lambda lib, x: ~x,
    "-x": lambda lib, x: -x,
    "+x": lambda lib, x: +x,
    "abs(x)": lambda lib, x: abs(x),
    "x & 1": lambda lib, x: x & 1,
    "1 | x": lambda lib, x: 1 | x,
    "x ^ True": lambda lib, x: x ^ True,
    "x << 1": lambda lib, x: x << 1,
    "1 << x": lambda lib, x: 1 << x,
    "x >> 1": lambda lib, x: x >> 1,
    "x == None": lambda lib, x: x == None,  # noqa: E711
    "x != 'a'": lambda lib, x: x != "a",
    "x + None": lambda lib, x: x + None,
    "x < None": lambda lib, x: x < None,
    "x + np.float64(2)": lambda lib, x: x + np.float64(2),
    "np.float32(2) * x": lambda lib, x: np.float32(2) * x,
    "np.int64(2) - x": lambda lib, x: np.int64(2) - x,
    "x > np.int32(1)": lambda lib, x: x > np.int32(1),
    "[1] < x": lambda lib, x: [1] < x,
}


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("expression", OPERATORS)
def test_python_operator(expression, dtype):
    assert_same(torch, OPERATORS[expression], values(dtype))


def add_in_place(lib, x, other):
    x += other
    return x


def divide_in_place(lib, x, other):
    x /= other
    return x


def floor_divide_in_place(lib, x, other):
    x //= other
    return x


def raise_in_place(lib, x, other):
    x **= other
    return x


def shift_in_place(lib, x, other):
    x <<= other
    return x


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
@pytest.mark.parametrize(
    "code", [add_in_place, divide_in_place, floor_divide_in_place, raise_in_place, shift_in_place]
)
def test_augmented_assignment(code, dtype):
    for number in (2, 1.5):
        is_cast_first = (
            code is shift_in_place and number == 1.5
        )  # PyTorch refuses the cast, teachtorch the dtype
        if not is_cast_first:
            assert_same(torch, code, values(dtype), number)


LAYOUTS = {
    "transposed": lambda lib, x: x.t() + 1,
    "a transposed one first": lambda lib, x: x.t() * x.t(),
    "expanded": lambda lib, x: x[0].expand(3, 4) + 1,
    "every second column": lambda lib, x: x[:, ::2].exp(),
    "permuted": lambda lib, x: x.reshape(2, 2, 2).permute(2, 0, 1) - 1,
    "where": lambda lib, x: lib.where(x.t() > 0, x.t(), 2.0),
    "clamped": lambda lib, x: x.t().clamp(0, 1),
    "erf": lambda lib, x: x.t().erf(),
    "relu": lambda lib, x: x.t().relu(),
    "0-dim": lambda lib, x: x[0, 1] + x[1, 2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_keep_the_order_of_strides(layout):
    assert_same(torch, LAYOUTS[layout], values("float32"))


MESSAGES = {
    "shapes": lambda lib, x: x + lib.ones(3),
    "shapes in place": lambda lib, x: x[0].add_(lib.ones(3)),
    "alpha": lambda lib, x: lib.add(lib.tensor([1]), 1, alpha=1.5),
    "bool alpha": lambda lib, x: x.sub(x, alpha=True),
    "alpha of a type": lambda lib, x: lib.add(x, x, alpha="x"),
    "two bools": lambda lib, x: (x > 0) - (x > 0),
    "a bool": lambda lib, x: 1 - (x > 0),
    "negated bool": lambda lib, x: -(x > 0),
    "plus bool": lambda lib, x: +(x > 0),
    "in place negated bool": lambda lib, x: (x > 0).neg_(),
    "inverted float": lambda lib, x: ~x,
    "integer zero": lambda lib, x: lib.tensor([1]) // 0,
    "integer zeros": lambda lib, x: lib.tensor([1]) % lib.tensor([2, 0]),
    "fmod zero": lambda lib, x: lib.fmod(lib.tensor([1]), 0),
    "rounding mode": lambda lib, x: lib.div(x, 2, rounding_mode="up"),
    "integer power": lambda lib, x: lib.tensor([2]) ** -1,
    "clamp without bounds": lambda lib, x: x.clamp(),
    "lerp dtype": lambda lib, x: x.lerp(x.double(), 0.5),
    "lerp of integers": lambda lib, x: lib.tensor([1]).lerp(x.long()[0], 1),
    "bits of floats": lambda lib, x: x & 1,
    "shift of floats": lambda lib, x: x << 1,
    "frac": lambda lib, x: x.long().frac(),
    "where": lambda lib, x: lib.where(x, 1, 0),
    "maximum": lambda lib, x: lib.maximum(x, 2),
    "relu of bools": lambda lib, x: (x > 0).relu(),
    "equal": lambda lib, x: lib.equal(x, 2),
    "isclose": lambda lib, x: lib.isclose(x, x.double()),
    "isclose rtol": lambda lib, x: lib.isclose(x, x, rtol=-1.0),
    "isin": lambda lib, x: lib.isin(x > 0, x > 0),
    "float_power_": lambda lib, x: x.float_power_(2),
    "heaviside": lambda lib, x: lib.heaviside(x, x.double()),
    "round": lambda lib, x: lib.round(lib.tensor([1]), decimals=1),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_error_has_the_same_words(case):
    assert_same(torch, MESSAGES[case], values("float32"), check_message=True)


# teachtorch names the operator in front of PyTorch's words.
NAMED_MESSAGES = {
    "result shape": lambda lib, x: lib.ones(1).add_(x[0]),
    "cast": lambda lib, x: lib.tensor([1]).add_(1.5),
    "cast of a quotient": lambda lib, x: lib.tensor([1]).div_(2),
    "cast to bool": lambda lib, x: lib.tensor([True]).add_(1),
}


@pytest.mark.parametrize("case", NAMED_MESSAGES)
def test_error_has_the_same_type(case):
    assert_same(torch, NAMED_MESSAGES[case], values("float32"))


def gradients(code, *positions):
    """The gradients of the sum of code(lib, *tensors) with respect to the tensors at the positions."""
    def compute(lib, *tensors):
        wanted = [tensors[p].requires_grad_() for p in positions or range(len(tensors))]
        return lib.autograd.grad(code(lib, *tensors).sum(), wanted)
    return compute


EDGES = {
    "abs": (lambda lib, x: x.abs(), [0.0, -2.0]),
    "sqrt": (lambda lib, x: x.sqrt(), [0.0, 4.0]),
    "log": (lambda lib, x: x.log(), [0.0, 1.0]),
    "relu": (lambda lib, x: x.relu(), [0.0, 1.0, NAN]),
    "clamp": (lambda lib, x: x.clamp(1, 2), [1.0, 2.0, 0.0, NAN]),
    "clamp_min": (lambda lib, x: x.clamp_min(1), [1.0, 0.0]),
    "x ** 0": (lambda lib, x: x**0, [0.0, 5.0]),
    "x ** 0.5": (lambda lib, x: x**0.5, [0.0, 4.0]),
    "x ** -1": (lambda lib, x: x**-1, [0.0, 2.0]),
    "0 ** x": (lambda lib, x: 0**x, [0.0, 2.0, -1.0]),
    "where": (lambda lib, x: lib.where(x > 0, x.log(), 0.0), [0.0, 2.0]),
    "sinc": (lambda lib, x: x.sinc(), [0.0, 0.5]),
    "logit": (lambda lib, x: x.logit(), [-0.5, 0.5]),
    "logit eps": (lambda lib, x: x.logit(0.1), [-0.5, 0.05, 0.5]),
    "nan_to_num": (lambda lib, x: x.nan_to_num(), [NAN, INF, 1.0]),
    "xlogy": (lambda lib, x: x.xlogy(x), [0.0, 2.0]),
    "copysign": (lambda lib, x: x.copysign(-1.0), [0.0, 2.0]),
    "sign": (lambda lib, x: x.sign(), [0.0, 2.0]),
    "cos": (lambda lib, x: x.cos(), [INF, 0.0]),
    "1 / x": (lambda lib, x: 1 / x, [0.0, 2.0]),
}


@pytest.mark.parametrize("case", EDGES)
def test_gradient_at_an_edge(case):
    code, at = EDGES[case]
    assert_same(torch, gradients(code), (at, "float64"))


TIES = {
    "maximum": lambda lib, x, y: lib.maximum(x, y),
    "minimum": lambda lib, x, y: lib.minimum(x, y),
    "fmax": lambda lib, x, y: lib.fmax(x, y),
    "fmin": lambda lib, x, y: lib.fmin(x, y),
    "clamp": lambda lib, x, y: x.clamp(y, y),
    "pow": lambda lib, x, y: x**y,
    "atan2": lambda lib, x, y: lib.atan2(x, y),
    "xlogy": lambda lib, x, y: lib.xlogy(x, y),
    "hypot": lambda lib, x, y: lib.hypot(x, y),
    "nextafter": lambda lib, x, y: lib.nextafter(x, y),
    "remainder": lambda lib, x, y: x % y,
    "fmod": lambda lib, x, y: lib.fmod(x, y),
    "lerp": lambda lib, x, y: x.lerp(y, 0.3),
}


@pytest.mark.parametrize("case", TIES)
def test_gradients_of_two_tensors_at_ties_and_zeros(case):
    assert_same(
        torch, gradients(TIES[case]), ([0.0, 2.0, 1.0, 0.0], "float64"), ([1.0, 2.0, 0.5, 0.0], "float64")
    )


SAVED = {
    "exp": lambda x: x.exp(),
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "sqrt": lambda x: x.sqrt(),
    "relu": lambda x: x.relu(),
    "log": lambda x: x.log(),
    "pow": lambda x: x**2,
    "add": lambda x: x + 1,
    "mul": lambda x: x * 2,
    "floor": lambda x: x.floor(),
    "abs": lambda x: x.abs(),
    "clamp": lambda x: x.clamp(0, 1),
    "neg": lambda x: -x,
    "rsqrt": lambda x: x.rsqrt(),
    "reciprocal": lambda x: x.reciprocal(),
    "erf": lambda x: x.erf(),
    "lgamma": lambda x: x.lgamma(),
    "expm1": lambda x: x.expm1(),
    "tan": lambda x: x.tan(),
    "where": lambda x: x.where(x > 0, x),
    "log1p": lambda x: x.log1p(),
    "sinc": lambda x: x.sinc(),
}


@pytest.mark.parametrize("changed", ["input", "result"])
@pytest.mark.parametrize("case", SAVED)
def test_backward_refuses_a_change_of_what_it_saved(case, changed):
    def code(lib, x):
        start = x.requires_grad_() * 1
        result = SAVED[case](start)
        with lib.no_grad():
            (start if changed == "input" else result).add_(1)
        return lib.autograd.grad(result.sum(), [x])
    assert_same(torch, code, ([0.3, 0.7], "float64"))


@pytest.mark.parametrize("name", ["allclose", "equal"])
def test_comparison_as_a_whole_is_a_python_bool(name):
    for other in ([1.0, 2.0], [1.0, NAN], [1.0, 2.0 + 1e-9], [2.0]):
        assert_same(
            torch, lambda lib, x, y: getattr(lib, name)(x, y), ([1.0, 2.0], "float64"), (other, "float64")
        )


def test_round_with_decimals():
    for decimals in (1, 2, -1, 0):
        assert_same(
            torch,
            lambda lib, x, d=decimals: lib.round(x, decimals=d),
            ([1.25, -17.45, 0.05, 125.0], "float32"),
        )


def test_integer_powers_with_negative_exponents_round_towards_zero():
    bases, exponents = [1, -1, -1, 2, 3, -2], [-1, -1, -2, -1, 2, 3]
    assert_same(torch, lambda lib, x, y: x ** y, (bases, "int64"), (exponents, "int64"))
