"""A plain backward may use formulas on arrays; they must give what the formulas on tensors give."""
import numpy as np
import pytest

import teachtorch as torch
from teachtorch.core import observer
from teachtorch.dispatch.operator import registry
from tests.ops.numeric import floating_outputs, tensor_of, weights_for
from tests.samples import all_samples

SAMPLES = all_samples()


def has_array_formulas(name):
    info = registry[name].info
    return info is not None and info.derivatives is not None and any(
        formula.on_arrays is not None for formula in info.derivatives.formulas)


NAMES = sorted(name for name in registry if registry[name].info is not None and registry[name].info.name == name
               and has_array_formulas(name))


def gradients(function, sample, dtype):
    """The gradients of sum(output * weight), with fixed weights, for the sample in `dtype`."""
    is_float = [isinstance(a, np.ndarray) and a.dtype == np.float64 for a in sample.args]
    args = [torch.from_numpy(a.astype(dtype)).requires_grad_() if floating else tensor_of(a, False)
            for a, floating in zip(sample.args, is_float)]
    outputs = floating_outputs(function(*args, **sample.kwargs))
    starts = [torch.from_numpy(np.asarray(w, dtype)) for w in weights_for(outputs)]
    leaves = [a for a, floating in zip(args, is_float) if floating]
    return torch.autograd.grad(outputs, leaves, starts, allow_unused=True)


def ignore(topic, fields):
    """While somebody observes, backward takes the formulas on tensors."""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_array_formulas_equal_tensor_formulas(name, dtype):
    function = registry[name].info.public
    for sample in SAMPLES[name]:
        if not any(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in sample.args):
            continue
        on_arrays = gradients(function, sample, dtype)
        with observer.watching(ignore):
            on_tensors = gradients(function, sample, dtype)
        for found, wanted in zip(on_arrays, on_tensors):
            assert (found is None) == (wanted is None)
            if found is not None:
                assert found.dtype is wanted.dtype and found.shape == wanted.shape
                np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_the_hot_operators_of_small_networks_have_array_formulas():
    assert {"mm", "addmm", "relu", "sum", "mul", "_log_softmax", "nll_loss"} <= set(NAMES)


def test_infinite_gradients_stop_at_an_inactive_relu():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    x.relu().backward(torch.tensor([float("inf"), 3.0]))
    assert x.grad.tolist() == [0.0, 3.0]
