"""The geometry functions against PyTorch's own tensors, on random shapes, strides and arguments.

PyTorch is asked on a tensor of the same geometry: both must return the same (shape, stride, offset),
or refuse with the same type of error and, where the text depends on nothing else, the same text.
"""

import random

import pytest

torch = pytest.importorskip("torch")

from teachtorch.core import geometry as g  # noqa: E402

CASES = 400
STORAGE = torch.arange(4096, dtype=torch.float32)


def geometry_of(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


def random_size(rng):
    return rng.choice([0, 1, 1, 2, 2, 3, 4, 6])


def random_tensor(rng, max_dims=4):
    """A view of one storage: contiguous, permuted, strided, expanded, empty or with odd strides at size 1."""
    shape = [random_size(rng) for _ in range(rng.randint(0, max_dims))]
    step = rng.choice([1, 1, 2])
    strides = [0] * len(shape)
    order = list(range(len(shape)))[::-1]
    if rng.random() < 0.4:
        rng.shuffle(order)
    for dim in order:
        strides[dim] = 0 if rng.random() < 0.1 else rng.choice([step, step, step, step + 1, 7])
        step *= max(shape[dim], 1) * rng.choice([1, 1, 1, 2])
    offset = rng.choice([0, 0, 1, 2, 5])
    if g.storage_extent(tuple(shape), tuple(strides), offset) > STORAGE.numel():
        return random_tensor(rng, max_dims)
    return STORAGE.as_strided(shape, strides, offset)


def random_dim(rng, tensor):
    n = tensor.ndim
    return rng.randint(-n - 1, n) if rng.random() < 0.15 else rng.randint(-max(n, 1), max(n, 1) - 1)


def random_dims(rng, tensor, count):
    return tuple(random_dim(rng, tensor) for _ in range(count))


def random_bound(rng):
    return rng.choice([None, rng.randint(-7, 7)])


def outcome(function):
    """What a call did: ("ok", result), or ("error", type, first line of the text)."""
    try:
        return "ok", function()
    except Exception as error:  # noqa: BLE001  (whatever PyTorch raises is the fact to compare)
        return "error", type(error), str(error).split("\n")[0]


def assert_same(ours, theirs, what, same_text=True):
    mine, reference = outcome(ours), outcome(theirs)
    if mine[0] == "error" and not same_text:
        mine, reference = mine[:2], reference[:2]
    assert mine == reference, what


def random_split(rng, count):
    """A random shape with ``count`` elements, some sizes 1."""
    if count == 0:
        shape = [0] + [rng.choice([1, 2, 3, 0]) for _ in range(rng.randint(0, 2))]
        rng.shuffle(shape)
        return shape
    shape = []
    while count > 1:
        size = rng.choice([d for d in range(2, count + 1) if count % d == 0])
        shape.append(size)
        count //= size
    shape += [1] * rng.randint(0, 2)
    rng.shuffle(shape)
    return shape


def random_view_shape(rng, tensor):
    if rng.random() < 0.4:
        shape = list(tensor.shape)
        shape.insert(rng.randint(0, len(shape)), 1)
    else:
        shape = random_split(rng, tensor.numel())
    if shape and rng.random() < 0.3:
        shape[rng.randrange(len(shape))] = -1
    if shape and rng.random() < 0.15:
        shape[rng.randrange(len(shape))] = rng.choice([-2, -1, 0, 1, 5])
    return tuple(shape)


def random_expand_sizes(rng, tensor):
    sizes = [rng.choice([-1, size, 3 if size == 1 else size]) for size in tensor.shape]
    sizes = [rng.choice([1, 2, 0, 3]) for _ in range(rng.randint(0, 2))] + sizes
    if sizes and rng.random() < 0.2:
        sizes[rng.randrange(len(sizes))] = rng.choice([-1, 0, 2, 5])
    return tuple(sizes)


# name: arguments from a random tensor, then ours on a geometry, then PyTorch's on the tensor.
VIEWS = {
    "select": (
        lambda r, x: (random_dim(r, x), r.randint(-4, 4)),
        g.select,
        torch.Tensor.select,
    ),
    "narrow": (
        lambda r, x: (random_dim(r, x), r.randint(-4, 4), r.randint(-1, 4)),
        g.narrow,
        torch.Tensor.narrow,
    ),
    "slice": (
        lambda r, x: (random_dim(r, x), random_bound(r), random_bound(r), r.choice([1, 1, 2, 3, 9, 0, -1])),
        g.slice_,
        torch.ops.aten.slice.Tensor,
    ),
    "transpose": (lambda r, x: random_dims(r, x, 2), g.transpose, torch.Tensor.transpose),
    "unsqueeze": (lambda r, x: (r.randint(-x.ndim - 2, x.ndim + 1),), g.unsqueeze, torch.Tensor.unsqueeze),
    "squeeze all": (lambda r, x: (), g.squeeze, torch.Tensor.squeeze),
    "squeeze one": (lambda r, x: random_dims(r, x, 1), g.squeeze, torch.Tensor.squeeze),
    "squeeze some": (
        lambda r, x: (random_dims(r, x, r.randint(0, 3)),),
        g.squeeze,
        torch.Tensor.squeeze,
    ),
    "view": (lambda r, x: (random_view_shape(r, x),), g.view, torch.Tensor.view),
    "unfold": (
        lambda r, x: (random_dim(r, x), r.randint(-1, 4), r.randint(0, 3)),
        g.unfold,
        torch.Tensor.unfold,
    ),
    "diagonal": (
        lambda r, x: (r.randint(-4, 4), *random_dims(r, x, 2)),
        g.diagonal,
        torch.Tensor.diagonal,
    ),
    "movedim one": (lambda r, x: random_dims(r, x, 2), g.movedim, torch.Tensor.movedim),
    "movedim some": (
        lambda r, x: (random_dims(r, x, r.randint(0, 3)), random_dims(r, x, r.randint(0, 3))),
        g.movedim,
        torch.Tensor.movedim,
    ),
    "t": (lambda r, x: (), g.t, torch.Tensor.t),
    "T": (lambda r, x: (), g.numpy_T, lambda x: x.T),
    "mT": (lambda r, x: (), g.mT, lambda x: x.mT),
    "H": (lambda r, x: (), g.H, lambda x: x.H),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.filterwarnings("ignore")
def test_view_operation(name):
    arguments, ours, theirs = VIEWS[name]
    rng = random.Random(f"view {name}")
    for _ in range(CASES):
        x = random_tensor(rng)
        args = arguments(rng, x)
        assert_same(
            lambda: ours(*geometry_of(x), *args),
            lambda: geometry_of(theirs(x, *args)),
            f"{name}{args} of {geometry_of(x)}",
        )


def test_permute():
    rng = random.Random("permute")
    for _ in range(CASES):
        x = random_tensor(rng)
        dims = list(range(x.ndim))
        rng.shuffle(dims)
        dims = [dim - x.ndim if rng.random() < 0.3 else dim for dim in dims]
        if rng.random() < 0.2:
            dims = list(random_dims(rng, x, rng.randint(0, 3)))
        assert_same(
            lambda: g.permute(*geometry_of(x), dims),
            lambda: geometry_of(x.permute(dims)),
            (dims, geometry_of(x)),
            same_text=False,  # PyTorch's text says "permute(sparse_coo)" of every tensor
        )


def test_expand():
    rng = random.Random("expand")
    for _ in range(2 * CASES):
        x = random_tensor(rng)
        sizes = random_expand_sizes(rng, x)
        if 0 in sizes and min(sizes[:len(sizes) - x.ndim], default=0) < 0:
            continue  # PyTorch makes a tensor of negative size of some of these
        assert_same(
            lambda: g.expand(*geometry_of(x), sizes),
            lambda: geometry_of(x.expand(sizes)),
            (sizes, geometry_of(x)),
            same_text=len(sizes) >= x.ndim and x.ndim > 0,  # other texts hold the dtype, or speak of overflow
        )


def test_flatten_and_unflatten():
    rng = random.Random("flatten")
    for _ in range(CASES):
        x = random_tensor(rng)
        start, end = random_dims(rng, x, 2)
        assert_same(
            lambda: g.flatten_shape(tuple(x.shape), start, end),
            lambda: tuple(x.flatten(start, end).shape),
            (start, end, x.shape),
        )
        sizes = random_view_shape(rng, x.select(0, 0) if x.ndim and len(x) else x)
        assert_same(
            lambda: g.unflatten_shape(tuple(x.shape), start, sizes),
            lambda: tuple(x.contiguous().unflatten(start, sizes).shape),
            (start, sizes, x.shape),
            same_text=False,
        )


def test_pieces_of_split_chunk_and_unbind():
    rng = random.Random("split")
    for _ in range(CASES):
        x = random_tensor(rng)
        dim, count = random_dim(rng, x), rng.randint(-1, 5)
        shape = tuple(x.shape)
        sections = tuple(rng.randint(-1, 2) if rng.random() < 0.1 else rng.randint(0, 2) for _ in range(3))
        ours_and_theirs = {
            "split": (lambda: g.split_sizes(shape, count, dim), lambda: x.split(count, dim)),
            "sections": (lambda: g.check_split_sizes(shape, sections, dim), lambda: x.split(sections, dim)),
            "chunk": (lambda: g.chunk_sizes(shape, count, dim), lambda: x.chunk(count, dim)),
        }
        for name, (sizes, pieces) in ours_and_theirs.items():
            assert_same(
                lambda: g.split(*geometry_of(x), sizes(), dim),
                lambda: [geometry_of(piece) for piece in pieces()],
                (name, count, sections, dim, geometry_of(x)),
            )
        assert_same(
            lambda: g.unbind(*geometry_of(x), dim),
            lambda: [geometry_of(piece) for piece in x.unbind(dim)],
            ("unbind", dim, geometry_of(x)),
        )


def test_as_strided_stays_inside_its_storage():
    rng = random.Random("as_strided")
    x = torch.zeros(24)
    for _ in range(CASES):
        lowest = rng.choice([0, 0, 0, 0, -1])
        sizes = tuple(rng.randint(lowest, 4) for _ in range(rng.randint(0, 3)))
        strides = tuple(rng.randint(lowest, 5) for _ in sizes)
        if 0 in sizes and min(sizes) < 0:
            continue  # PyTorch makes a tensor of negative size of it
        offset = rng.choice([0, 3, 12, 23, 24, -1])
        assert_same(
            lambda: g.as_strided(sizes, strides, offset, 96, 4),
            lambda: geometry_of(x.as_strided(sizes, strides, offset)),
            (sizes, strides, offset),
            same_text=min(sizes, default=0) >= 0,
        )


def test_view_as_another_dtype():
    rng = random.Random("dtype")
    dtypes = [torch.uint8, torch.int16, torch.int32, torch.int64, torch.complex128]
    for _ in range(CASES):
        x = random_tensor(rng)
        old, new = rng.choice(dtypes), rng.choice(dtypes)
        x = torch.zeros(8192, dtype=old).as_strided(x.shape, x.stride(), x.storage_offset())
        assert_same(
            lambda: g.view_as_dtype(*geometry_of(x), old.itemsize, new.itemsize),
            lambda: geometry_of(x.view(new)),
            (geometry_of(x), old, new),
            same_text=False,  # PyTorch's text holds the names of the dtypes
        )


def test_layouts():
    rng = random.Random("layouts")
    for _ in range(4 * CASES):
        x = random_tensor(rng, max_dims=5)
        shape, stride, _ = geometry_of(x)
        formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        channels_last = x.ndim in formats and x.is_contiguous(memory_format=formats[x.ndim])
        assert g.is_contiguous(shape, stride) == x.is_contiguous(), (shape, stride)
        assert g.is_channels_last(shape, stride) == channels_last, (shape, stride)
        assert g.contiguous_strides(shape) == torch.empty(shape).stride(), shape
        assert g.preserve_format_strides(shape, stride) == torch.empty_like(x).stride(), (shape, stride)
        surely_overlaps = torch._debug_has_internal_overlap(x) == 1
        assert g.has_internal_overlap(shape, stride) == surely_overlaps, (shape, stride)
        if x.ndim in formats:
            expected = torch.empty(shape, memory_format=formats[x.ndim]).stride()
            assert g.channels_last_strides(shape) == expected, shape


def test_broadcasting():
    rng = random.Random("broadcast")
    for _ in range(CASES):
        a, b = random_tensor(rng), random_tensor(rng)
        assert_same(
            lambda: g.broadcast_shapes(tuple(a.shape), tuple(b.shape)),
            lambda: tuple((a + b).shape),
            (a.shape, b.shape),
        )
