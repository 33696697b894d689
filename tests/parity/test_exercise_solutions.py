"""What the exercises teach is what PyTorch does: their reference solutions against PyTorch itself."""

import itertools
import random

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from exercises import catalog  # noqa: E402
from exercises.grading.loading import load  # noqa: E402


def solution(name):
    """The reference solution of an exercise, as a module."""
    return load(catalog.find(name).solutions / "solution.py", None)


def geometries(count):
    """Random small sizes and strides, the empty and the 0-dim ones among them."""
    rng = random.Random(0)
    for _ in range(count):
        sizes = tuple(rng.choice([0, 1, 1, 2, 2, 3]) for _ in range(rng.randint(0, 4)))
        yield sizes, tuple(rng.choice([0, 1, 2, 3, 4, 6, 12]) for _ in sizes)


def strided(sizes, strides):
    """A tensor of these sizes and strides over its own storage."""
    return torch.empty_strided(sizes, strides)


def test_offset():
    ask = solution("offset").storage_position
    tensor = torch.arange(60).reshape(3, 4, 5).permute(2, 0, 1)[1:, :, ::2]
    for index in itertools.product(*(range(-size, size) for size in tensor.shape)):
        assert (
            ask(index, tuple(tensor.shape), tensor.stride(), tensor.storage_offset()) == tensor[index].item()
        )


def test_contiguous():
    ask = solution("contiguous").is_contiguous
    for sizes, strides in geometries(500):
        assert ask(sizes, strides) == strided(sizes, strides).is_contiguous(), (sizes, strides)


def factorings(numel):
    """Some sizes with this number of elements."""
    yield (numel,)
    yield (numel, 1)
    yield (1, numel)
    for first in range(1, max(numel, 1) + 1):
        if numel % first == 0:
            yield first, numel // first
            yield first, 1, numel // first


def test_view_rule():
    ask = solution("view_rule").compute_view_strides
    for sizes, strides in geometries(500):
        tensor = strided(sizes, strides)
        for new_sizes in [*factorings(tensor.numel()), sizes]:
            try:
                expected = tensor.view(new_sizes).stride()
            except RuntimeError:
                expected = None
            assert ask(sizes, strides, new_sizes) == expected, (sizes, strides, new_sizes)


def test_expand():
    ask = solution("expand").expand
    rng = random.Random(1)
    for sizes, strides in geometries(500):
        new = tuple(rng.choice([-1, size, 2, 4]) for size in sizes)
        new = tuple(rng.choice([-1, 2, 3]) for _ in range(rng.randint(0, 1))) + new
        assert outcome(ask, sizes, strides, new) == outcome(torch_expand, sizes, strides, new), (sizes, new)


def torch_expand(sizes, strides, new):
    """PyTorch's sizes and strides."""
    expanded = strided(sizes, strides).expand(new)
    return tuple(expanded.shape), expanded.stride()


def outcome(function, *arguments):
    """The answer, or the type of the error."""
    try:
        return function(*arguments)
    except RuntimeError as error:
        return type(error)


def test_slicing():
    ask = solution("slicing").slice_dim
    bounds = [None, -7, -5, -1, 0, 1, 3, 5, 9]
    tensor = torch.arange(20)[2::3]
    for start, stop, step in itertools.product(bounds, bounds, [1, 2, 5]):
        part = tensor[start:stop:step]
        expected = (part.shape[0], part.stride(0), part.storage_offset())
        assert ask(6, 3, 2, start, stop, step) == expected, (start, stop, step)
    with pytest.raises(ValueError, match="step"):
        tensor[::-1]


def test_permute_back():
    module = solution("permute_back")
    tensor = torch.empty(2, 3, 4, 5)
    for order in itertools.permutations(range(4)):
        permuted = tensor.permute(order)
        assert module.permute(tuple(tensor.shape), tensor.stride(), order) == (
            tuple(permuted.shape),
            permuted.stride(),
        )
        assert permuted.permute(module.inverse(order)).stride() == tensor.stride()
    with pytest.raises(RuntimeError):
        tensor.permute(0, 0, 1, 2)


def test_channels_last():
    module = solution("channels_last")
    for sizes in itertools.product([1, 2, 3], repeat=4):
        expected = torch.empty(sizes).to(memory_format=torch.channels_last).stride()
        assert module.channels_last_strides(sizes) == expected, sizes
    for order in itertools.permutations(range(3)):
        for tensor in (
            torch.empty(2, 3, 4).permute(order),
            torch.empty(4, 6, 8)[::2, ::2, ::2].permute(order),
        ):
            assert module.clone_strides(tuple(tensor.shape), tensor.stride()) == tensor.clone().stride()


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
SCALARS = {"bool": True, "int64": 2, "float32": 2.0}


def operands():
    """Every operand of the exercise, with what it is in PyTorch."""
    for dtype in DTYPES:
        yield ("tensor", dtype), torch.ones(1, dtype=getattr(torch, dtype))
        yield ("0-dim", dtype), torch.ones((), dtype=getattr(torch, dtype))
    for dtype, value in SCALARS.items():
        yield ("scalar", dtype), value


def test_promotion():
    module = solution("promotion")
    for (ours, theirs), (other, their_other) in itertools.product(operands(), repeat=2):
        expected = str(torch.result_type(theirs, their_other)).removeprefix("torch.")
        assert module.result_dtype(ours, other) == expected, (ours, other)
        if "scalar" not in (ours[0], other[0]):
            divided = str((theirs / their_other).dtype).removeprefix("torch.")
            assert module.division_dtype(ours, other) == divided, (ours, other)


def test_gather_scatter():
    module = solution("gather_scatter")
    numbers = np.random.default_rng(0)
    for dim, shape in ((0, (5, 2, 2)), (1, (2, 7, 3)), (2, (1, 1, 4))):
        input, index = numbers.random((2, 3, 4)), numbers.integers(0, (2, 3, 4)[dim], shape)
        index = index[: 2 if dim else 5, : 3 if dim != 1 else 7, :4]
        leaf = torch.tensor(input, requires_grad=True)
        out = torch.gather(leaf, dim, torch.tensor(index))
        assert np.array_equal(module.gather(input, dim, index), out.detach().numpy())
        out.backward(torch.ones_like(out))
        grad = module.gather_backward(np.ones(index.shape), input.shape, dim, index)
        assert np.array_equal(grad, leaf.grad.numpy())


def test_unbroadcast():
    ask = solution("unbroadcast").unbroadcast
    for shape in [(), (1,), (4,), (3, 1), (1, 4), (2, 1, 1), (2, 3, 4)]:
        leaf = torch.ones(shape, dtype=torch.float64, requires_grad=True)
        grad = torch.arange(24.0, dtype=torch.float64).reshape(2, 3, 4)
        (leaf + torch.zeros(2, 3, 4)).backward(grad)
        assert np.array_equal(ask(grad.numpy(), shape), leaf.grad.numpy()), shape


def test_order_of_ready_nodes():
    """The order that `diamond` asks for: each leaf as soon as it is ready, later operations first."""
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    d = a * 4
    e = b * 5
    order = []
    for name, tensor in {"acc_a": a, "acc_b": b, "mul_d": d, "mul_e": e}.items():
        tensor.register_hook(lambda grad, name=name: order.append(name))
    (d + e).backward()
    assert order == ["mul_e", "acc_b", "mul_d", "acc_a"]


def test_order_of_hooks():
    """The order that `hook_order` asks for."""
    leaf, order = torch.ones(1, requires_grad=True), []
    a = leaf * 2
    a.retain_grad()
    a.register_hook(lambda grad: grad * 10)
    a.grad_fn.register_prehook(lambda grads: order.append("prehook") or tuple(grad * 100 for grad in grads))
    a.grad_fn.register_hook(lambda result, grads: order.append("post hook"))
    leaf.register_hook(lambda grad: order.append("leaf hook"))
    leaf.register_post_accumulate_grad_hook(lambda leaf: order.append(f"grad is {leaf.grad.item()}"))
    a.backward(torch.tensor([3.0]))
    assert order == ["prehook", "post hook", "leaf hook", "grad is 6000.0"]
    assert a.grad.item() == 30.0


def test_accumulate():
    """A first .grad has the strides of its parameter, later ones are added in place, or make a new array."""
    weight = torch.zeros(2, 3).t().requires_grad_()
    (weight * torch.ones(3, 2)).sum().backward()
    assert weight.grad.stride() == weight.stride()
    held = weight.grad
    (weight * 10).sum().backward()
    assert weight.grad is held
    with pytest.warns(UserWarning, match="create_graph"):
        (weight * 10).sum().backward(create_graph=True)
    assert weight.grad is not held
    assert held[0, 0].item() == 11.0


def test_retain_graph():
    x = torch.ones(2, requires_grad=True)
    loss = (x + 1).sum()
    loss.backward()
    loss.backward()
    saved = x.exp().sum()
    saved.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        saved.backward()


def test_target_pruning():
    a, b, other = (torch.ones(1, requires_grad=True) for _ in range(3))
    f = a * 7
    loss = f * 3 + (b * 11) * 5
    grads = torch.autograd.grad(loss, [f, a, other], allow_unused=True)
    assert [grad if grad is None else grad.item() for grad in grads] == [3.0, 21.0, None]
    assert a.grad is None and b.grad is None
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad(a * 2, [other])
