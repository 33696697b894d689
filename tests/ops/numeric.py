"""Central differences in float64, in NumPy alone: what every declared derivative is held against."""
import numpy as np

import teachtorch as torch

EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-4


def floating_outputs(result):
    """The floating tensors of a result, which may be one tensor or a nest of tuples."""
    if isinstance(result, torch.Tensor):
        return [result] if result.dtype.is_floating_point else []
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in floating_outputs(part)]
    return []


def tensor_of(value, requires_grad):
    """Arrays become tensors; float64 ones require grad if asked. Strides are kept."""
    if isinstance(value, np.ndarray):
        made = torch.from_numpy(value)
        return made.requires_grad_() if requires_grad and value.dtype == np.float64 else made
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(tensor_of(v, requires_grad) for v in value)
    return value


def arrays_of(args):
    """The float64 arrays among the arguments, in order."""
    found = []
    for a in args:
        if isinstance(a, np.ndarray) and a.dtype == np.float64:
            found.append(a)
        elif isinstance(a, (list, tuple)):
            found.extend(arrays_of(a))
    return found


def fresh(args):
    """Copies of the arrays, each with the strides of the original."""
    return [np.copy(a, order="K") if isinstance(a, np.ndarray) else
            type(a)(fresh(a)) if isinstance(a, (list, tuple)) and arrays_of(a) else a for a in args]


def leaves_of(args):
    found = []
    for a in args:
        if isinstance(a, torch.Tensor) and a.requires_grad:
            found.append(a)
        elif isinstance(a, (list, tuple)):
            found.extend(leaves_of(a))
    return found


def weights_for(outputs):
    generator = np.random.default_rng(5)
    return [generator.uniform(0.5, 1.5, tuple(out.shape)) for out in outputs]


def objective(function, args, kwargs, weights):
    """sum(output * weight), as a number."""
    with torch.no_grad():
        outputs = floating_outputs(function(*[tensor_of(a, False) for a in args], **kwargs))
    return sum(float((np.asarray(out.numpy(), np.float64) * w).sum()) for out, w in zip(outputs, weights))


def numeric_gradients(function, args, kwargs, weights):
    gradients = []
    for array in arrays_of(args):
        gradient = np.zeros(array.shape)
        for index in np.ndindex(*array.shape):
            center = array[index]
            array[index] = center + EPS
            above = objective(function, fresh(args), kwargs, weights)
            array[index] = center - EPS
            below = objective(function, fresh(args), kwargs, weights)
            array[index] = center
            gradient[index] = (above - below) / (2 * EPS)
        gradients.append(gradient)
    return gradients


def analytic_gradients(function, args, kwargs, weights=None):
    """(gradients, weights), the gradients of sum(output * weight) by autograd; None where none flows."""
    tensors = [tensor_of(a, True) for a in fresh(args)]
    outputs = floating_outputs(function(*tensors, **kwargs))
    weights = weights_for(outputs) if weights is None else weights
    tracked = [(o, w) for o, w in zip(outputs, weights) if o.requires_grad]
    leaves = leaves_of(tensors)
    if not tracked:
        return [None] * len(leaves), weights
    starts = [torch.from_numpy(np.asarray(w)).to(o.dtype) for o, w in tracked]
    return torch.autograd.grad([o for o, _ in tracked], leaves, starts, allow_unused=True), weights


def check_gradients(function, args, kwargs):
    """AssertionError where a derivative by autograd differs from central differences."""
    args = fresh(args)
    found, weights = analytic_gradients(function, args, kwargs)
    wanted = numeric_gradients(function, args, kwargs, weights)
    assert len(found) == len(wanted)
    for number, (have, want) in enumerate(zip(found, wanted)):
        have = np.zeros(want.shape) if have is None else have.numpy()
        assert have.shape == want.shape, f"input {number}: gradient of shape {have.shape} for {want.shape}"
        wrong = np.abs(have - want) > ATOL + RTOL * np.abs(want)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            raise AssertionError(
                f"input {number}, element {at}: autograd says {have[at]:.9g}, differences {want[at]:.9g}"
            )
