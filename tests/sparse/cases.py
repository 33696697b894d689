"""One program, run on both libraries: what it returns or raises must be the same."""
import importlib
import warnings

import numpy as np
import torch as pytorch

import teachtorch

# PyTorch says once that it does not look at indices; teachtorch looks where it uses them.
pytorch.sparse.check_sparse_tensor_invariants.disable()


def outcome(library, program, **names):
    """("value", what the expression gives) or ("error", its type and words), in plain Python."""
    scope = {"torch": library, "nn": importlib.import_module(library.__name__ + ".nn"), "np": np, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            *lines, last = program.strip().splitlines()
            exec("\n".join(lines), scope)
            return "value", plain(eval(last, scope))
        except Exception as error:
            return "error", (type(error).__name__, str(error))


def plain(value):
    """Tensors as what can be compared: layout, shape, dtype, entries, flags, gradient node."""
    if isinstance(value, (teachtorch.Tensor, pytorch.Tensor)):
        return described(value)
    if isinstance(value, (list, tuple)):
        return tuple(plain(v) for v in value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def described(t):
    node = t.grad_fn.name() if t.grad_fn is not None else None
    head = str(t.layout), tuple(t.shape), str(t.dtype), t.requires_grad, node
    if not t.is_sparse:
        return (*head, numbers(t))
    return (*head, t.is_coalesced(), t.sparse_dim(), t._indices().tolist(), numbers(t._values()))


def numbers(t):
    return rounded(t.detach().float().tolist() if "float" in str(t.dtype) else t.detach().tolist())


def rounded(values):
    if isinstance(values, list):
        return [rounded(v) for v in values]
    return float(f"{values:.4g}") if isinstance(values, float) else values


def agree(program, **names):
    """Both libraries give one result; of errors the type and the beginning."""
    ours, theirs = outcome(teachtorch, program, **names), outcome(pytorch, program, **names)
    if ours[0] == theirs[0] == "error":
        (our_type, our_words), (their_type, their_words) = ours[1], theirs[1]
        assert our_type == their_type, f"{program}\n{ours}\n{theirs}"
        length = min(len(our_words), len(their_words), 100)
        assert our_words[:length] == their_words[:length], f"{program}\n{our_words}\n{their_words}"
        return
    assert ours == theirs, f"{program}\nteachtorch {ours}\nPyTorch    {theirs}"
