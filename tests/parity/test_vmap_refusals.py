"""Inside vmap nothing may look at the data of one example: PyTorch's words, and what stays allowed."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.programs import assert_same  # noqa: E402

DATA = [[1.0, 0.0], [2.0, 3.0]]
REFUSED = {
    "item": lambda lib, x: x.sum().item(),
    "float": lambda lib, x: float(x.sum()),
    "int": lambda lib, x: int(x.sum()),
    "index": lambda lib, x: [1, 2, 3][x.sum().long()],
    "range": lambda lib, x: [x for _ in range(x.sum().long())],
    "format": lambda lib, x: x * len(f"{x.sum():.2f}"),
    "if": lambda lib, x: x if x.sum() > 0 else -x,
    "assert": lambda lib, x: x * bool((x == x).all()),
    "is_nonzero": lambda lib, x: x if x.sum().is_nonzero() else -x,
    "clipped by its norm": lambda lib, x: x if x.norm() < 1 else x / x.norm(),
    "nonzero": lambda lib, x: x.nonzero(),
    "unique": lambda lib, x: x.unique(),
    "a boolean mask": lambda lib, x: x[x > 0],
    "masked_select": lambda lib, x: x.masked_select(x > 0),
    "tolist": lambda lib, x: x.tolist(),
    "numpy": lambda lib, x: x.numpy(),
    "allclose": lambda lib, x: x if x.allclose(x) else -x,
    "equal": lambda lib, x: x if x.equal(x) else -x,
    "one_hot": lambda lib, x: lib.nn.functional.one_hot(x.long()),
    "after more steps": lambda lib, x: (lib.stack([x, x]).t() @ x.new_ones(2)).max(0).values.item(),
    "of a view": lambda lib, x: x.clone().view(2, 1)[0, 0].item(),
}
ALLOWED = {
    "where": lambda lib, x: lib.where(x > 0, x, -x),
    "one_hot of a given size": lambda lib, x: lib.nn.functional.one_hot(x.long(), 4),
    "the shape": lambda lib, x: x * len(x) * x.shape[0] * x.numel(),
    "a number made inside": lambda lib, x: x * lib.ones(2).sum().item(),
    "an if on it": lambda lib, x: x if lib.ones(2).sum() > 1 else -x,
    "unpacking": lambda lib, x: sum([a for a in x]),
    "repr": lambda lib, x: x * min(len(repr(x)), 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    assert_same(torch, lambda lib: lib.vmap(lambda x: REFUSED[name](lib, x))(lib.tensor(DATA)))


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name):
    assert_same(torch, lambda lib: lib.vmap(lambda x: ALLOWED[name](lib, x))(lib.tensor(DATA)))


def test_captured_tensors_may_be_asked():
    def program(lib):
        y = lib.tensor(3.0)
        return lib.vmap(lambda x, z: x * y.item() * z.item() if y > 0 else x, in_dims=(0, None))(lib.ones(2, 2), y)
    assert_same(torch, program)


def test_results_may_be_asked_afterwards():
    def program(lib):
        kept = []
        found = lib.vmap(lambda x: kept.append(x.sum()) or (x, x.sum()))(lib.tensor(DATA))
        return [found[0].tolist(), found[1][0].item(), bool(found[1][1] > 0), found[0].nonzero()]
    assert_same(torch, program)


@pytest.mark.parametrize("outer", ["item", "if"])
def test_nested(outer):
    def program(lib):
        def row(x):
            inner = lib.vmap(lambda a: a * 2)(x)
            return REFUSED[outer](lib, inner)
        return lib.vmap(row)(lib.tensor(DATA))
    assert_same(torch, program)


def test_gradients_for_each_example_cannot_be_asked_either():
    def program(lib):
        g = lib.func.grad(lambda x: (x * x).sum())
        return lib.vmap(lambda x: g(x) if g(x).sum() > 0 else x)(lib.tensor(DATA))
    assert_same(torch, program)
