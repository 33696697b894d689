"""`out=` of pointwise operators against PyTorch: the value, the strides it keeps, the changes it counts."""

import warnings

import numpy as np
import pytest

import teachtorch

torch = pytest.importorskip("torch")


def plus(lib, x, y, out):
    return lib.add(x, y, out=out)


CASES = {
    "another tensor": (plus, lambda lib, x: lib.zeros(x.shape)),
    "transposed": (plus, lambda lib, x: lib.zeros(x.shape).t()),
    "every second column": (plus, lambda lib, x: lib.zeros(x.shape[0], 2 * x.shape[1])[:, ::2]),
    "the operand": (plus, lambda lib, x: x),
    "the operand under another name": (plus, lambda lib, x: x.view(x.shape)),
    "the operand, transposed": (plus, lambda lib, x: x.t()),
    "expanded": (plus, lambda lib, x: lib.zeros(1).expand(x.shape)),
    "float64": (plus, lambda lib, x: lib.zeros(x.shape, dtype=lib.float64)),
    "int64": (plus, lambda lib, x: lib.zeros(x.shape, dtype=lib.int64)),
    "empty": (plus, lambda lib, x: lib.empty(0)),
    "one row more": (plus, lambda lib, x: lib.zeros(x.shape[0] + 1, x.shape[1])),
    "one row": (plus, lambda lib, x: lib.zeros(1, x.shape[1])),
    "wants a gradient": (plus, lambda lib, x: lib.zeros(x.shape, requires_grad=True)),
    "made in inference mode": (plus, lambda lib, x: inferred(lib, x)),
    "of an expanded operand": (lambda lib, x, y, out: lib.mul(x[:1], y, out=out), lambda lib, x: lib.zeros(x.shape)),
    "of two dtypes": (lambda lib, x, y, out: lib.sub(x.long(), y, out=out), lambda lib, x: lib.zeros(x.shape)),
    "of a number": (lambda lib, x, y, out: lib.sub(x, 3, out=out), lambda lib, x: lib.zeros(x.shape)),
    "of a scaled sum": (lambda lib, x, y, out: lib.add(x, y, alpha=2, out=out), lambda lib, x: lib.zeros(x.shape)),
    "of a misplaced scale": (lambda lib, x, y, out: lib.add(x.long(), y.long(), alpha=0.5, out=out),
                             lambda lib, x: lib.zeros(x.shape, dtype=lib.int64)),
    "of one operand": (lambda lib, x, y, out: lib.exp(x, out=out), lambda lib, x: lib.zeros(x.shape)),
    "of integers": (lambda lib, x, y, out: lib.sqrt(x.abs().long(), out=out), lambda lib, x: lib.zeros(x.shape)),
    "of three operands": (lambda lib, x, y, out: lib.lerp(x, y, 0.25, out=out), lambda lib, x: lib.zeros(x.shape)),
    "a predicate": (lambda lib, x, y, out: lib.gt(x, y, out=out), lambda lib, x: lib.zeros(x.shape, dtype=lib.bool)),
    "a predicate as a float": (lambda lib, x, y, out: lib.gt(x, y, out=out), lambda lib, x: lib.zeros(x.shape)),
    "float16": (lambda lib, x, y, out: lib.mul(x.half(), 1e-6, out=out),
                lambda lib, x: lib.zeros(x.shape, dtype=lib.float16)),
}  # fmt: skip


def inferred(lib, x):
    with lib.inference_mode():
        return lib.zeros(x.shape)


def outcome(lib, name, shape):
    """What the call leaves behind, or its error."""
    call, make = CASES[name]
    rng = np.random.default_rng(0)
    x, y = [lib.from_numpy(rng.standard_normal(shape).astype(np.float32)) for _ in range(2)]
    out = make(lib, x)
    before = 0 if out.is_inference() else out._version
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call(lib, x, y, out)
    except Exception as error:
        return type(error), str(error).split("\n")[0], out._version if not out.is_inference() else 0
    return found is out, tuple(out.shape), out.stride(), out._version - before, len(caught), out.numpy()


@pytest.mark.parametrize("shape", [(3, 3), (150, 150)], ids=["small", "large"])
@pytest.mark.parametrize("name", CASES)
def test_out(name, shape):
    *ours, our_value = outcome(teachtorch, name, shape)
    *theirs, their_value = outcome(torch, name, shape)
    assert ours == theirs
    if isinstance(their_value, np.ndarray):
        np.testing.assert_allclose(our_value, their_value, rtol=1e-6, atol=1e-7)
    else:
        assert our_value == their_value


def test_a_watched_call_shows_its_operators():
    out = teachtorch.zeros(3)
    with teachtorch.profiler.profile(activities=[teachtorch.profiler.ProfilerActivity.CPU]) as watched:
        teachtorch.exp(teachtorch.ones(3), out=out)
    assert "aten::exp" in [event.key for event in watched.key_averages()]


IN_PLACE = {
    "add_": (lambda x, a, b: x.add_(a, alpha=0.3), lambda x, a, b: x.add(a, alpha=0.3)),
    "add_ itself": (lambda x, a, b: x.add_(x, alpha=0.3), lambda x, a, b: x.add(x, alpha=0.3)),
    "sub_": (lambda x, a, b: x.sub_(a, alpha=0.3), lambda x, a, b: x.sub(a, alpha=0.3)),
    "lerp_": (lambda x, a, b: x.lerp_(a, 0.3), lambda x, a, b: x.lerp(a, 0.3)),
    "lerp_ from the end": (lambda x, a, b: x.lerp_(a, 0.7), lambda x, a, b: x.lerp(a, 0.7)),
    "lerp_ by a tensor": (lambda x, a, b: x.lerp_(a, b), lambda x, a, b: x.lerp(a, b)),
    "addcmul_": (lambda x, a, b: x.addcmul_(a, b, value=0.3), lambda x, a, b: x.addcmul(a, b, value=0.3)),
    "addcmul_ of itself": (lambda x, a, b: x.addcmul_(x, x, value=0.3), lambda x, a, b: x.addcmul(x, x, value=0.3)),
    "addcmul_ once": (lambda x, a, b: x.addcmul_(a, x), lambda x, a, b: x.addcmul(a, x)),
    "addcdiv_": (lambda x, a, b: x.addcdiv_(a, b, value=0.3), lambda x, a, b: x.addcdiv(a, b, value=0.3)),
    "addcdiv_ once": (lambda x, a, b: x.addcdiv_(x, b), lambda x, a, b: x.addcdiv(x, b)),
}


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("layout", [lambda t: t, lambda t: t.t(), lambda t: t[::2]], ids=["rows", "columns", "gaps"])
def test_written_over_the_first_operand_is_what_a_new_result_holds(name, layout):
    teachtorch.manual_seed(0)
    x, a, b = (layout(teachtorch.rand(6, 6) + 0.5) for _ in range(3))
    in_place, new = IN_PLACE[name]
    expected, address = new(x, a, b), x.data_ptr()
    assert in_place(x, a, b) is x and x.data_ptr() == address
    assert x.tolist() == expected.tolist()
