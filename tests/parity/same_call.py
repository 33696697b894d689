"""The same call in both libraries: results, strides, gradients and errors must be the same."""
import re
import warnings

import numpy as np

import teachtorch

ARRAYS = {
    "x": np.random.default_rng(1).uniform(-2, 2, (3, 4)).astype(np.float32),
    "y": np.random.default_rng(2).uniform(-2, 2, (2, 3, 4)),
    "p": np.random.default_rng(3).uniform(-2, 2, (4, 5, 6)).astype(np.float32).transpose(2, 0, 1),
    "i": np.random.default_rng(4).integers(-3, 4, (3, 4)),
    "u": np.random.default_rng(5).integers(0, 4, (3, 4)).astype(np.uint8),
    "b": np.random.default_rng(6).integers(0, 2, (3, 4)).astype(bool),
    "h": np.random.default_rng(7).uniform(-2, 2, (3, 4)).astype(np.float16),
    "e": np.zeros((0, 3), np.float32),
    "s": np.array(1.5, np.float32),
    "n": np.array([[1.0, np.nan, 3.0, np.inf], [-np.inf, 2.0, 0.5, np.nan]], np.float32),
    "z": np.array([[2.0, 0.0, 3.0, 0.0], [0.0, 1.5, -1.0, 2.0]]),
    "d": np.array([[3.0, 1.0, 3.0, 2.0], [1.0, 1.0, 2.0, 2.0]]),
}


def tensors_of(torch):
    """The arrays as tensors of a library, with their strides."""
    return {name: torch.from_numpy(np.copy(array, order="K")) for name, array in ARRAYS.items()}


def evaluated(torch, call):
    """The result of a call that is written down as an expression of `torch` and the arrays, or the error."""
    names = {**tensors_of(torch), "torch": torch, "inf": np.inf, "nan": np.nan}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, names)
        except Exception as error:
            return error


def flat(result):
    return [result] if not isinstance(result, (tuple, list)) else [part for r in result for part in flat(r)]


def assert_same_result(torch, call):
    """Equal structure, field names, dtypes, shapes, strides and values."""
    ours, theirs = evaluated(teachtorch, call), evaluated(torch, call)
    assert not isinstance(theirs, Exception), theirs
    if isinstance(ours, Exception):
        raise ours
    if hasattr(theirs, "n_fields"):
        assert all(getattr(theirs, field) is theirs[i] for i, field in enumerate(ours._fields))
    ours, theirs = flat(ours), flat(theirs)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs):
        assert_same_tensor(own, other)


def assert_same_tensor(own, other):
    assert str(own.dtype) == str(other.dtype)
    assert tuple(own.shape) == tuple(other.shape)
    if other.numel():
        assert own.stride() == other.stride()
    wide = 1e-2 if own.dtype.itemsize == 2 else 2e-6
    np.testing.assert_allclose(own.detach().double().numpy(), other.detach().double().numpy(), rtol=wide,
                               atol=wide)


def assert_same_gradient(torch, call, name):
    """Equal gradients of the sum of the (first) result's squares with respect to one of the arrays."""
    found = []
    for library in (teachtorch, torch):
        tensors = tensors_of(library)
        leaf = tensors[name].requires_grad_()
        result = flat(eval(call, {**tensors, "torch": library, "inf": np.inf, "nan": np.nan}))[0]
        (result * result).sum().backward()
        found.append(leaf.grad)
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-4, atol=1e-5)


def assert_same_error(torch, call, same_text=True):
    """The same type of error, with the same words."""
    ours, theirs = evaluated(teachtorch, call), evaluated(torch, call)
    assert isinstance(theirs, Exception), theirs
    assert isinstance(ours, Exception), f"no error where PyTorch says {theirs!r}"
    assert type(ours) is type(theirs), ours
    if same_text:
        assert first_line(ours, call) == first_line(theirs, call)


def first_line(error, call):
    """What it says; of a method's error without the place of the argument, which teachtorch counts from the tensor on.
    """
    line = str(error).split("\n")[0]
    return line if call.startswith("torch.") else re.sub(r" \(position \d+\)", "", line)


def assert_same_node(torch, call, name):
    """The result's grad_fn has PyTorch's name."""
    names = []
    for library in (teachtorch, torch):
        tensors = tensors_of(library)
        tensors[name].requires_grad_()
        result = flat(eval(call, {**tensors, "torch": library}))[0]
        names.append(result.grad_fn.name())
    assert names[0] == names[1]
