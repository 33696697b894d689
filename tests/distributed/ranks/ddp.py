"""DistributedDataParallel against one process that sees the joined batch."""

import copy
import warnings

import numpy as np
from reporting import run_checks

import teachtorch as torch
import teachtorch.distributed as dist
from teachtorch import nn
from teachtorch.core import observer
from teachtorch.distributed.algorithms.ddp_comm_hooks import default_hooks
from teachtorch.nn.parallel import DistributedDataParallel as DDP
from teachtorch.utils.checkpoint import checkpoint
from teachtorch.utils.data import DistributedSampler


class Tied(nn.Module):
    """Tied weights, a frozen layer, and a branch that is used by odd steps only."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.frozen = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.frozen.requires_grad_(False)
        self.sometimes, self.never, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 1)

    def forward(self, x, use=False):
        x = self.frozen(torch.tanh(self.second(torch.tanh(self.first(x)))))
        return self.last(self.sometimes(x) if use else x)


def seeded(make, seed=0):
    torch.manual_seed(seed)
    return make()


def mlp():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 1))


def batches(steps, rows=4):
    """[(the joined batch, this rank's part)] in float32, the same on every rank."""
    generator, size = np.random.default_rng(0), dist.get_world_size()
    joined = [
        torch.from_numpy(generator.standard_normal((size * rows, 6)).astype(np.float32)) for _ in range(steps)
    ]
    return [(x, x[dist.get_rank() * rows : (dist.get_rank() + 1) * rows]) for x in joined]


def close(a, b):
    for p, q in zip(a.parameters(), b.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=0, atol=1e-6), (p - q).abs().max()


def train(model, inputs, *extra):
    """Some steps of SGD on the mean of squares."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for i, x in enumerate(inputs):
        optimizer.zero_grad()
        model(x, *(part[i] for part in extra)).square().mean().backward()
        optimizer.step()
    return model


def check_same_as_one_process():
    for options in (
        {},
        {"bucket_cap_mb": 0.0005},
        {"gradient_as_bucket_view": True},
        {"static_graph": True},
        {"find_unused_parameters": True, "bucket_cap_mb": 0.0002},
    ):
        data = batches(5)
        alone = train(seeded(mlp), [joined for joined, _ in data])
        ddp = train(
            DDP(seeded(mlp, dist.get_rank()), **options)
            if dist.get_rank() == 0
            else DDP(seeded(mlp, 7), **options),
            [mine for _, mine in data],
        )
        close(alone, ddp.module)


def check_tied_frozen_and_unused():
    data = batches(4)
    use = [i % 2 == 1 for i in range(4)]
    alone = train(seeded(Tied), [joined for joined, _ in data], use)
    ddp = train(DDP(seeded(Tied), find_unused_parameters=True), [mine for _, mine in data], use)
    close(alone, ddp.module)
    assert ddp.module.never.weight.grad is None


def check_used_somewhere_counts_for_all():
    ddp, rank = DDP(seeded(Tied), find_unused_parameters=True), dist.get_rank()
    x = batches(1)[0][1]
    ddp(x, rank == 0).sum().backward()
    mine = ddp.module.sometimes.bias.grad.clone()
    dist.broadcast(mine, 0)
    assert torch.equal(mine, ddp.module.sometimes.bias.grad) and mine.abs().sum() > 0
    assert ddp.module.never.bias.grad is None


class Branches(nn.Module):
    """Two outputs, with a parameter each."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

    def forward(self, x):
        return {"a": self.a(x), "b": (self.b(x), "no tensor")}


def check_outputs_that_the_loss_leaves_out():
    """They need not take part if unused parameters are looked for; the next pass may take others."""
    ddp, rank = DDP(Branches(), find_unused_parameters=True), dist.get_rank()
    x, mean = torch.full((1, 1), rank + 1.0), sum(range(1, dist.get_world_size() + 1)) / dist.get_world_size()
    ddp(x)["a"].sum().backward()
    assert abs(ddp.module.a.weight.grad.item() - mean) < 1e-6 and ddp.module.b.weight.grad is None
    ddp(x)["b"][0].sum().backward()
    assert abs(ddp.module.a.weight.grad.item() - mean) < 1e-6 and abs(ddp.module.b.weight.grad.item() - mean) < 1e-6
    found = ddp(x)
    assert found["b"][1] == "no tensor"
    (found["a"] + found["b"][0]).sum().backward()
    assert abs(ddp.module.a.weight.grad.item() - 2 * mean) < 1e-6


def check_no_sync_adds_up():
    w = nn.Linear(1, 1, bias=False)
    ddp, rank, size = DDP(w), dist.get_rank(), dist.get_world_size()
    with ddp.no_sync():
        ddp(torch.tensor([[rank + 1.0]])).sum().backward()
    assert w.weight.grad.item() == rank + 1
    ddp(torch.tensor([[10.0 * (rank + 1)]])).sum().backward()
    expected = sum(11.0 * (r + 1) for r in range(size)) / size
    assert abs(w.weight.grad.item() - expected) < 1e-6
    if size == 2:
        assert w.weight.grad.item() == 16.5


def check_buffers_follow_rank_0():
    model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    ddp = DDP(model)
    for _, mine in batches(2):
        ddp(mine + dist.get_rank()).sum().backward()
    mean = model[1].running_mean.clone()
    ddp.eval()
    ddp(mine)
    zero = model[1].running_mean.clone()
    dist.broadcast(zero, 0)
    assert torch.equal(zero, model[1].running_mean)
    assert dist.get_rank() == 0 or not torch.equal(mean, zero)


def check_two_forwards_one_backward():
    ddp, alone = DDP(seeded(mlp)), seeded(mlp)
    (first, a), (second, b) = batches(2)
    (ddp(a).mean() + ddp(b).mean()).backward()
    (alone(first).mean() + alone(second).mean()).backward()
    for p, q in zip(ddp.parameters(), alone.parameters()):
        assert torch.allclose(p.grad, q.grad, rtol=0, atol=1e-6)


def check_buckets_are_rebuilt_in_ready_order():
    ddp = DDP(seeded(mlp), bucket_cap_mb=0.0002)
    seen = []
    with observer.watching(lambda topic, fields: seen.append(dict(fields)), "ddp"):
        assert len(ddp.reducer.buckets) == 1
        for _, mine in batches(3):
            ddp(mine).sum().backward()
    # Six parameters; the last layer's are ready first. 200 bytes a bucket.
    indices = [i for bucket in ddp.reducer.buckets for i in bucket.indices]
    assert sorted(indices) == list(range(6)) and set(indices[:2]) == {4, 5}
    assert len(ddp.reducer.buckets) > 1
    launched = [e["bucket"] for e in seen if e["phase"] == "launch"]
    assert launched == [0] + 2 * list(range(len(ddp.reducer.buckets)))


def check_launches_keep_the_order_of_buckets():
    class Backwards(nn.Module):
        """Used in the order of registration's end to its beginning: the first bucket is ready last."""

        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])

        def forward(self, x):
            for layer in reversed(self.layers):
                x = layer(x)
            return x

    ddp, seen = DDP(Backwards(), find_unused_parameters=True, bucket_cap_mb=0.0001), []
    with observer.watching(lambda topic, fields: seen.append(fields), "ddp"):
        ddp(batches(1)[0][1]).sum().backward()
    ready = [fields["bucket"] for fields in seen if fields["phase"] == "ready"]
    launched = [fields["bucket"] for fields in seen if fields["phase"] == "launch"]
    assert launched == list(range(len(ddp.reducer.buckets))) and ready[0] >= 2, (launched, ready)


def check_unused_parameters_are_an_error():
    ddp = DDP(seeded(Tied))
    x = batches(1)[0][1]
    ddp(x).sum().backward()
    try:
        ddp(x)
    except RuntimeError as error:
        assert "Expected to have finished reduction in the prior iteration" in str(error)
        assert "sometimes.weight" in str(error) and "never.bias" in str(error)
    else:
        raise AssertionError("no error")


def check_ready_twice_is_an_error():
    ddp = DDP(nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6)))
    layer = ddp.module[0]
    x = batches(1)[0][1].requires_grad_()
    ddp.reducer.prepare_for_backward(())
    try:
        twice = checkpoint(layer, checkpoint(layer, x, use_reentrant=True), use_reentrant=True)
        twice.sum().backward()
    except RuntimeError as error:
        assert "marked as ready twice" in str(error) and "0.weight" in str(error) or "0.bias" in str(error)
    else:
        raise AssertionError("no error")


def check_static_graph_allows_checkpoint_and_unused():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            for _ in range(2):
                x = checkpoint(self.used, x, use_reentrant=True)
            return x

    ddp, alone = DDP(seeded(Twice), static_graph=True), seeded(Twice)
    for joined, mine in batches(3):
        ddp.zero_grad()
        alone.zero_grad()
        ddp(mine.requires_grad_()).mean().backward()
        alone(joined.requires_grad_()).mean().backward()
        assert torch.allclose(ddp.module.used.weight.grad, alone.used.weight.grad, rtol=0, atol=1e-6)
        assert ddp.module.unused.weight.grad is None


def check_communication_hooks():
    x, rank = batches(1)[0], dist.get_rank()
    plain = seeded(mlp)
    plain(x[0]).mean().backward()
    for hook, tolerance in (
        (default_hooks.allreduce_hook, 1e-6),
        (default_hooks.fp16_compress_hook, 2e-3),
        (default_hooks.bf16_compress_hook, 2e-2),
        (default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook), 2e-3),
    ):
        ddp = DDP(seeded(mlp))
        ddp.register_comm_hook(None, hook)
        ddp(x[1]).mean().backward()
        for p, q in zip(ddp.parameters(), plain.parameters()):
            assert torch.allclose(p.grad, q.grad, rtol=0, atol=tolerance), (rank, hook)


def check_power_sgd():
    """Gradients of rank 1 survive in full; others are compressed, and what is lost comes later."""
    from teachtorch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook

    torch.manual_seed(dist.get_rank())
    rows, columns, full = torch.randn(1, 8), torch.randn(1, 12), torch.randn(4, 8, 12)
    layer = nn.Linear(12, 8)
    ddp, state = DDP(layer), PowerSGDState(None, start_powerSGD_iter=2)
    ddp.register_comm_hook(state, powerSGD_hook)
    dist.broadcast(rows, 0)
    for _ in range(4):  # x and the gradient of the output: the weight's gradient is their product
        layer.zero_grad()
        x = columns * (1 + dist.get_rank())
        (ddp(x) * rows).sum().backward()
        expected = rows.t() @ x
        dist.all_reduce(expected)
        assert torch.allclose(layer.bias.grad, rows[0], rtol=0, atol=1e-5)
        assert torch.allclose(layer.weight.grad, expected / dist.get_world_size(), rtol=0, atol=1e-4)
    assert state.iter == 4 and state.compression_stats()[0] > 2
    sums = [torch.zeros(8, 12), torch.zeros(8, 12)]
    for step in range(40):  # full rank: one step is wrong, the sum of many is not
        layer.zero_grad()
        ddp(torch.eye(12)).mul(full[step % 4].t()).sum().backward()
        mean = full[step % 4].clone()
        dist.all_reduce(mean)
        sums = [sums[0] + layer.weight.grad, sums[1] + mean / dist.get_world_size()]
    assert not torch.allclose(layer.weight.grad, mean / dist.get_world_size(), atol=1e-2)
    assert (sums[0] - sums[1]).norm() < 0.5 * sums[1].norm()
    same = layer.weight.grad.clone()
    dist.broadcast(same, 0)
    assert torch.equal(same, layer.weight.grad)


def check_mismatched_models_are_named():
    odd = dist.get_rank() == dist.get_world_size() - 1
    for model, word in (
        (nn.Sequential(nn.Linear(2, 3 if odd else 2)), "0.weight"),
        (nn.Sequential(*[nn.Linear(2, 2) for _ in range(1 if odd else 2)]), "1.weight"),
    ):
        try:
            DDP(model)
        except RuntimeError as error:
            assert word in str(error), error
        else:
            raise AssertionError("no error")


def check_gradients_as_views():
    ddp = DDP(seeded(mlp), gradient_as_bucket_view=True)
    for _, mine in batches(2):
        ddp.zero_grad(set_to_none=False)
        ddp(mine).sum().backward()
    for bucket in ddp.reducer.buckets:
        for parameter, view in zip(bucket.parameters, bucket.views):
            assert parameter.grad.data_ptr() == view.data_ptr()


def normed():
    return nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 4), nn.BatchNorm1d(4))


def check_sync_batchnorm_is_batchnorm_of_the_joined_batch():
    data, head = batches(4), seeded(lambda: nn.Linear(4, 1))
    model = nn.SyncBatchNorm.convert_sync_batchnorm(seeded(normed))
    assert [type(part).__name__ for part in model].count("SyncBatchNorm") == 2
    alone = train(nn.Sequential(seeded(normed), copy.deepcopy(head)), [joined for joined, _ in data])
    ddp = train(DDP(nn.Sequential(model, copy.deepcopy(head))), [mine for _, mine in data])
    close(alone, ddp.module)
    for ours, theirs in zip(ddp.module.buffers(), alone.buffers(), strict=True):
        assert torch.allclose(ours, theirs, rtol=0, atol=1e-6)
    alone.eval(), ddp.eval()
    assert torch.allclose(alone(data[0][1]), ddp(data[0][1]), rtol=0, atol=1e-6)


def check_sync_batchnorm_of_uneven_parts():
    """Ranks with 0, 1, 2... images: results and gradients of the inputs are those of all images together."""
    rank, size = dist.get_rank(), dist.get_world_size()
    starts = [r * (r - 1) // 2 for r in range(size + 1)]
    shape = 2, starts[size], 3, 2, 2
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    own = slice(starts[rank], starts[rank + 1])
    for options in (
        {},
        {"affine": False},
        {"momentum": None},
        {"track_running_stats": False},
        {"bias": False},
    ):
        whole, part = (torch.from_numpy(values[0][k]).requires_grad_() for k in (slice(None), own))
        sync, plain = nn.SyncBatchNorm(3, **options), nn.BatchNorm2d(3, **options)
        ours, theirs = sync(part), plain(whole)
        ours.backward(torch.from_numpy(values[1][own]))
        theirs.backward(torch.from_numpy(values[1]))
        assert torch.allclose(ours, theirs[own], rtol=0, atol=2e-6)
        assert torch.allclose(part.grad, whole.grad[own], rtol=0, atol=2e-6)
        for p, q in zip(sync.parameters(), plain.parameters(), strict=True):
            dist.all_reduce(p.grad)
            assert torch.allclose(p.grad, q.grad, rtol=0, atol=1e-5)
        for p, q in zip(sync.buffers(), plain.buffers(), strict=True):
            assert torch.allclose(p, q, rtol=0, atol=1e-6)


def check_sampler_asks_the_group():
    sampler = DistributedSampler(range(7), shuffle=False)
    rank, size = dist.get_rank(), dist.get_world_size()
    padded = (list(range(7)) * 2)[: len(sampler) * size]
    assert list(sampler) == padded[rank::size]


if __name__ == "__main__":
    warnings.simplefilter("error")
    run_checks([function for name, function in list(globals().items()) if name.startswith("check_")])
