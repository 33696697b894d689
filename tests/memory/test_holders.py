"""The ledger of references: it says who holds memory, and what it says would be freed is freed."""

import weakref

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.utils import holders as module
from teachtorch.utils.holders import Holder, holders


def kinds(ledger):
    return sorted(holder.kind for holder in ledger.holders)


def test_every_variable_and_container_counts():
    x = torch.ones(3)
    assert [holder.count for holder in holders(x).holders] == [1]
    also, box = x, [x]
    assert [holder.count for holder in holders(x).holders] == [3]
    del also, box
    assert str(holders(x)) == "storage of 12 bytes\n  float32 [3]\n    1 reference from Python"


def test_views_and_detached_tensors_are_over_the_same_memory():
    x = torch.ones(4)
    view, detached = x[1:], x.detach()
    for t in (x, view, detached):
        ledger = holders(t)
        assert {id(each) for each in ledger.tensors} == {id(x), id(view), id(detached)}
    assert [holder.by is view for holder in holders(x).of(x) if holder.kind == "view"] == [True]


def test_what_the_graph_holds():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = (y * y).sum()
    assert [holder.what for holder in holders(y).of(y)][1:] == [
        "MulBackward0 saved it as other",
        "MulBackward0 saved it as self",
    ]
    assert kinds(holders(x)) == ["leaf", "python"]
    z.backward()
    assert kinds(holders(y)) == ["python"]
    assert "it is the .grad of float32 [3]" in [holder.what for holder in holders(x.grad).holders]
    assert "AccumulateGrad fills its .grad" in [holder.what for holder in holders(x).holders]


def test_what_a_custom_function_saved():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    y = Double.apply(x)
    assert "DoubleBackward saved it as tensor 0" in [holder.what for holder in holders(x).holders]
    assert y.requires_grad


def test_arrays_and_other_processes():
    x = torch.ones(3)
    array = x.numpy()
    assert [holder.what for holder in holders(x).of(x.untyped_storage())] == ["1 NumPy array"]
    del array
    assert kinds(holders(x)) == ["python"]
    x.share_memory_()
    assert kinds(holders(x)) == ["python", "shared"]
    y = torch.from_numpy(kept := np.ones(3))
    assert "array" in kinds(holders(y)) and kept.sum() == 3


def test_memory_of_an_accelerator_and_the_streams_that_use_it():
    x = torch.ones(1000, device="sim")
    view = x[3:]
    assert kinds(holders(x)) == ["python", "python", "view"] and holders(x).freed_without(x, view) == 4000
    x.untyped_storage().record_stream(torch.Stream("sim"))
    assert [holder.kind for holder in holders(x).of(x.untyped_storage())] == ["stream"]


def test_a_further_source_adds_what_it_knows(monkeypatch):
    x = torch.ones(3)
    monkeypatch.setattr(
        module, "more_holders", [lambda storage: [Holder("stream", "stream 1 still uses it", storage)]]
    )
    assert kinds(holders(x)) == ["python", "stream"]


def test_only_tensors_have_a_ledger():
    with pytest.raises(TypeError, match="not ndarray"):
        holders(np.ones(2))


# ---- what would be freed is freed --------------------------------------------------------------------------


def programs():
    def plain():
        x = torch.ones(10)
        return {"x": x}

    def viewed():
        x = torch.ones(10)
        return {"x": x, "v": x[2:4]}

    def saved():
        x = torch.ones(10, requires_grad=True)
        y = x.exp()
        return {"x": x, "y": y, "z": (y * 3).sum()}

    def forgotten():
        h = torch.ones(10, requires_grad=True) * 1
        return {"h": h, "loss": (h * h).sum()}

    def backward_done():
        x = torch.ones(10, requires_grad=True)
        y = x.exp()
        z = y.sum()
        z.backward()
        return {"x": x, "y": y, "z": z}

    def detached():
        x = torch.ones(10, requires_grad=True)
        y = x.exp()
        return {"y": y, "d": y.detach()}

    def changed_view():
        x = torch.ones(10, requires_grad=True) * 1
        v = x[2:4]
        v.mul_(2)
        return {"x": x, "v": v}

    return [plain, viewed, saved, forgotten, backward_done, detached, changed_view]


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.__name__)
def test_the_ledger_foretells_what_deleting_frees(program):
    for name in program():
        variables = program()
        roots = {key: weakref.ref(module.root_of(t.untyped_storage().buffer)) for key, t in variables.items()}
        foretold = {key: holders(variables[key]).is_freed_without(variables[name]) for key in variables}
        del variables[name]
        assert {key: root() is None for key, root in roots.items()} == foretold, name


def test_bytes_that_a_graph_would_free():
    x = torch.ones(100, requires_grad=True)
    loss = (x.exp() * 2).sin().sum()
    assert holders(loss).freed_without(loss) == 400 + 400 + 4  # what exp and sin saved, and the loss
    assert holders(x).freed_without(x) == 0  # the graph ends at it
    loss.backward()
    assert holders(loss).freed_without(loss) == 4


def test_memory_is_freed_when_the_last_keeper_goes():
    x = torch.ones(10, requires_grad=True)
    y = x * 1
    loss = (y * y).sum()
    ledger = holders(y)
    assert {id(t) for t in ledger.keepers()} == {id(y), id(loss)}
    assert (
        not ledger.is_freed_without(y)
        and not ledger.is_freed_without(loss)
        and ledger.is_freed_without(y, loss)
    )


def test_a_sparse_tensor_keeps_its_indices_and_values():
    values = torch.ones(3)
    sparse = torch.sparse_coo_tensor([[0, 1, 2]], values, (4,), check_invariants=False)
    ledger = holders(sparse._values())
    assert "entries" in {holder.kind for holder in ledger.holders}
    assert ledger.is_kept_by(sparse)
    assert not ledger.is_freed_without(values)


def test_a_sparse_tensor_elsewhere_is_no_hindrance():
    elsewhere = torch.sparse_coo_tensor([[0]], [1.0], (4,), check_invariants=False)
    x = torch.ones(3)
    assert holders(x).keepers() == [x] and elsewhere.is_sparse
