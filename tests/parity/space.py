"""The same function or module in both libraries, with first and second derivatives."""

import warnings

import numpy as np

import teachtorch


def evaluated(library, call, shapes, order):
    """The results of `call(library, *tensors)`: its outputs, gradients and gradients of those."""
    generator = np.random.default_rng(3)
    tensors = [library.from_numpy(generator.standard_normal(s)).requires_grad_() for s in shapes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = call(library, *tensors)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    found, value = [t.detach() for t in outputs], outputs[0].sin().sum()
    for _ in range(order):
        slopes = library.autograd.grad(value, tensors, create_graph=True, allow_unused=True)
        slopes = [s for s in slopes if s is not None]
        found += [s.detach() for s in slopes]
        value = sum([s.sin().sum() for s in slopes])
    return [t.numpy() for t in found]


def assert_same(torch, call, *shapes, order=2, tolerance=1e-8):
    """Equal values and gradients up to `order`, in float64."""
    ours, theirs = [evaluated(library, call, shapes, order) for library in (teachtorch, torch)]
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs):
        assert own.shape == other.shape and own.dtype == other.dtype
        np.testing.assert_allclose(own, other, rtol=tolerance, atol=tolerance)


def refusal(library, call, *shapes):
    """(type, first line) of the error that a call raises."""
    try:
        evaluated(library, call, shapes, 0)
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return None


def assert_same_refusal(torch, call, *shapes):
    theirs = refusal(torch, call, *shapes)
    assert theirs is not None, "PyTorch does not refuse this"
    assert refusal(teachtorch, call, *shapes) == theirs


def function(name, *args, **kwargs):
    """A call of nn.functional with further arguments."""
    return lambda library, *tensors: getattr(library.nn.functional, name)(*tensors, *args, **kwargs)
