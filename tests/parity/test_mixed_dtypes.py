"""Losses of a floating input and a target of another dtype; in-place results of another shape: as in PyTorch."""

import warnings

import numpy as np
import pytest

import teachtorch

torch = pytest.importorskip("torch")


def loss_and_gradient(torch, loss, source, target, reduction):
    x = torch.tensor([0.5, 2.0, -3.0]).to(getattr(torch, source)).requires_grad_()
    y = torch.tensor([1.0, 0.0, 1.0]).to(getattr(torch, target))
    found = getattr(torch.nn.functional, loss)(x, y, reduction=reduction)
    found.sum().backward()
    return str(found.dtype), found.tolist(), str(x.grad.dtype), x.grad.tolist()


def outcome(torch, *call):
    try:
        return loss_and_gradient(torch, *call)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("target", ["int64", "uint8", "float64", "bool"])
@pytest.mark.parametrize("loss", ["mse_loss", "smooth_l1_loss", "l1_loss"])
@pytest.mark.parametrize("source", ["float32", "float16"])
def test_a_loss_promotes_its_operands(loss, source, target, reduction):
    ours, theirs = (outcome(lib, loss, source, target, reduction) for lib in (teachtorch, torch))
    if isinstance(theirs, str):  # PyTorch's l1_loss refuses bools
        assert ours == theirs
        return
    assert (ours[0].split(".")[1], ours[2].split(".")[1]) == (theirs[0].split(".")[1], theirs[2].split(".")[1])
    for a, b in ((ours[1], theirs[1]), (ours[3], theirs[3])):
        np.testing.assert_allclose(a, b, rtol=1e-3 if source == "float16" else 1e-6)


CHANGES = [
    "torch.ones(3).add_(torch.ones(2, 3))",
    "torch.ones(3).mul_(torch.ones(2, 3))",
    "torch.ones(3).clamp_(torch.ones(2, 3))",
    "torch.ones(3).addcmul_(torch.ones(2, 3), torch.ones(3))",
    "torch.ones(3).lerp_(torch.ones(2, 3), 0.5)",
    "torch.ones(3).copy_(torch.ones(2, 3))",
    "torch.ones(3).masked_fill_(torch.ones(2, 3) > 0, 1)",
    "torch.linalg.lu_solve(torch.ones(1, 3, 3), torch.ones(3, dtype=torch.int32), torch.ones(3, 2))",
    "torch.native_group_norm(torch.ones(2, 6, 3), None, None, 2, 6, 8, 3, 1e-5)",
]


@pytest.mark.parametrize("call", CHANGES)
def test_a_refusal_has_pytorchs_words(call):
    said = []
    for library in (teachtorch, torch):
        with pytest.raises(RuntimeError) as info:
            eval(call, {"torch": library})
        said.append(str(info.value))
    assert said[0] == said[1]


NAMES_A_DTYPE = [
    "torch.ones(3).masked_fill_(torch.ones(3, dtype=d), 1)",
    "torch.ones(3, dtype=d).__setitem__(0, 1j)",
    "torch.linalg.multi_dot([torch.ones(2, 2), torch.ones(2, 2, dtype=d)])",
    "torch.ones(2, 2) @ torch.ones(2, 2, dtype=d)",
    "torch.ones(2).set_(torch.ones(2, dtype=d))",
    "torch.empty(2, dtype=d).random_(-2**62, 2**40)",
    "torch.empty(2, dtype=d).random_(0, 2**63 - 1)",
    "setattr(torch.ones(2, requires_grad=True), 'grad', torch.ones(2, dtype=d))",
]


@pytest.mark.parametrize("dtype", "float16 bfloat16 float64 uint8 int8 int16 int32 int64 bool".split())
@pytest.mark.parametrize("call", NAMES_A_DTYPE)
def test_messages_name_a_dtype_as_cpp_does(call, dtype):
    said = []
    for library in (teachtorch, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                eval(call, {"torch": library, "d": getattr(library, dtype)})
                error = None
            except (RuntimeError, OverflowError) as refused:
                error = str(refused)
        said.append((error, [str(w.message).split(" This warning")[0] for w in caught]))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_too_few_values_warn_every_time(name):
    for _ in range(2):
        said = []
        for library in (teachtorch, torch):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                getattr(library, name)(library.ones(1))
            said.append([str(w.message).split(" (Triggered")[0] for w in caught])
        assert said[0] == said[1] and len(said[0]) == 1
