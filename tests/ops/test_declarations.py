"""Every declared operator, against mathematics: its derivative, its fake rule, its in-place and out= variants."""
import numpy as np
import pytest

import teachtorch as torch
from teachtorch.autograd import forward_ad
from teachtorch.dispatch.operator import registry
from teachtorch.tensor import meta_tensor
from tests.ops.numeric import (EPS, analytic_gradients, arrays_of, check_gradients, floating_outputs, fresh, leaves_of,
                               tensor_of)
from tests.samples import all_samples

SAMPLES = all_samples()
DECLARED = {name: op for name, op in registry.items() if op.info is not None}
# An in-place variant shares the declaration of its operator and is checked beside it.
# Operators of sparse tensors are checked in tests/sparse: arrays cannot stand for their arguments.
OPERATORS = sorted(name for name, op in DECLARED.items() if op.info.name == name
                   and op.info.function is not None and not op.info.function.__module__.startswith("teachtorch.ops.sparse"))
CASES = [(name, i) for name in OPERATORS for i in range(len(SAMPLES.get(name, ())))]


def case_id(value):
    return str(value)


def keywords(sample):
    """The sample's keyword arguments, arrays as tensors."""
    return {name: tensor_of(value, False) for name, value in sample.kwargs.items()}


def callable_of(name):
    """What users call; an operator that changes its argument is called on a copy."""
    info = DECLARED[name].info
    if info.kind != "in-place":
        return info.public
    return lambda target, *args, **kwargs: info.public(target.clone(), *args, **kwargs)


def is_differentiable(name):
    info = DECLARED[name].info
    return info.derivatives is not None or info.kind == "composite"


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_has_samples(name):
    assert SAMPLES.get(name), f"tests/samples has no sample for {name!r}"


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_derivative_equals_central_differences(name, i):
    sample = SAMPLES[name][i]
    if is_differentiable(name) and sample.gradient:
        check_gradients(callable_of(name), sample.args, sample.kwargs)


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_operator_without_derivative_yields_constants(name, i):
    if is_differentiable(name):
        return
    sample = SAMPLES[name][i]
    result = callable_of(name)(*[tensor_of(a, True) for a in fresh(sample.args)], **keywords(sample))
    assert not any(out.requires_grad and out.grad_fn is not None for out in floating_outputs(result))


def meta_of(value):
    if isinstance(value, torch.Tensor):
        return meta_tensor(tuple(value.shape), value.dtype, value.stride())
    if isinstance(value, (list, tuple)):
        return type(value)(meta_of(v) for v in value)
    return value


def described(result):
    """Shapes, dtypes and strides of a result."""
    if isinstance(result, torch.Tensor):
        return [(tuple(result.shape), result.dtype, result.stride() if result.numel() else None)]
    return [d for part in result for d in described(part)]


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_fake_rule_describes_the_result(name, i):
    info, sample = DECLARED[name].info, SAMPLES[name][i]
    if info.fake is None or info.kind in ("factory", "in-place"):
        return
    tensors = [tensor_of(a, False) for a in fresh(sample.args)]
    real = info.public(*tensors, **keywords(sample))
    fake = info.public(*[meta_of(t) for t in tensors], **{k: meta_of(v) for k, v in keywords(sample).items()})
    assert described(fake) == described(real)


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_inplace_variant_equals_the_operator(name, i):
    inplace, sample = DECLARED.get(name + "_"), SAMPLES[name][i]
    if inplace is None or inplace.info.name != name:
        return
    tensors = [tensor_of(a, False) for a in fresh(sample.args)]
    expected = DECLARED[name].info.public(*tensors, **keywords(sample))
    target = tensors[0] if isinstance(tensors[0], torch.Tensor) else None
    if target is None or target.shape != expected.shape or target.dtype != expected.dtype:
        return
    version = target._version
    result = inplace.info.public_inplace(target, *tensors[1:], **keywords(sample))
    assert result is target and target._version == version + 1
    np.testing.assert_allclose(target.numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_inplace_variant_has_the_same_gradient(name, i):
    inplace, sample = DECLARED.get(name + "_"), SAMPLES[name][i]
    if inplace is None or inplace.info.name != name or not is_differentiable(name) or not sample.gradient:
        return
    plain = DECLARED[name].info.public
    result = plain(*[tensor_of(a, False) for a in fresh(sample.args)], **keywords(sample))
    first = sample.args[0]
    if not isinstance(first, np.ndarray) or tuple(result.shape) != first.shape or first.dtype != np.float64:
        return

    def changed(target, *args, **kwargs):
        return inplace.info.public_inplace(target.clone(), *args, **kwargs)
    wanted, weights = analytic_gradients(plain, sample.args, sample.kwargs)
    found, _ = analytic_gradients(changed, sample.args, sample.kwargs, weights)
    for have, want in zip(found, wanted):
        assert (have is None) == (want is None)
        if have is not None:
            np.testing.assert_allclose(have.numpy(), want.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_out_receives_the_result(name, i):
    info, sample = DECLARED[name].info, SAMPLES[name][i]
    if not info.has_out or len(info.outputs) > 1:
        return
    tensors = [tensor_of(a, False) for a in fresh(sample.args)]
    expected = info.public(*tensors, **keywords(sample))
    out = torch.from_numpy(np.empty(tuple(expected.shape), expected.numpy().dtype))
    assert info.public(*tensors, **keywords(sample), out=out) is out
    np.testing.assert_array_equal(out.numpy(), expected.numpy())


def test_an_error_of_a_thousandth_is_seen(monkeypatch):
    """The checker sees what it is for: mul's derivative, 0.1 % too large."""
    plan = DECLARED["mul"].info.derivatives.plan(0b11)
    (_, *rest), *others = plan.steps
    monkeypatch.setattr(plan, "on_arrays", None)
    monkeypatch.setattr(plan, "steps", [(lambda grad, other: grad * other * 1.001, *rest), *others])
    sample = SAMPLES["mul"][0]
    with pytest.raises(AssertionError, match="autograd says"):
        check_gradients(DECLARED["mul"].info.public, sample.args, sample.kwargs)


def directional_difference(function, args, kwargs, directions):
    """(f(x + eps v) - f(x - eps v)) / 2 eps for each floating output."""
    ends = []
    for sign in (1, -1):
        moved = fresh(args)
        for array, direction in zip(arrays_of(moved), directions):
            array += sign * EPS * direction
        ends.append([out.numpy() for out in floating_outputs(function(*[tensor_of(a, False) for a in moved], **kwargs))])
    return [(above - below) / (2 * EPS) for above, below in zip(*ends)]


def dual_tensors(args, directions):
    """The arguments as tensors, the float64 ones with a tangent."""
    remaining = iter(directions)

    def dual(value):
        if isinstance(value, np.ndarray):
            made = tensor_of(value, False)
            is_float = value.dtype == np.float64
            return forward_ad.make_dual(made, torch.from_numpy(next(remaining))) if is_float else made
        if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
            return type(value)(dual(v) for v in value)
        return value
    return [dual(a) for a in fresh(args)]


@pytest.mark.parametrize(("name", "i"), CASES, ids=case_id)
def test_forward_derivative_equals_directional_difference(name, i):
    info, sample = DECLARED[name].info, SAMPLES[name][i]
    if not is_differentiable(name) or not sample.gradient or info.kind == "in-place":
        return
    generator = np.random.default_rng(7)
    directions = [generator.uniform(-1, 1, a.shape) for a in arrays_of(sample.args)]
    wanted = directional_difference(info.public, sample.args, sample.kwargs, directions)
    with forward_ad.dual_level():
        outputs = floating_outputs(info.public(*dual_tensors(sample.args, directions), **keywords(sample)))
        found = [forward_ad.unpack_dual(out).tangent for out in outputs]
    for have, want in zip(found, wanted):
        have = np.zeros(want.shape) if have is None else have.numpy()
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


# ---- second derivatives -------------------------------------------------------------------------------------

SECOND_CASES = [(name, i) for name, i in CASES if i < 2]
MOST_ELEMENTS = 24


def weighted_gradient(function, args, kwargs, starts, directions, create_graph):
    """(leaves, sum of gradient * direction): a number whose gradient is a product with the second derivative."""
    tensors = [tensor_of(a, True) for a in fresh(args)]
    leaves = leaves_of(tensors)
    outputs = [(o, w) for o, w in zip(floating_outputs(function(*tensors, **kwargs)), starts) if o.requires_grad]
    total = torch.zeros((), dtype=torch.float64)
    if not outputs:
        return leaves, total
    grads = torch.autograd.grad([o for o, _ in outputs], leaves, [torch.from_numpy(w).to(o.dtype) for o, w in outputs],
                                create_graph=create_graph, allow_unused=True)
    for g, direction in zip(grads, directions):
        if g is not None:
            total = total + (g * torch.from_numpy(direction)).sum()
    return leaves, total


def second_gradients(function, args, kwargs, starts, directions):
    leaves, total = weighted_gradient(function, args, kwargs, starts, directions, True)
    if not total.requires_grad:
        return [np.zeros(tuple(leaf.shape)) for leaf in leaves]
    return [g.numpy() for g in torch.autograd.grad(total, leaves, materialize_grads=True)]


def second_differences(function, args, kwargs, starts, directions):
    """The same by central differences of first gradients."""
    args, found = fresh(args), []
    for array in arrays_of(args):
        gradient = np.zeros(array.shape)
        for index in np.ndindex(*array.shape):
            center, ends = array[index], []
            for value in (center + EPS, center - EPS):
                array[index] = value
                ends.append(weighted_gradient(function, args, kwargs, starts, directions, False)[1].item())
            array[index] = center
            gradient[index] = (ends[0] - ends[1]) / (2 * EPS)
        found.append(gradient)
    return found


@pytest.mark.parametrize(("name", "i"), SECOND_CASES, ids=case_id)
def test_second_derivative_equals_differences_of_the_first(name, i):
    sample = SAMPLES[name][i]
    if not is_differentiable(name) or not sample.gradient or sum(a.size for a in arrays_of(sample.args)) > MOST_ELEMENTS:
        return
    function = callable_of(name)
    outputs = floating_outputs(function(*[tensor_of(a, False) for a in fresh(sample.args)], **keywords(sample)))
    generator = np.random.default_rng(11)
    starts = [generator.uniform(0.5, 1.5, tuple(out.shape)) for out in outputs]
    directions = [generator.uniform(0.5, 1.5, a.shape) for a in arrays_of(sample.args)]
    found = second_gradients(function, sample.args, sample.kwargs, starts, directions)
    wanted = second_differences(function, sample.args, sample.kwargs, starts, directions)
    for have, want in zip(found, wanted):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
