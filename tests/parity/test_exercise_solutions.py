"""What the exercises teach is what PyTorch does: their reference solutions against PyTorch itself."""

import importlib.util
import inspect
import itertools
import random
import sys

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from exercises import catalog  # noqa: E402
from exercises.grading import Mismatch  # noqa: E402
from exercises.grading.loading import load  # noqa: E402
from tests.parity.solutions import solution  # noqa: E402


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
    torch.set_warn_always(True)          # PyTorch gives this warning once per process otherwise
    try:
        with pytest.warns(UserWarning, match="create_graph"):
            (weight * 10).sum().backward(create_graph=True)
    finally:
        torch.set_warn_always(False)
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


WITH_TENSORS = [each for each in catalog.exercises() if "import teachtorch as torch" in each.test.read_text()]
WRONG = [(each, file) for each in WITH_TENSORS for file in sorted(each.solutions.glob("wrong_*.py"))]
LEAVES_HOOKS_ON = "wrong_stays_on"


@pytest.fixture
def torch_instead(monkeypatch):
    """`import teachtorch as torch` gives PyTorch itself."""
    monkeypatch.setitem(sys.modules, "teachtorch", torch)


def graded_by(exercise):
    """The test file of an exercise, as a module that was imported just now."""
    spec = importlib.util.spec_from_file_location(f"graded_on_torch_{exercise.name}", exercise.test)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(test, yours):
    """Run one property."""
    given = {"yours": yours, "rng": random.Random(0)}
    test(**{name: given[name] for name in inspect.signature(test).parameters})


@pytest.mark.parametrize("exercise", WITH_TENSORS, ids=lambda exercise: exercise.name)
def test_solution_passes_on_torch(exercise, torch_instead):
    module, yours = graded_by(exercise), load(exercise.solutions / "solution.py", None)
    for each in exercise.properties:
        ask(getattr(module, each.name), yours)


@pytest.mark.parametrize("exercise, file", WRONG, ids=lambda value: getattr(value, "stem", ""))
def test_wrong_solution_fails_on_torch(exercise, file, torch_instead):
    if file.stem == LEAVES_HOOKS_ON:
        pytest.skip("it would reach the tests after it")
    module, yours = graded_by(exercise), load(file, None)
    with pytest.raises((Mismatch, RuntimeError, TypeError)):
        ask(getattr(module, yours.FAILS), yours)


def test_version_counter():
    """The same random program of views, detach, .data and in-place additions on both."""
    rng = random.Random(0)
    for _ in range(50):
        ours, theirs = [solution("version_counter").Tensor([0.0])], [torch.zeros(1)]
        for _ in range(12):
            which, kind = rng.randrange(len(ours)), rng.choice(["view", "detach", "data", "add_", "add"])
            if kind == "add_":
                with torch.no_grad():
                    theirs[which].add_(1)
                ours[which].add_(1, grad_mode=False)
            else:
                ours.append(version_step(ours[which], kind, ()))
                theirs.append(version_step(theirs[which], kind, (1,)))
        assert [each._version for each in ours] == [each._version for each in theirs]
        assert [each.values[0] for each in ours] == [each.item() for each in theirs]


def version_step(tensor, kind, shape):
    """A tensor made from another one."""
    if kind == "data":
        return tensor.data
    arguments = {"view": shape, "detach": (), "add": (1,)}[kind]
    return getattr(tensor, kind)(*arguments)


def test_saved_check():
    """What exp, sin, add and mul save."""
    ask_saved = solution("saved_check").what_is_saved
    for first, second in itertools.product([True, False], repeat=2):
        x, y = (torch.tensor([2.0], requires_grad=flag) for flag in (first, second))
        for operation, operands in {"exp": (x,), "sin": (x,), "add": (x, y), "mul": (x, y)}.items():
            result = getattr(torch, operation)(*operands)
            mine = ask_saved(operation, x, y if len(operands) == 2 else None, result)
            theirs = [each for each in saved_by(result) if each is not None]
            assert len(mine) == len(theirs), (operation, first, second)
            assert all(one.data_ptr() == other.data_ptr() for one, other in zip(mine, theirs))


def saved_by(result):
    """The tensors that the node of a result has saved."""
    names = ("_saved_self", "_saved_other", "_saved_result")
    return [getattr(result.grad_fn, name) for name in names if hasattr(result.grad_fn, name)]


def test_copy_slices():
    module = solution("copy_slices")
    grad = np.arange(1.0, 13.0).reshape(3, 4)
    for key in (1, (slice(None), 2), (slice(0, 3, 2), slice(1, 3))):
        leaf = torch.ones(3, 4, dtype=torch.float64, requires_grad=True)
        base = leaf * 1
        base[key].mul_(5)
        base.backward(torch.tensor(grad))
        ours, others = module.copy_slices(grad, key, module.scale_backward(5.0))
        assert np.array_equal(ours, leaf.grad.numpy())
        assert others == []


def test_leaf_table():
    module = solution("leaf_table")
    for first, second, grad_mode in itertools.product([True, False], repeat=3):
        with torch.set_grad_enabled(grad_mode):
            theirs = torch.ones(2, requires_grad=first) * torch.ones(2, requires_grad=second)
        ours = module.operation([module.Tensor(first), module.Tensor(second)], grad_mode)
        assert (ours.requires_grad, ours.is_leaf) == (theirs.requires_grad, theirs.is_leaf)
    x = torch.ones(2, requires_grad=True)
    ours = module.to(module.Tensor(True), "float64")
    theirs = x.to(torch.float64)
    assert (ours.requires_grad, ours.is_leaf) == (theirs.requires_grad, theirs.is_leaf)
    assert x.to(torch.float32) is x
    with pytest.raises(RuntimeError):
        (x * 2).requires_grad_(False)
    with pytest.raises(RuntimeError):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_refcount_ledger():
    """Random programs, run by PyTorch: when does each storage go?"""
    rng = random.Random(0)
    for _ in range(60):
        program = random_program(rng)
        assert solution("refcount_ledger").freed_at(program) == run_program(program), program


def random_program(rng):
    """Statements over few names, so that names are bound again."""
    program, names = [("leaf", "a")], ["a"]
    for _ in range(8):
        kind = rng.choice(["leaf", "view", "exp", "add", "mul", "del", "backward"] if names else ["leaf"])
        operands = [rng.choice(names) for _ in range({"view": 1, "exp": 1, "add": 2, "mul": 2}.get(kind, 0))]
        target = rng.choice(names) if kind in ("del", "backward") else rng.choice("abcd")
        if kind == "backward" and any(each[0] == "backward" for each in program):
            continue
        program.append((kind, target, *operands))
        names = sorted({*names, target} - ({target} if kind == "del" else set()))
    return program


def run_program(program):
    """Run it on PyTorch, and look after each statement which storages are still there."""
    variables, watched, freed = {}, {}, {}
    for number, (kind, target, *names) in enumerate(program):
        operands = [variables[name] for name in names]
        if kind == "del":
            del variables[target]
        elif kind == "backward":
            variables[target].backward(torch.ones(2))
        else:
            variables[target] = made(kind, operands)
            if kind != "view":
                watched[number], freed[number] = variables[target].untyped_storage()._weak_ref(), None
        operands.clear()
        for storage, weak in watched.items():
            if freed[storage] is None and torch.UntypedStorage._expired(weak):
                freed[storage] = number
    return freed


def made(kind, operands):
    """What a statement makes."""
    if kind == "leaf":
        return torch.ones(2, requires_grad=True)
    return operands[0].view(2) if kind == "view" else getattr(torch, kind)(*operands)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_dual_numbers():
    level = solution("dual_numbers").Level()
    numbers = np.random.default_rng(0)
    x, y, moving_x, moving_y = (numbers.uniform(1.0, 2.0, (3, 3)) for _ in range(4))
    with level:
        dual = forward_formula(level.make_dual(x.copy(), moving_x.copy()), level.make_dual(y, moving_y))
        ours = level.unpack(dual)
    with torch.autograd.forward_ad.dual_level():
        make = torch.autograd.forward_ad.make_dual
        tensors = [
            make(torch.tensor(one), torch.tensor(other)) for one, other in ((x, moving_x), (y, moving_y))
        ]
        theirs = torch.autograd.forward_ad.unpack_dual(forward_formula(*tensors))
        assert np.allclose(ours[0], theirs.primal.numpy())
        assert np.allclose(ours[1], theirs.tangent.numpy())


def forward_formula(x, y):
    """Every operation of the exercise, the view and the change in place too."""
    x[1].mul_(y[0])
    return (x @ y / (x + y) ** 2 * x)[1:, 0]


def test_subgradients():
    module = solution("subgradients")
    for values in ([3.0, 5.0, 5.0], [0.0, -2.0, 2.0], [2.0, 0.0, 0.0], [-1.0, 0.5, 4.0]):
        x, numbers = torch.tensor(values, dtype=torch.float64, requires_grad=True), np.array(values)
        assert np.allclose(module.max_backward(1.0, numbers), torch.autograd.grad(x.max(), x)[0])
        assert np.allclose(module.prod_backward(1.0, numbers), torch.autograd.grad(x.prod(), x)[0])
        assert np.allclose(module.abs_backward(np.ones(3), numbers), torch.autograd.grad(x.abs().sum(), x)[0])
        clamped = torch.autograd.grad(x.clamp(-0.5, 1.5).sum(), x)[0]
        assert np.allclose(module.clamp_backward(np.ones(3), numbers, -0.5, 1.5), clamped)


def test_mini_engine():
    """The same network on both: the loss and all gradients."""
    module, numbers = solution("mini_engine"), np.random.default_rng(0)
    arrays = [numbers.standard_normal(shape) for shape in [(64, 32), (1, 32), (32, 10), (1, 10)]]
    images, labels = numbers.random((5, 64)), np.array([1, 2, 3, 4, 5])
    ours = [module.Tensor(each, requires_grad=True) for each in arrays]
    loss = module.cross_entropy(module._scores(ours, images), labels)
    module.backward(loss)
    w1, b1, w2, b2 = theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    scores = (torch.tensor(images) @ w1 + b1).relu() @ w2 + b2
    expected = torch.nn.functional.cross_entropy(scores, torch.tensor(labels))
    expected.backward()
    assert np.isclose(loss.data, expected.item())
    assert all(np.allclose(one.grad, other.grad.numpy()) for one, other in zip(ours, theirs))


def test_hogwild_is_sgd_and_adam():
    ask = solution("hogwild")
    examples = [([1.0, x / 4], 2.0 + 3.0 * x / 4) for x in range(-4, 5)]
    for optimizer, process in (
        (torch.optim.SGD, lambda w, state: ask.sgd_process(w, examples, 0.1)),
        (torch.optim.Adam, lambda w, state: ask.adam_process(w, state, examples, 0.1)),
    ):
        weights, p = [0.5, -0.5], torch.tensor([0.5, -0.5], dtype=torch.float64, requires_grad=True)
        steps = optimizer([p], lr=0.1)
        for x, y in examples:
            steps.zero_grad()
            ((p * torch.tensor(x, dtype=torch.float64)).sum() - y).square().backward()
            steps.step()
        list(process(weights, {"step": 0, "m": [0.0, 0.0], "v": [0.0, 0.0]}))
        assert weights == pytest.approx(p.tolist(), rel=1e-9)


def test_peak_memory_is_cpythons():
    import tracemalloc

    program = [("new", "x", 100_000)] + [("new", "x", 100_000)] * 5
    tracemalloc.start()
    x = bytearray(100_000)
    for _ in range(5):
        x = bytearray(100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x is not None and solution("peak_memory").peak_counting(program)[0] == pytest.approx(peak, rel=0.1)
