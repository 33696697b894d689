"""Checkpointing: what is kept, what is computed again, and under which switches; the same in both libraries."""
import functools
from importlib import import_module

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.both import assert_same  # noqa: E402


def of(lib, path="utils.checkpoint"):
    return import_module(f"{lib.__name__}.{path}")


def gradient(lib, segment, **options):
    """The gradient at (1, 2) through a checkpointed segment."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    of(lib).checkpoint(segment, x, **options).sum().backward()
    return x.grad


def under_autocast(lib, reentrant):
    """What the matrix product of each run of the segment is made of."""
    dtypes = []

    def segment(t):
        product = t.outer(t) @ t
        dtypes.append(str(product.dtype))
        return product

    with lib.autocast("cpu", dtype=lib.bfloat16), of(lib).set_checkpoint_early_stop(False):
        y = of(lib).checkpoint(segment, lib.ones(2, requires_grad=True), use_reentrant=reentrant)
    y.sum().backward()
    return dtypes


@pytest.mark.parametrize("reentrant", [True, False])
def test_the_repetition_runs_under_the_same_autocast(reentrant):
    assert under_autocast(teachtorch, reentrant) == under_autocast(torch, reentrant) == ["torch.bfloat16"] * 2


def test_a_saved_leaf_is_a_leaf():
    def code(lib):
        x = lib.ones(2, requires_grad=True)
        saved = of(lib).checkpoint(lambda t: t * t, x, use_reentrant=False).grad_fn._saved_self
        return saved.is_leaf, saved.requires_grad, saved.grad_fn is None
    assert_same(torch, code)


def selective(lib, policy, segment, **options):
    make = functools.partial(of(lib).create_selective_checkpoint_contexts, policy, **options)
    return gradient(lib, segment, use_reentrant=False, context_fn=make)


def calls(lib, keep):
    """The operators of a segment as the policy hears of them, and those that ran again."""
    asked, again = [], []

    def policy(ctx, op, *args, **kwargs):
        asked.append((str(op), ctx.is_recompute, tuple(ctx.op_output.shape)))
        return keep in str(op)

    class Noting(of(lib, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            again.append(str(func))
            return func(*args, **(kwargs or {}))

    def segment(t):
        return (t * t).sin().cos()

    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = of(lib).checkpoint(segment, x, use_reentrant=False, context_fn=functools.partial(
        of(lib).create_selective_checkpoint_contexts, policy)).sum()
    with Noting():
        y.backward()
    return asked, [name for name in again if name in ("aten.mul.Tensor", "aten.sin.default")].count("aten.sin.default")


@pytest.mark.parametrize("keep", ["sin", "nothing"])
def test_a_policy_decides_what_runs_again(keep):
    assert calls(teachtorch, keep) == calls(torch, keep)


@pytest.mark.parametrize("case", {
    "list": lambda lib: selective(lib, [lib.ops.aten.mul.Tensor], lambda t: (t * t).sin()),
    "policy": lambda lib: selective(
        lib, lambda ctx, op, *a: of(lib).CheckpointPolicy.PREFER_RECOMPUTE, lambda t: (t * t).sin()),
    "not overloads": lambda lib: of(lib).create_selective_checkpoint_contexts([lib.ops.aten.mm]),
    "no policy": lambda lib: of(lib).create_selective_checkpoint_contexts(3),
    "changed": lambda lib: selective(lib, lambda ctx, op, *a: "sin" in str(op), lambda t: t.sin().mul_(2).cos()),
    "changed, allowed": lambda lib: selective(lib, lambda ctx, op, *a: "exp" in str(op), lambda t: t.exp().sin().mul_(2),
                                              allow_cache_entry_mutation=True),
    "members": lambda lib: [m.name for m in of(lib).CheckpointPolicy],
}.items(), ids=lambda case: case[0])
def test_selective_checkpointing(case):
    assert_same(torch, case[1])


def twice(lib):
    x = lib.ones(2, requires_grad=True)
    y = of(lib).checkpoint(lambda t: (t * t).sin(), x, use_reentrant=False, context_fn=functools.partial(
        of(lib).create_selective_checkpoint_contexts, lambda ctx, op, *a: True)).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_what_was_kept_is_given_out_once():
    assert_same(torch, twice, check_message=True)


def test_a_handler_of_torch_dispatch_is_not_recorded_again():
    def code(lib):
        saved = []

        class Passing(of(lib, "utils._python_dispatch").TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                result = func(*args, **(kwargs or {}))
                saved.append(result.requires_grad)
                return result
        x = lib.ones(2, requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: saved.append("saved") or t, lambda t: t), Passing():
            y = (x * x).sin()
        return sorted(saved, key=str), y.requires_grad
    assert_same(torch, code)
