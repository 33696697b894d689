"""Sharing between processes: each program gives the same on teachtorch and PyTorch."""

import importlib
import io
import pickle
import warnings
from multiprocessing.reduction import ForkingPickler

import pytest

pytest.importorskip("torch")


def sent(obj):
    file = io.BytesIO()
    ForkingPickler(file, pickle.HIGHEST_PROTOCOL).dump(obj)
    return pickle.loads(file.getvalue())


def facts(t):
    return (
        tuple(t.shape),
        tuple(t.stride()),
        t.storage_offset(),
        t.requires_grad,
        t.is_leaf,
        t.grad is None,
        str(t.dtype).rpartition(".")[2],
        t.untyped_storage().nbytes(),
        t.is_shared(),
        t.tolist(),
        type(t).__name__,
    )


def empties(torch):
    x = torch.empty(0)
    return x.is_shared(), x.share_memory_().is_shared(), sent(torch.empty(2, 0)).is_shared()


def views(torch):
    b = torch.zeros(4)
    v, d = b[1:3], b.detach()
    v.share_memory_()
    b.fill_(3)
    return [(t.is_shared(), t.tolist(), t.untyped_storage().nbytes()) for t in (b, v, d, b.data, b.clone())]


def leaves(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.share_memory_()
    y.sum().backward()
    return (
        x.is_shared(),
        y.is_shared(),
        x.grad.tolist(),
        x.share_memory_() is x,
        x.is_shared(),
        x.grad.is_shared(),
    )


def modules(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    weight = m[0].weight
    m.share_memory()
    shared = [t.is_shared() for t in [*m.parameters(), *m.buffers()]]
    return shared, m[0].weight is weight, sum(p.numel() for p in sent(m).parameters())


def meta(torch):
    x = torch.empty(2, 3, device="meta")
    there = sent(x.t())
    return x.is_shared(), tuple(there.shape), there.stride(), there.is_meta


PROGRAMS = [empties, views, leaves, modules, meta]


def run(program, name):
    torch = importlib.import_module(name)
    importlib.import_module(name + ".multiprocessing")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program(torch)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_same_program_gives_the_same(program):
    assert run(program, "teachtorch") == run(program, "torch")


TENSORS = {
    "0-d": lambda torch: torch.tensor(1.5),
    "bfloat16": lambda torch: torch.ones(2, dtype=torch.bfloat16),
    "bool": lambda torch: torch.tensor([True, False]),
    "transposed": lambda torch: torch.arange(6.0).view(2, 3).t(),
    "expanded": lambda torch: torch.ones(2, 1).expand(2, 3),
    "slice": lambda torch: torch.arange(10)[2:8:3],
    "leaf": lambda torch: torch.ones(2, requires_grad=True),
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(2, 2)),
    "frozen parameter": lambda torch: torch.nn.Parameter(torch.ones(2), requires_grad=False),
    "no_grad result": lambda torch: _no_grad(torch),
}


def _no_grad(torch):
    with torch.no_grad():
        return torch.ones(2, requires_grad=True) * 2


@pytest.mark.parametrize("name", TENSORS)
def test_the_same_travels(name):
    assert run(lambda torch: facts(sent(TENSORS[name](torch))), "teachtorch") == run(
        lambda torch: facts(sent(TENSORS[name](torch))), "torch"
    )


REFUSED = {
    "non-leaf": lambda torch: sent(torch.ones(2, requires_grad=True) * 2),
    "meta storage": lambda torch: sent(torch.empty(2, device="meta").untyped_storage()),
    "sharing meta": lambda torch: torch.empty(2, device="meta").share_memory_(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_same_is_refused_in_the_same_words(name):
    said = []
    for library in ("teachtorch", "torch"):
        with pytest.raises(RuntimeError) as caught:
            run(REFUSED[name], library)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_same_names():
    ours, theirs = (importlib.import_module(f"{name}.multiprocessing") for name in ("teachtorch", "torch"))
    assert set(theirs.__all__) == set(ours.__all__)
    assert ours.get_all_sharing_strategies() == theirs.get_all_sharing_strategies()
    assert ours.get_sharing_strategy() == theirs.get_sharing_strategy()
    for name in (
        "spawn",
        "start_processes",
        "ProcessContext",
        "ProcessRaisedException",
        "ProcessExitedException",
    ):
        assert hasattr(ours, name)
