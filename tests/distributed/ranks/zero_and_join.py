"""ZeroRedundancyOptimizer against the plain optimizer, and Join against its golden numbers."""

import copy
import warnings

from reporting import run_checks

import teachtorch as torch
import teachtorch.distributed as dist
from teachtorch import nn
from teachtorch.distributed.algorithms import Join, Joinable, JoinHook
from teachtorch.distributed.optim import ZeroRedundancyOptimizer
from teachtorch.nn.parallel import DistributedDataParallel as DDP


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))


def inputs(i):
    torch.manual_seed(100 * dist.get_rank() + i)
    return torch.randn(3, 6)


def step(ddp, optimizer, i):
    optimizer.zero_grad()
    ddp(inputs(i)).square().mean().backward()
    optimizer.step()


def same(a, b):
    return all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def check_zero_is_the_plain_optimizer_bit_for_bit():
    for kind, options in (
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        (torch.optim.Adam, {"lr": 0.1}),
        (torch.optim.AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    ):
        for as_view in (False, True):
            plain, sharded = DDP(model()), DDP(model())
            a = kind(plain.parameters(), **options)
            b = ZeroRedundancyOptimizer(
                sharded.parameters(), kind, parameters_as_bucket_view=as_view, **options
            )
            for i in range(4):
                step(plain, a, i)
                step(sharded, b, i)
            assert same(plain, sharded), (kind, as_view)


def check_zero_keeps_its_own_part_only():
    ddp = DDP(model())
    optimizer = ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.Adam, lr=0.1)
    step(ddp, optimizer, 0)
    mine = sum(p.numel() for p in optimizer.optim.state)
    total = torch.tensor([mine])
    dist.all_reduce(total)
    assert total.item() == sum(p.numel() for p in ddp.parameters())
    assert dist.get_world_size() == 1 or mine < total.item()


def check_zero_state_can_be_saved_and_loaded():
    plain, sharded, last = DDP(model()), DDP(model()), dist.get_world_size() - 1
    a = torch.optim.Adam(plain.parameters(), lr=0.1)
    b = ZeroRedundancyOptimizer(sharded.parameters(), torch.optim.Adam, lr=0.1)
    for i in range(2):
        step(plain, a, i)
        step(sharded, b, i)
    b.consolidate_state_dict(to=last)
    if dist.get_rank() != last:
        try:
            b.state_dict()
        except RuntimeError as error:
            assert "has not been consolidated" in str(error)
        else:
            raise AssertionError("no error")
    else:
        ours, theirs = b.state_dict(), a.state_dict()
        assert ours["param_groups"] == theirs["param_groups"] and list(ours["state"]) == list(theirs["state"])
        for index, state in theirs["state"].items():
            assert all(
                torch.equal(torch.as_tensor(state[key]), torch.as_tensor(ours["state"][index][key]))
                for key in state
            )
    again = ZeroRedundancyOptimizer(sharded.parameters(), torch.optim.Adam, lr=0.5)
    again.load_state_dict(copy.deepcopy(a.state_dict()))  # its tensors are the live ones
    step(plain, a, 2)
    step(sharded, again, 2)
    assert same(plain, sharded)


def check_zero_follows_schedulers_and_new_groups():
    plain, sharded = DDP(model()), DDP(model())
    made = []
    for ddp, make in (
        (plain, lambda p: torch.optim.SGD(p, lr=0.1)),
        (sharded, lambda p: ZeroRedundancyOptimizer(p, torch.optim.SGD, lr=0.1)),
    ):
        parameters = list(ddp.parameters())
        optimizer = make(parameters[:4])
        optimizer.add_param_group({"params": parameters[4:], "lr": 0.01})
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for i in range(3):
            step(ddp, optimizer, i)
            scheduler.step()
        made.append(optimizer)
    assert same(plain, sharded) and made[1].param_groups[1]["lr"] == made[0].param_groups[1]["lr"]


def check_join_golden_numbers():
    rank, size = dist.get_rank(), dist.get_world_size()
    if size != 2:
        return
    for divide, expected in ((True, [1, 2, 3, 2, 2.5]), (False, [1, 2, 3, 4, 5])):
        for older in (False, True):
            w = nn.Linear(1, 1, bias=False)
            ddp, got = DDP(w), []
            context = (
                ddp.join(divide_by_initial_world_size=divide)
                if older
                else Join([ddp], divide_by_initial_world_size=divide)
            )
            with context:
                for x in range(1, (3 if rank == 0 else 5) + 1):
                    ddp.zero_grad()
                    ddp(torch.tensor([[float(x)]])).sum().backward()
                    got.append(w.weight.grad.item())
            assert got == expected[: len(got)], (divide, got)


def uneven():
    """More inputs the higher the rank."""
    return range(2 + 2 * dist.get_rank())


def check_join_of_ddp_and_zero():
    trained = []
    for zero in (False, True):
        ddp = DDP(model(), bucket_cap_mb=0.0001)
        optimizer = (
            ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.Adam, lr=0.05)
            if zero
            else torch.optim.Adam(ddp.parameters(), lr=0.05)
        )
        with Join([ddp, optimizer] if zero else [ddp]):
            for i in uneven():
                step(ddp, optimizer, i)
        trained.append(ddp)
    assert same(*trained)
    weights = [torch.zeros_like(p) for p in trained[0].parameters()]
    for w, p in zip(weights, trained[0].parameters()):
        w.copy_(p.detach())
        dist.broadcast(w, 0)
        assert torch.equal(w, p)  # all ranks end with the weights of the last joiner


def check_join_with_buffers_unused_and_no_sync():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.norm, self.b = nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)
            self.c = nn.Linear(4, 1)

        def forward(self, x, other):
            x = self.norm(self.a(x))
            return self.c(x) if other else self.b(x)

    ddp = DDP(Branches(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    with Join([ddp]):
        for i in range(2 + 2 * dist.get_rank()):
            optimizer.zero_grad()
            if i % 2:
                ddp(inputs(i), i % 3 == 0).sum().backward()
            else:
                with ddp.no_sync():
                    ddp(inputs(i), False).sum().backward()
            optimizer.step()
    for state in [*ddp.module.parameters(), *ddp.module.buffers()]:
        first = state.detach().clone()
        dist.broadcast(first, 0)
        assert torch.equal(first, state)


class Counting(Joinable):
    """Counts inputs of all ranks, as in PyTorch's tutorial."""

    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)
        self.total, self.last = None, None

    def __call__(self):
        Join.notify_join_context(self)
        one = torch.ones(1)
        dist.all_reduce(one)
        self.count += one

    def join_hook(self, **kwargs):
        return CountingHook(self, kwargs.get("sync_max_count"))

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD


class CountingHook(JoinHook):
    def __init__(self, counter, sync_max_count):
        self.counter, self.sync_max_count = counter, sync_max_count

    def main_hook(self):
        dist.all_reduce(torch.zeros(1))

    def post_hook(self, is_last_joiner):
        self.counter.last = is_last_joiner
        if self.sync_max_count:
            dist.all_reduce(self.counter.count, dist.ReduceOp.MAX)


def check_join_of_ones_own():
    first, second = Counting(), Counting()
    with Join([first, second], sync_max_count=True):
        for _ in uneven():
            first()
            second()
    size = dist.get_world_size()
    counts = first.count.item(), second.count.item()
    assert counts == (sum(2 + 2 * r for r in range(size)),) * 2, counts
    assert first.last == (dist.get_rank() == size - 1)


def check_join_can_throw():
    counter, rank, size = Counting(), dist.get_rank(), dist.get_world_size()
    if size == 1:
        return
    try:
        with Join([counter], throw_on_early_termination=True):
            for _ in range(2 if rank == 0 else 4):
                counter()
    except RuntimeError as error:
        expected = (
            "Rank 0 exhausted all inputs."
            if rank == 0
            else "Detected at least one rank that exhausted inputs."
        )
        assert expected in str(error), error
    else:
        raise AssertionError("no error")


def check_join_switched_off():
    counter = Counting()
    with Join([counter], enable=False):
        counter()
    assert counter.last is None and counter.count.item() == dist.get_world_size()


if __name__ == "__main__":
    warnings.simplefilter("error")
    run_checks([function for name, function in list(globals().items()) if name.startswith("check_")])
