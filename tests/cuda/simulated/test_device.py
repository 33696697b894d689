"""Tensors on the device `cuda`: operators give what the CPU gives, memory comes from the caching allocator."""

import gc

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.core import observer
from teachtorch.dispatch.operator import registry
from teachtorch.memory.caching import allocator_of
from teachtorch.memory.runtime import runtime_of
from teachtorch.ops.on_cuda import kernel_of
from tests.sim.test_operators import (
    HOST_ONLY,
    OPERATORS,
    RANDOM,
    SAMPLES,
    UNINITIALISED,
    call,
    tensors_in,
)

# All operators with kernels of their own, and a few of the others, which all go the same way.
ON_THE_HOST = [
    "sort",
    "nonzero",
    "masked_select",
    "geometric_",
    "fill_diagonal_",
]
CHECKED = [n for n in OPERATORS if kernel_of(registry[n]) is not None] + ON_THE_HOST
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
# What the GPU's own kernels are for: of these no launch may go to the host.
OURS = [
    "add",
    "mul",
    "sub",
    "tanh",
    "exp",
    "gelu",
    "where",
    "sum",
    "sum_dim",
    "mean_dim",
    "amax",
    "_softmax",
    "_log_softmax",
    "_softmax_backward_data",
    "native_layer_norm",
    "mm",
    "bmm",
    "mv",
    "gather",
    "scatter_add",
    "embedding",
    "zeros",
    "full",
]


class Launches:
    """The names of what goes into streams."""

    def __enter__(self):
        self.names = []
        observer.subscribe(self.seen, "stream")
        return self.names

    def __exit__(self, *exc):
        observer.unsubscribe(self.seen)

    def seen(self, topic, fields):
        if fields["action"] == "launch":
            self.names.append(fields["launch"].name)


def same(found, expected, name=""):
    for a, b in zip(tensors_in(found), tensors_in(expected), strict=True):
        assert (tuple(a.shape), a.dtype) == (tuple(b.shape), b.dtype)
        assert a.stride() == b.stride() or not a.numel()
        if name not in RANDOM | UNINITIALISED:
            ours, theirs = [np.asarray(t.detach().cpu().tolist()) for t in (a, b)]
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [n for n in CHECKED if n not in HOST_ONLY])
def test_operators_give_what_the_cpu_gives(name):
    if not SAMPLES[name]:
        return
    sample = SAMPLES[name][0]
    expected, found = call(name, sample, "cpu", False)[1], call(name, sample, "cuda", False)[1]
    assert {str(t.device) for t in tensors_in(found)} <= {"cuda:0"}
    same(found, expected, name)


@pytest.mark.parametrize("name", OURS)
def test_kernels_of_our_own_are_used(name):
    with Launches() as names:
        call(name, SAMPLES[name][0], "cuda", False)
    assert name in names and f"{name} on the host" not in names


def trained(device):
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Linear(5, 6, bias=False),
        torch.nn.BatchNorm1d(6),
        torch.nn.GELU(),
        torch.nn.LayerNorm(6),
        torch.nn.Linear(6, 3),
    )
    x, y = torch.randn(4, 5), torch.tensor([0, 2, 1, 2])
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    losses = []
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [t.cpu() for t in model.state_dict().values()]


def test_training():
    (losses, state), (expected_losses, expected_state) = trained("cuda"), trained("cpu")
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    for found, expected in zip(state, expected_state, strict=True):
        np.testing.assert_allclose(found.tolist(), expected.tolist(), rtol=2e-3, atol=2e-4)


def test_memory_is_the_caching_allocators():
    x = torch.empty(1000, device="cuda")
    before = torch.cuda.memory_allocated()
    y = torch.empty(1000, device="cuda")
    address = y.data_ptr()
    assert torch.cuda.memory_allocated() - before == 4096 and address in allocator_of(y.device).live
    assert x.data_ptr() != address
    del y
    gc.collect()
    assert torch.cuda.memory_allocated() == before
    assert torch.empty(1000, device="cuda").data_ptr() == address


def test_no_room():
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total


def test_copies():
    x = torch.arange(12.0).reshape(3, 4)
    there = x.cuda()
    assert there.is_cuda and there.cuda() is there and str(there.device) == "cuda:0"
    assert there.t().cpu().tolist() == x.t().tolist() and there.t().cpu().stride() == (1, 4)
    there[1:, ::2] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x[1:, ::2] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert there.tolist() == x.tolist()
    back = torch.empty(3, 4, dtype=torch.int64)
    assert back.copy_(there).tolist() == x.long().tolist()
    pinned = x.pin_memory()
    assert pinned.cuda(non_blocking=True).cpu().tolist() == x.tolist()
    assert there.clone().tolist() == x.tolist() and there.to(torch.float64).dtype is torch.float64


def test_views_share_memory():
    x = torch.zeros(3, 4, device="cuda")
    x[:, 1].add_(2)
    x.t()[0] = 5
    assert x.tolist() == [[5, 2, 0, 0]] * 3


def test_an_index_out_of_bounds_is_told_at_the_next_synchronisation():
    x = torch.arange(3.0, device="cuda")
    with pytest.raises(torch.AcceleratorError, match="device-side assert"):
        x.gather(0, torch.tensor([1, 3], device="cuda"))
        torch.cuda.synchronize()
    assert x.gather(0, torch.tensor([1, 2], device="cuda")).tolist() == [1, 2]


def test_streams_and_events():
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        x = torch.ones(3, device="cuda") + 1
    event = side.record_event()
    torch.cuda.current_stream().wait_event(event)
    x.record_stream(torch.cuda.current_stream())
    event.synchronize()
    assert (
        event.query()
        and (x + 1).tolist() == [3, 3, 3]
        and torch.cuda.current_stream() == torch.cuda.default_stream()
    )
    called = []
    side.launch_host_function(lambda: called.append(1))
    torch.cuda.synchronize()
    assert called == [1]


def test_random_numbers_follow_the_seed():
    torch.cuda.manual_seed(5)
    first = torch.rand(4, device="cuda").tolist()
    torch.manual_seed(5)
    assert torch.rand(4, device="cuda").tolist() == first
    generator = torch.Generator("cuda").manual_seed(5)
    assert torch.rand(4, device="cuda", generator=generator).tolist() == first


def test_the_accelerator_of_this_process_is_still_sim():
    assert torch.accelerator.current_accelerator().type == "sim" and torch.cuda.is_available()
    assert torch.cuda.get_device_name() == "Numba CUDA simulator" and runtime_of("cuda").is_in_use
