"""Indexing, gather, scatter, masks and embedding against PyTorch: values, dtypes, strides, refusals."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402

LIBRARIES = (torch, teachtorch)
F = "nn.functional."


def ints(*values, dtype="int64"):
    return np.array(values, dtype)


X = np.arange(12, dtype=np.float32).reshape(3, 4)
W = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
MASK = X > 3
ONE = np.ones
ROW = ints([0, 2], [1, 1])

CALLS = [
    # index_select
    ("index_select", X, 0, ints(2, 0, 2)),
    ("index_select", X.T, -1, ints(1)),
    ("index_select", X, 0, ints(1, dtype="int32")),
    ("index_select", X, 0, ints(5)),
    ("index_select", X, 0, ints(-1)),
    ("index_select", X, 2, ints(0)),
    ("index_select", X, 0, ints([0], [1])),
    ("index_select", X, 0, ONE(1, np.float32)),
    ("index_select", np.float32(3), 0, ints(0, 0)),
    ("index_select", ONE((0, 3), np.float32), 0, ints(0)),
    # gather
    ("gather", X, 0, ROW),
    ("gather", X.T, 1, ints([0, 2, 2, 1, 0])),
    ("gather", X, 0, ints([1], dtype="int32")),
    ("gather", np.float32(3), 0, ints(0, 0)),
    ("gather", X, 0, np.zeros((0, 4), np.int64)),
    ("gather", X, 0, ints([5])),
    ("gather", X, 0, ints([-1])),
    ("gather", X, 0, ints(0)),
    ("gather", X, 0, np.zeros((2, 5), np.int64)),
    ("gather", X, 0, ONE((1, 1), np.float32)),
    ("gather", X, 0, ints([1], dtype="int16")),
    ("gather", X, 3, ROW),
    ("take_along_dim", X, ints([0, -1]), 1),
    ("take_along_dim", X, ints(0, 5)),
    ("take_along_dim", X, ints(0, 5), 1),
    ("take_along_dim", X, ONE((1, 1), np.float32), 1),
    # scatter
    ("scatter", X, 0, ints([0, 2], [1, 0]), ONE((2, 2), np.float32)),
    ("scatter", X.T, 0, ROW, 2.0),
    ("scatter", X, 0, ROW, 7),
    ("scatter", X, 0, ints([5]), 1.0),
    ("scatter", X, 0, ints([-1]), 1.0),
    ("scatter", X, 0, ints(1), 1.0),
    ("scatter", X, 0, np.zeros((2, 5), np.int64), 1.0),
    ("scatter", X, 0, ROW, ONE((1, 2), np.float32)),
    ("scatter", X, 0, ROW, ONE(2, np.float32)),
    ("scatter", X, 0, ROW, ONE((2, 2))),
    ("scatter", X, 0, ONE((1, 1), np.float32), 1.0),
    ("scatter_add", X, 0, ROW, ONE((2, 3), np.float32)),
    ("scatter_add", X, 1, ints([3, 3, 3]), X),
    ("scatter_add", X, 0, ints([5]), ONE((1, 1), np.float32)),
    ("scatter_add", X, 0, ROW, ONE((2, 2))),
    *[("scatter_reduce", X, 0, ROW, X[:2, 1:3], kind) for kind in ("sum", "prod", "mean", "amax", "amin")],
    ("scatter_reduce", X, 0, ROW, X[:2, 1:3], "median"),
    ("scatter_reduce", X, 0, ints([3]), X[:1, :1], "sum"),
    ("index_reduce", X, 0, ints(0, 0), X[1:], "amax"),
    ("index_reduce", X, 0, ints(0, 0), X[1:], "sum"),
    # index_add, index_copy, index_fill
    ("index_add", X, 0, ints(0, 2, 0), X),
    ("index_add", X.T, 0, ints(1, 1), X.T[:2]),
    ("index_add", X, 1, ints(3), X[:, :1]),
    ("index_add", X, 0, ints(0, 1), ONE((1, 4), np.float32)),
    ("index_add", X, 0, ints(0, 1), ONE((2, 3), np.float32)),
    ("index_add", X, 0, ints(0, 5), ONE((2, 4), np.float32)),
    ("index_add", X, 0, ints(0, -1), ONE((2, 4), np.float32)),
    ("index_add", X, 0, ints(0, 1), ONE((2, 4))),
    ("index_add", X, 0, ints([0]), ONE((1, 4), np.float32)),
    ("index_add", X, 0, ONE(2, np.float32), ONE((2, 4), np.float32)),
    ("index_copy", X, 0, ints(2, 0), X[:2]),
    ("index_copy", X, 0, ints(0, 1), ONE((1, 4), np.float32)),
    ("index_copy", X, 0, ints(0, 1), ONE((2, 3), np.float32)),
    ("index_copy", X, 0, ints(0, 5), ONE((2, 4), np.float32)),
    ("index_copy", X, 0, ints(0, 1, dtype="int32"), ONE((2, 4), np.float32)),
    ("index_copy", X, 0, ints(0, 1), ONE((2, 4))),
    ("index_copy", X, 0, ints([0]), ONE((1, 4), np.float32)),
    ("index_copy", X, 0, ints(0), ONE(4, np.float32)),
    ("index_fill", X.T, 0, ints(0, -1), 1.5),
    ("index_fill", X, 0, ints(0, 5), 1.0),
    ("index_fill", X, 0, ints([0]), 1.0),
    ("index_fill", X, 0, ints(0, dtype="int32"), 1.0),
    ("index_fill", X, 0, ints(0), ONE(2, np.float32)),
    ("index_fill", ints(1, 2, 3), 0, ints(0), 1.5),
    # take, put, masks
    ("take", X, ints(0, -1)),
    ("take", X.T, ROW),
    ("take", X, ints(0, 12)),
    ("take", X, ints(0, dtype="int32")),
    ("take", ONE(0, np.float32), ints(0)),
    ("put", X.T, ints(0, -1), ONE(2, np.float32)),
    ("put", X, ints(1, 1), ONE(2, np.float32), True),
    ("put", X, ints(0, 12), ONE(2, np.float32)),
    ("put", X, ints(0, 1), ONE(3, np.float32)),
    ("put", X, ints(0, 1), ONE(2)),
    ("masked_fill", X.T, MASK.T, 2.0),
    ("masked_fill", X[0], MASK, 2.0),
    ("masked_fill", X, MASK, np.float32(3)),
    ("masked_fill", X, MASK, ONE(2, np.float32)),
    ("masked_fill", X, X, 1.0),
    ("masked_fill", ints(1, 2, 3), ints(1, 0, 1) > 0, 1.5),
    ("masked_select", X.T, MASK.T),
    ("masked_select", X, MASK[1]),
    ("masked_select", X, X),
    ("masked_select", X, MASK[:2]),
    ("masked_scatter", X.T, MASK.T, X),
    ("masked_scatter", X, MASK, ONE(2, np.float32)),
    ("masked_scatter", X, X, X),
    ("masked_scatter", X, MASK, ONE(20)),
    ("nonzero", X),
    ("nonzero", np.float32(3)),
    ("argwhere", X.T),
    ("where", MASK),
    # parts of a copy
    ("select_scatter", X.T, X[:, 0], 0, 1),
    ("select_scatter", X, ONE(3, np.float32), 0, 0),
    ("select_scatter", X, ONE(4, np.float32), 0, 5),
    ("slice_scatter", X.T, X.T[:2], 0, 1, 3),
    ("slice_scatter", X, ONE((3, 3), np.float32), 1, 0, 2),
    ("diagonal_scatter", X, ONE(3, np.float32)),
    ("diagonal_scatter", X, ONE(2, np.float32)),
    # embedding
    (F + "embedding", ROW, X),
    (F + "embedding", ints(1, dtype="int32"), X, 1),
    (F + "embedding", ints(3), X),
    (F + "embedding", ints(-1), X),
    (F + "embedding", ONE(1, np.float32), X),
    (F + "embedding", ints(1), X, 5),
    (F + "embedding", ints(1), X[0]),
    (F + "embedding", ROW, X, None, 2.0),
    (F + "embedding_bag", ROW, X),
    (F + "embedding_bag", ints(0, 1, 2, 2), X, ints(0, 2, 2)),
    (F + "embedding_bag", ints(0, 1), X),
    (F + "embedding_bag", ints(0, 1), X, ints(1, 2)),
    (F + "embedding_bag", ints(0, 9), X, ints(0)),
    (F + "embedding_bag", ints(0, 1), X, ints(0, 5)),
]

READS = [
    "x[0]",
    "x[-1, 1:]",
    "x[..., 0]",
    "x[None, :, ::2]",
    "x[1, None, 2]",
    "x[:, i]",
    "x[i, :, i]",
    "x[:, :, [3, 0]]",
    "x[i[:, None], i]",
    "x[m]",
    "x[:, :, v]",
    "x[True]",
    "x[False]",
    "x[()]",
    "x[...]",
    "x[[]]",
    "x[i, None, i]",
    "x.transpose(0, 2)[i]",
    "x.transpose(0, 2)[:, i]",
    "x.transpose(0, 1)[i, i]",
    "x[i.reshape(2, 1).expand(2, 3).t()]",
    "x[0, :, i]",
    "x[i, 0, i]",
    "x[m, 0]",
    "x[5]",
    "x[0, 0, 0, 0]",
    "x[i + 5]",
    "x[:, i + 5]",
    "x[m[:1]]",
    "x[i, i[:1].expand(3)]",
    "x[1.5]",
    "x['a']",
    "x[::-1]",
    "x[i.float()]",
    "x[:, 3:1]",
    "x[-5:99]",
]
WRITES = [
    "x[0] = 5",
    "x[...] = y[0, 0, 0]",
    "x[:, 1] = y[:, 1]",
    "x[i] = 7.5",
    "x[i] = y[0]",
    "x[[0, 0]] = y",
    "x[m] = 0",
    "x[m] = y[m]",
    "x[:, i, 1:3] = y[:, :2, 1:3]",
    "x[0, 0, 0] = y[:1, 0, 0]",
    "x[0] = y[None, None, 0]",
    "x[i] = y[0, 0, 0].double()",
    "x[0] = y[0, 0, :3]",
    "x[i] = y[0, 0, :3]",
    "x[0] = [1, 2]",
    "x[0] = 'a'",
    "x[0] = None",
    "x[7] = 1",
    "x[i + 7] = 1",
    "x[False] = 1",
    "x[True] = 1",
    "x[None] = y",
    "x[[0, 0]] += 1",
    "x[:, ::2] *= 2",
    "x[0] = 1 + 2j",
    "x[..., 1] = True",
    "x[m] = y[0, 0, :3]",
]


def tensor(m, value):
    if isinstance(value, (np.ndarray, np.float32)):
        made = m.from_numpy(np.array(value, order="K"))
        return made.reshape(()) if np.ndim(value) == 0 else made
    return value


def described(result):
    if isinstance(result, tuple):
        return [described(part) for part in result]
    return tuple(result.shape), str(result.dtype), tuple(result.stride()), result.tolist()


def outcome(action):
    """The result, or the refusal in the first line of its words."""
    try:
        return described(action())
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]


def function(m, path):
    for part in path.split("."):
        m = getattr(m, part)
    return m


def call_id(call):
    return " ".join(str(a.shape) if isinstance(a, np.ndarray) else str(a) for a in call)


@pytest.mark.parametrize("call", CALLS, ids=call_id)
@pytest.mark.filterwarnings("ignore")
def test_call(call):
    name, *args = call
    theirs, ours = [outcome(lambda m=m: function(m, name)(*[tensor(m, a) for a in args])) for m in LIBRARIES]
    assert ours == theirs


def names_for(m):
    return {
        "x": tensor(m, W),
        "y": tensor(m, W * 10),
        "i": m.tensor([0, 1]),
        "m": tensor(m, W[:, :, 0] > 0),
        "v": m.tensor([True, False, False, True]),
    }


@pytest.mark.parametrize("text", READS)
@pytest.mark.filterwarnings("ignore")
def test_read(text):
    theirs, ours = [outcome(lambda m=m: eval(text, names_for(m))) for m in LIBRARIES]
    assert ours == theirs


def after(text, names):
    exec(text, names)
    return names["x"]


@pytest.mark.parametrize("text", WRITES)
@pytest.mark.filterwarnings("ignore")
def test_write(text):
    theirs, ours = [outcome(lambda m=m: after(text, names_for(m))) for m in LIBRARIES]
    assert ours == theirs
