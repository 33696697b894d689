"""Odd arguments of the autograd functions: the same results, errors and warnings in both libraries."""
import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import teachtorch
from tests.parity.both import assert_same, outcome


def leaf(lib, *values):
    return lib.tensor(values or (1.0, 2.0), requires_grad=True)


def setting(name, value, of=leaf):
    return lambda lib: setattr(of(lib), name, value)


def batched(rows):
    def code(lib):
        x = leaf(lib)
        return lib.autograd.grad(x * 2, x, None if rows is None else lib.ones(rows), is_grads_batched=True)
    return code


def backward_of_several(**given):
    def code(lib):
        x = leaf(lib)
        lib.autograd.backward([x.sum()], **{name: [lib.tensor(value)] for name, value in given.items()})
        return x.grad
    return code


ERRORS = {
    "inputs of another type": lambda lib: lib.autograd.grad(leaf(lib).sum(), "x"),
    "no inputs": lambda lib: lib.autograd.grad(leaf(lib).sum(), None),
    "no batch": batched(None),
    "batch": batched((3, 2)),
    "flag by name": lambda lib: lib.ones(2).requires_grad_("a"),
    "flag set to a number": setting("requires_grad", 1),
    "flag of a result": setting("requires_grad", True, lambda lib: leaf(lib) * 2),
    "flag of a result off": setting("requires_grad", False, lambda lib: leaf(lib) * 2),
    "gradient of integers": lambda lib: setattr(leaf(lib), "grad", lib.ones(2, dtype=lib.int64)),
    "mode by a string": lambda lib: lib.set_grad_enabled("a"),
    "mode by a number": lambda lib: lib.set_grad_enabled(1),
    "both names": backward_of_several(grad_tensors=1.0, grad_variables=2.0),
    "older name": backward_of_several(grad_variables=3.0),
    "number @": lambda lib: 3 @ lib.ones(2, 2),
}


@pytest.mark.parametrize("name", ERRORS)
def test_results_and_errors(name):
    assert_same(torch, ERRORS[name], check_message=True)


def in_inference_mode(lib):
    with lib.inference_mode():
        x = lib.ones(2, requires_grad=True)
    return x.requires_grad, x.is_inference()


class Functions:
    """The same Functions made for a library."""

    def __init__(self, lib):
        class Plain(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, n=2):
                ctx.n = n
                return x * n

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.n, None

        class WithSetup(lib.autograd.Function):
            @staticmethod
            def forward(x, n=2):
                return x * n

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.n = inputs[1]

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.n, None
        self.Plain, self.WithSetup = Plain, WithSetup


def by_name(kind, *names):
    def code(lib):
        x = leaf(lib)
        function = getattr(Functions(lib), kind)
        positional, named = ((), {"x": x}) if "x" in names else ((x,), {})
        result = function.apply(*positional, **named, **({"n": 5} if "n" in names else {}))
        return result, lib.autograd.grad(result.sum(), x) if result.requires_grad else None
    return code


CODES = {
    "leaf in inference mode": in_inference_mode,
    "multithreading": lambda lib: [lib.autograd.is_multithreading_enabled(), threads_in_block(lib)],
    "hooks of a leaf": lambda lib: hooks_of(lib),
    **{
        f"{kind} {names}": by_name(kind, *names)
        for kind in ("Plain", "WithSetup")
        for names in ((), ("x",), ("n",), ("x", "n"))
        if (kind, names) != ("Plain", ())
    },
    "called": lambda lib: Functions(lib).Plain()(lib.ones(1)),
}


def threads_in_block(lib):
    with lib.autograd.set_multithreading_enabled(False):
        inside = lib.autograd.is_multithreading_enabled()
    return inside, lib.autograd.is_multithreading_enabled()


def hooks_of(lib):
    x = leaf(lib)
    before = x._backward_hooks
    handle = x.register_hook(lambda grad: None)
    count = len(x._backward_hooks)
    handle.remove()
    return before, count, len(x._backward_hooks)


@pytest.mark.parametrize("name", CODES)
def test_what_works(name):
    assert_same(torch, CODES[name])


def warnings_of(lib, code):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        code(lib)
    return [(w.category, re.sub(r" \(Triggered internally.*", "", str(w.message)).strip()) for w in caught]


def one_function(lib):
    return Functions(lib).Plain.apply(leaf(lib), 3).grad_fn


WARNINGS = {
    "only_inputs": lambda lib: lib.autograd.grad((x := leaf(lib)).sum(), x, only_inputs=False),
    "grad_variables": backward_of_several(grad_variables=3.0),
    "volatile": lambda lib: lib.autograd.Variable(lib.ones(1), volatile=True),
    "gradient of a result": lambda lib: (leaf(lib) * 2).grad,
    "saved_variables": lambda lib: one_function(lib).saved_variables,
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name):
    assert warnings_of(teachtorch, WARNINGS[name]) == warnings_of(torch, WARNINGS[name]) != []


REPRS = {
    "accumulator": lambda lib: (leaf(lib) * 2).grad_fn.next_functions[0][0],
    "operator": lambda lib: (leaf(lib) * 2).grad_fn,
    "function": one_function,
    "switch": lambda lib: lib.set_grad_enabled(True),
}


@pytest.mark.parametrize("name", REPRS)
def test_how_they_show_themselves(name):
    ours, theirs = [re.sub("0x[0-9a-f]+", "", repr(outcome(REPRS[name], lib))) for lib in (teachtorch, torch)]
    assert ours == theirs
