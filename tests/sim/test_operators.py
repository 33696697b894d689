"""Every operator gives on sim what it gives on the CPU, forward and backward: one sample of each."""

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.dispatch.operator import registry
from tests.samples import all_samples

SAMPLES = all_samples()
OPERATORS = sorted(
    name
    for name, op in registry.items()
    if op.info is not None
    and op.info.name == name
    and op.info.function is not None
    and not op.info.function.__module__.startswith("teachtorch.ops.sparse")  # there is no sparse layout on sim
)
RANDOM = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "normal",
    "normal.size",
    "normal_",
    "uniform_",
    "random_",
    "log_normal_",
    "cauchy_",
    "exponential_",
    "geometric_",
    "bernoulli_",
    "bernoulli",
    "multinomial",
    "poisson",
    "binomial",
    "dropout",
    "native_dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "rrelu",
    "rrelu_with_noise",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
}
UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty"}
# What asks for the CPU, or is told of a device.
HOST_ONLY = {"from_numpy", "to", "_to_copy"}


def on(device, value, grad):
    """A sample's argument as a user has it: arrays as tensors of the device."""
    if isinstance(value, np.ndarray):
        t = torch.from_numpy(value.copy()).to(device)
        return t.requires_grad_() if grad and t.dtype.is_floating_point else t
    if isinstance(value, (list, tuple)):
        return type(value)(on(device, v, grad) for v in value)
    return value


def call(name, sample, device, grad):
    info = registry[name].info
    args = [on(device, a, grad) for a in sample.args]
    kwargs = {k: on(device, v, grad) for k, v in sample.kwargs.items()}
    if info.kind == "factory":
        kwargs["device"] = device
    if info.kind == "in-place" or name.endswith("_"):
        args[0] = args[0].clone()
    return args, info.public(*args, **kwargs)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    return []


def assert_same(name, ours, theirs):
    ours, theirs = tensors_in(ours), tensors_in(theirs)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert (tuple(a.shape), a.dtype) == (tuple(b.shape), b.dtype)
        assert a.stride() == b.stride() or not a.numel()
        if name not in RANDOM | UNINITIALISED:
            np.testing.assert_array_equal(
                np.asarray(a.detach().cpu().tolist()), np.asarray(b.detach().tolist())
            )


@pytest.mark.parametrize("name", [n for n in OPERATORS if n not in HOST_ONLY])
def test_operator_on_sim_equals_cpu(name):
    for sample in SAMPLES[name][:3]:
        _, expected = call(name, sample, "cpu", False)
        _, found = call(name, sample, "sim", False)
        assert {str(t.device) for t in tensors_in(found)} <= {"sim:0"}
        assert_same(name, found, expected)


@pytest.mark.parametrize("name", [n for n in OPERATORS if n not in HOST_ONLY | RANDOM])
def test_backward_on_sim_equals_cpu(name):
    sample = SAMPLES[name][0]
    if not sample.gradient:
        return
    grads = []
    for device in ("cpu", "sim"):
        args, out = call(name, sample, device, True)
        roots = [t for t in tensors_in(out) if t.requires_grad]
        torch.autograd.backward(roots, [torch.ones_like(t) for t in roots]) if roots else None
        grads.append([t.grad for t in tensors_in(args) if t.is_leaf and t.grad is not None])
    assert {str(g.device) for g in grads[1]} <= {"sim:0"}
    for ours, theirs in zip(grads[1], grads[0], strict=True):
        np.testing.assert_allclose(
            np.asarray(ours.cpu().tolist()), np.asarray(theirs.tolist()), rtol=1e-12, atol=1e-14
        )
