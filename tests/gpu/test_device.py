"""What only a GPU can show: that the device's own route works. Numbers are compared with the CPU's.

Skipped where numba-cuda finds no GPU. Not run so far: no machine with one was there when this was written.
"""

import os

import numpy as np
import pytest

import teachtorch as torch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" or not torch.cuda.is_available(), reason="no GPU"
    ),
]


def near(found, expected, tolerance=1e-5):
    np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 100_003])
def test_pointwise(size):
    x = torch.randn(size)
    near(torch.tanh(x.cuda()) * 2 + x.cuda(), torch.tanh(x) * 2 + x)


@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (300, 1001)])
def test_reductions_softmax_layer_norm(shape):
    x = torch.randn(*shape)
    there = x.cuda()
    near(there.sum(), x.sum(), 1e-3)
    near(there.sum(0), x.sum(0), 1e-4)
    near(there.amax(1), x.amax(1))
    near(there.softmax(1), x.softmax(1))
    near(torch.nn.functional.layer_norm(there, shape[1:]), torch.nn.functional.layer_norm(x, shape[1:]), 1e-4)


@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 33, 65), (128, 256, 64)])
def test_products(shape):
    rows, depth, columns = shape
    a, b = torch.randn(rows, depth), torch.randn(columns, depth)
    near(a.cuda() @ b.cuda().t(), a @ b.t(), 1e-3)


def test_atomics():
    index, source = torch.randint(0, 10, (5000,)), torch.ones(5000)
    expected = torch.zeros(10).scatter_add(0, index, source)
    near(torch.zeros(10).cuda().scatter_add(0, index.cuda(), source.cuda()), expected)


def test_training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).cuda()
    x, y = torch.randn(256, 64).cuda(), torch.randint(0, 10, (256,)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    losses = []
    for _ in range(20):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_streams_events_and_pinned_copies():
    host = torch.randn(1 << 20).pin_memory()
    side, begin, end = (
        torch.cuda.Stream(),
        torch.cuda.Event(enable_timing=True),
        torch.cuda.Event(enable_timing=True),
    )
    with torch.cuda.stream(side):
        begin.record()
        there = host.to("cuda", non_blocking=True) + 1
        end.record()
    torch.cuda.current_stream().wait_stream(side)
    near(there * 2, (host + 1) * 2)
    end.synchronize()
    assert begin.elapsed_time(end) > 0


def test_memory_comes_back_to_the_cache():
    x = torch.empty(1 << 20, device="cuda")
    address, reserved = x.data_ptr(), torch.cuda.memory_reserved()
    del x
    assert (
        torch.empty(1 << 20, device="cuda").data_ptr() == address and torch.cuda.memory_reserved() == reserved
    )


def test_an_index_out_of_bounds_is_reported():
    with pytest.raises(torch.AcceleratorError, match="device-side assert"):
        torch.zeros(3).cuda().gather(0, torch.tensor([5]).cuda())
        torch.cuda.synchronize()


def test_a_stream_calls_a_function_of_the_host():
    called, side = [], torch.cuda.Stream()
    side.launch_host_function(lambda: called.append(1))
    side.synchronize()
    assert called == [1]


def test_a_side_stream_of_high_priority():
    side = torch.cuda.Stream(priority=-1)
    with torch.cuda.stream(side):
        x = torch.ones(1000, device="cuda") * 3
    side.synchronize()
    assert side.priority == -1 and x.sum().item() == 3000


def test_memory_on_another_thread():
    """A thread that has not met the GPU yet allocates and computes."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: (torch.ones(1 << 21, device="cuda") + 1).sum().item()).result() == 1 << 22


@pytest.mark.parametrize("shape", [(70_000, 2, 3, 2), (1, 1_100_000, 2, 3)])
def test_more_blocks_than_fit_along_y_and_z(shape):
    batch, rows, depth, columns = shape
    a, b = torch.randn(batch, rows, depth), torch.randn(batch, depth, columns)
    near(a.cuda() @ b.cuda(), a @ b, 1e-4)


def test_random_numbers_of_a_seed():
    torch.cuda.manual_seed(3)
    x = torch.rand(100_000, device="cuda")
    torch.cuda.manual_seed(3)
    assert torch.equal(x.cpu(), torch.rand(100_000, device="cuda").cpu())
    assert abs(x.mean().item() - 0.5) < 0.01 and 0 <= x.min().item() and x.max().item() < 1


def test_convolution_pools_and_norms():
    x, weight = torch.randn(8, 3, 33, 31), torch.randn(5, 3, 3, 3)
    functional = torch.nn.functional

    def network(x, weight):
        y = functional.max_pool2d(functional.conv2d(x, weight, stride=2, padding=1), 2)
        return functional.batch_norm(y, None, None, training=True).cumsum(2).std((0, 2))

    near(network(x.cuda(), weight.cuda()), network(x, weight), 1e-3)
