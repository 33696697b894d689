"""Index parsing against PyTorch: random indices give the same view, the same copy or the same error."""

import random

import pytest

torch = pytest.importorskip("torch")

from teachtorch.core.indexing import gather_layout, is_mask, plan_index  # noqa: E402

CASES = 3000


def as_index_tensor(sequence):
    tensor = torch.as_tensor(sequence)
    return tensor if tensor.dtype in (torch.bool, torch.uint8) else tensor.long()


def geometry_of(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


def random_slice(rng):
    start, stop = (rng.choice([None, None, rng.randint(-5, 5)]) for _ in range(2))
    steps = [None, 1, 2, 3, 0, -1] if rng.random() < 0.2 else [None, 1, 2]
    return slice(start, stop, rng.choice(steps))


def random_mask(rng, x, ndim):
    """A mask that fits ``ndim`` neighbouring dims of ``x`` (or, now and then, does not)."""
    first = rng.randint(0, max(x.ndim - ndim, 0))
    sizes = list(x.shape[first:first + ndim]) or [rng.randint(0, 3)]
    bits = [rng.random() < 0.5 for _ in range(torch.Size(sizes).numel())]
    return torch.tensor(bits, dtype=torch.bool).view(sizes)


def random_item(rng, x, basic_only):
    basic = [
        lambda: rng.choice([0, 0, -1, 1, 4, -5]),
        lambda: random_slice(rng),
        lambda: random_slice(rng),
        lambda: None,
        lambda: Ellipsis,
        lambda: torch.tensor(rng.choice([0, -1, 1]), dtype=rng.choice([torch.int64, torch.int16])),
    ]
    advanced = [
        lambda: rng.choice([True, False]),
        lambda: torch.tensor(rng.random() < 0.5),
        lambda: [rng.choice([0, -1]) for _ in range(rng.choice([0, 1, 2, 2, 3]))],
        lambda: torch.randint(-1, 1, rng.choice([(2,), (1,), (2, 1), (1, 2), (0,)])),
        lambda: random_mask(rng, x, 1),
        lambda: random_mask(rng, x, rng.choice([1, 2, 3])),
        lambda: random_mask(rng, x, 1).tolist(),
        lambda: torch.zeros(2, dtype=rng.choice([torch.float32, torch.int8])) if rng.random() < 0.2 else 0,
    ]
    return rng.choice(basic if basic_only or rng.random() < 0.5 else advanced)()


def random_index(rng, x):
    basic_only = rng.random() < 0.4
    items = tuple(random_item(rng, x, basic_only) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))
    return items[0] if len(items) == 1 and rng.random() < 0.6 else items


def random_tensor(rng):
    shape = [rng.choice([0, 1, 2, 2, 3, 4]) for _ in range(rng.choice([0, 1, 2, 2, 3, 4]))]
    x = torch.arange(torch.Size(shape).numel()).view(shape)
    return x.permute(rng.sample(range(x.ndim), x.ndim)) if x.ndim else x


def follow_steps(x, steps):
    """Carry the basic steps out, one PyTorch operation each."""
    operations = {"select": torch.select, "slice": torch.ops.aten.slice.Tensor, "unsqueeze": torch.unsqueeze}
    for name, *args in steps:
        x = operations[name](x, *args)
    return x


def as_integer_indices(indices):
    """Write masks as integer indices, one per dimension they take."""
    integers = []
    for index in indices:
        if isinstance(index, bool):
            integers.append(torch.zeros(int(index), dtype=torch.int64))
        elif index is not None and is_mask(index):
            integers.extend(index.nonzero(as_tuple=True))
        else:
            integers.append(index)
    return integers


def by_plan(x, index):
    """Index a PyTorch tensor the way the plan says."""
    plan = plan_index(index, *geometry_of(x), as_index_tensor)
    view = x.as_strided(*plan[:3])
    assert geometry_of(follow_steps(x, plan.steps)) == geometry_of(view)
    if not plan.indices:
        return "view", geometry_of(view), view
    integers = as_integer_indices(plan.indices)
    shapes = [None if i is None else tuple(i.shape) for i in integers]
    layout = gather_layout(plan.shape, shapes)[0]
    return "copy", layout, torch.ops.aten.index(view, integers)


def by_pytorch(x, index):
    result = x[index]
    if result._is_view():
        return "view", geometry_of(result), result
    return "copy", tuple(result.shape), result


def outcome(function, x, index):
    try:
        return function(x, index)
    except (IndexError, ValueError, TypeError) as error:
        return "error", type(error), str(error)


def has_other_text(index, x):
    """Where the error is PyTorch's but its text is not.

    For x[5] of a 0-dim x PyTorch speaks of size 0 (here as for x[0]); a second `...` leads to dimensions
    that are not there, which its operators word in their own ways.
    """
    ellipses = sum(item is Ellipsis for item in index) if isinstance(index, tuple) else 0
    return x.ndim == 0 or ellipses > 1


@pytest.mark.filterwarnings("ignore")
def test_random_indices():
    rng = random.Random("indexing")
    torch.manual_seed(0)
    kinds = set()
    for _ in range(CASES):
        x = random_tensor(rng)
        index = random_index(rng, x)
        mine, reference = outcome(by_plan, x, index), outcome(by_pytorch, x, index)
        assert mine[:2] == reference[:2], (index, geometry_of(x), mine, reference)
        if mine[0] == "error":
            assert mine[2] == reference[2] or has_other_text(index, x), (index, geometry_of(x))
        else:
            assert torch.equal(mine[2], reference[2]), (index, geometry_of(x))
        kinds.add(mine[0])
    assert kinds == {"view", "copy", "error"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "index",
    [
        [[0, 1], [1, 0]], [[0, 1]], [slice(0, 1), 1], [None, 0], [...], [0] * 40, [torch.tensor(0), 1],
        range(2), (range(2),), [range(2)], ((0, 1), (1, 0)), [[0, 1], 0], [True, False], [], [[]],
        "a", b"a", ["a"],
        1.5, 1j, {}, {1}, object(), torch.float32, slice("a"), slice(None, None, 0.5), torch.tensor(1.0),
        slice(torch.tensor(0), torch.tensor(1)), torch.tensor([0, 1], dtype=torch.uint8),
        torch.tensor(1, dtype=torch.uint8),
    ],
)
def test_unusual_indices(index):
    x = torch.arange(6).view(2, 3)
    mine, reference = outcome(by_plan, x, index), outcome(by_pytorch, x, index)
    assert mine[:2] == reference[:2]
    assert torch.equal(mine[2], reference[2]) if mine[0] != "error" else True
    if mine[0] == "error" and index is not torch.float32:  # there PyTorch's text holds its own module name
        assert mine[2] == reference[2]


@pytest.mark.parametrize("name", ["int64", "bool_", "float64"])
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: (value, 0)], ids=["alone", "in a tuple"])
def test_numpy_scalars(name, wrap):
    np = pytest.importorskip("numpy")
    x = torch.arange(6).view(2, 3)
    index = wrap(getattr(np, name)(1))
    mine, reference = outcome(by_plan, x, index), outcome(by_pytorch, x, index)
    assert mine[:2] == reference[:2]


@pytest.mark.parametrize("shapes", [[(4,), (2, 1)], [(2, 1), (4,)], [(4,), (2, 4)], [(1,), (3, 1), (2, 1, 1)]], ids=str)
def test_index_tensors_of_several_dimensions_on_a_view_that_is_not_contiguous(shapes):
    import teachtorch
    import torch

    made = []
    for library in (torch, teachtorch):
        x = library.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5).permute(3, 1, 0, 2)
        found = x[tuple(library.zeros(shape, dtype=library.int64) for shape in shapes)]
        made.append((found.tolist(), tuple(found.stride())))
    assert made[0] == made[1]
