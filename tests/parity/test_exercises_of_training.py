"""The reference solutions of chapters 11 and 12 against PyTorch itself."""

import random

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from tests.parity.solutions import solution  # noqa: E402


GRADIENTS = np.random.default_rng(0).standard_normal((6, 3))


def path_of(optimizer, p):
    """The values after each step of PyTorch's optimizer."""
    for gradient in GRADIENTS:
        p.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
        yield p.detach().numpy().copy()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.3},
        {"momentum": 0.9, "nesterov": True},
        {"momentum": 0.5, "weight_decay": 0.2, "maximize": True},
        {"weight_decay": 0.3},
    ],
)
def test_sgd(options):
    start = torch.nn.Parameter(torch.arange(1.0, 4.0, dtype=torch.float64))
    ours, buffer = np.arange(1.0, 4.0), None
    for gradient, wanted in zip(
        GRADIENTS, path_of(torch.optim.SGD([start], lr=0.1, **options), start), strict=True
    ):
        buffer = solution("sgd").sgd_step(ours, gradient, buffer, 0.1, **options)
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "kind, options",
    [
        ("Adam", {}),
        ("Adam", {"weight_decay": 0.1}),
        ("Adam", {"amsgrad": True, "betas": (0.5, 0.5), "eps": 1e-2}),
        ("AdamW", {"weight_decay": 0.1}),
        ("AdamW", {"amsgrad": True, "weight_decay": 0.3}),
    ],
)
def test_adam(kind, options):
    start = torch.nn.Parameter(torch.arange(1.0, 4.0, dtype=torch.float64))
    ours, state = np.arange(1.0, 4.0), {}
    theirs = path_of(getattr(torch.optim, kind)([start], lr=0.1, **options), start)
    for gradient, wanted in zip(GRADIENTS, theirs, strict=True):
        solution("adam").adam_step(ours, gradient, state, lr=0.1, decoupled=kind == "AdamW", **options)
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_none_or_zero():
    module = solution("none_or_zero")
    p, q = torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64)), module.Parameter(1.0)
    theirs, ours = torch.optim.SGD([p], 0.1, 0.9, weight_decay=0.1), module.Momentum([q], 0.1, 0.9, 0.1)
    for gradient in (None, 1.0, 0.0, None, 0.0):
        p.grad = None if gradient is None else torch.tensor(gradient, dtype=torch.float64)
        q.grad = gradient
        theirs.step()
        ours.step()
        assert q.value == pytest.approx(p.item(), rel=1e-12)


def rates(make, epochs):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler = make(optimizer)
    for _ in range(epochs):
        yield scheduler.get_last_lr()[0]
        optimizer.step()
        scheduler.step()


def test_schedules():
    module, schedule = solution("schedules"), torch.optim.lr_scheduler
    pairs = [
        (lambda e: module.step(e, 3, 0.1), lambda o: schedule.StepLR(o, 3, 0.1)),
        (lambda e: module.multistep(e, [2, 2, 4], 0.1), lambda o: schedule.MultiStepLR(o, [2, 2, 4], 0.1)),
        (lambda e: module.linear(e, 1 / 3, 4), lambda o: schedule.LinearLR(o, 1 / 3, total_iters=4)),
        (lambda e: module.cosine(e, 1.0, 0.1, 4), lambda o: schedule.CosineAnnealingLR(o, 4, 0.1)),
    ]
    for ours, make in pairs:
        assert [ours(epoch) for epoch in range(13)] == pytest.approx(list(rates(make, 13)), rel=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max"},
        {"threshold": 0.2},
        {"threshold": 0.2, "threshold_mode": "abs", "mode": "max"},
        {"cooldown": 2},
        {"min_lr": 0.05},
    ],
)
def test_plateau(options):
    rng = random.Random(0)
    metrics = [rng.uniform(0.5, 2.0) for _ in range(40)]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2, eps=0.0, **options)
    ours = solution("plateau").Plateau(1.0, factor=0.5, patience=2, **options)
    for metric in metrics:
        theirs.step(metric)
        ours.step(metric)
        assert ours.lr == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)


def test_state_by_index():
    params = [torch.nn.Parameter(torch.ones(n)) for n in (2, 3, 1)]
    optimizer = torch.optim.Adam([{"params": params[:2]}, {"params": params[2:]}])
    for p in (params[0], params[2]):
        p.grad = torch.ones_like(p)
    optimizer.step()
    arrays = [p.detach().numpy() for p in params]
    groups = [{"params": arrays[:2], "lr": 1e-3}, {"params": arrays[2:], "lr": 1e-3}]
    state = {id(arrays[k]): {"step": 1} for k in (2, 0)}
    ours, theirs = solution("state_by_index").state_dict(groups, state), optimizer.state_dict()
    assert sorted(ours["state"]) == sorted(theirs["state"])
    assert [g["params"] for g in ours["param_groups"]] == [g["params"] for g in theirs["param_groups"]]


def test_samplers():
    module, data = solution("samplers"), torch.utils.data
    for count in (1, 2, 5, 6, 9):
        for drop in (False, True):
            assert module.batches(list(range(count)), 2, drop) == list(
                data.BatchSampler(range(count), 2, drop)
            )
        for replicas in (1, 2, 4):
            for rank in range(replicas):
                wanted = list(data.DistributedSampler(range(count), replicas, rank, shuffle=False))
                assert module.distributed(count, replicas, rank) == wanted


def test_sharding():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            return solution("sharding").shard(range(10), info and (info.id, info.num_workers))

    for drop in (False, True):
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(Stream(), 4, num_workers=workers, drop_last=drop)
            assert len(list(loader)) == solution("sharding").batches(10, 4, workers, drop)


def test_seeding():
    class Seeds(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return torch.utils.data.get_worker_info().seed

    loader = torch.utils.data.DataLoader(Seeds(), num_workers=2, generator=torch.Generator().manual_seed(3))
    found = [[int(batch) for batch in loader] for _ in range(2)]
    generator = torch.Generator().manual_seed(3)

    def draw():
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator))

    assert solution("seeding").epoch_seeds(draw, 2, 2) == found


COLLATED = [
    [1.5, 2.5],
    [1, 2],
    [True, False],
    ["a", "b"],
    [(1, 2.0), (3, 4.0)],
    [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
]


def as_lists(value):
    """Values and types inside; arrays and tensors alike, a column of text as a list."""
    if isinstance(value, dict):
        return {key: as_lists(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_lists(each) for each in value]
    return (str(value.dtype).removeprefix("torch."), value.tolist()) if hasattr(value, "dtype") else value


@pytest.mark.parametrize("batch", COLLATED, ids=str)
def test_collate(batch):
    assert as_lists(solution("collate").collate(batch)) == as_lists(torch.utils.data.default_collate(batch))
