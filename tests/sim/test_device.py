"""Modules, optimizers, files, copies and processes on sim: the device is as good as the CPU."""

import copy
import io
import multiprocessing
import pickle
import subprocess
import sys
import threading

import pytest

import teachtorch as torch
from teachtorch import sim

nn = torch.nn


def trained(device, steps=5, **options):
    """Weights after a few steps of a small network."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"foreach": False}, {"fused": True}], ids=str)
def test_training_gives_the_weights_of_the_cpu(options):
    ours, expected = trained("sim", **options).state_dict(), trained("cpu", foreach=False).state_dict()
    for name, value in expected.items():
        assert ours[name].device == torch.device("sim", 0)
        assert torch.allclose(ours[name].cpu(), value, atol=1e-5), name


def test_foreach_is_one_launch_for_a_list():
    tensors, launches = [torch.ones(4, device="sim") for _ in range(10)], []
    with torch.core.observer.watching(lambda topic, fields: launches.append(fields["action"]), "stream"):
        torch._foreach_mul_(tensors, 2.0)
    assert launches.count("launch") == 1
    assert all(t.tolist() == [2] * 4 for t in tensors)


def test_state_dict_goes_to_a_file_and_back():
    model, file = trained("sim", 1), io.BytesIO()
    torch.save(model.state_dict(), file)
    for where, device in ((None, "sim:0"), ("cpu", "cpu"), ("sim", "sim:0")):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert str(loaded["0.weight"].device) == device
        assert torch.equal(loaded["0.weight"].cpu(), model[0].weight.detach().cpu())


def test_deepcopy_has_memory_of_its_own():
    x = torch.ones(4, device="sim", requires_grad=True)
    y = copy.deepcopy(x)
    with torch.no_grad():
        x.zero_()
    assert y.tolist() == [1] * 4 and y.requires_grad and y.device == x.device


def test_gradient_of_a_cpu_scalar_comes_back_to_the_cpu():
    scale = torch.tensor(2.0, requires_grad=True)
    x = torch.ones(3, requires_grad=True)
    (x.to("sim") * scale).sum().backward()
    assert (scale.grad.device.type, scale.grad.item()) == ("cpu", 3)
    assert (x.grad.device.type, x.grad.tolist()) == ("cpu", [2] * 3)


def test_loader_pins_and_the_copy_is_asynchronous():
    loader = torch.utils.data.DataLoader(torch.arange(8.0), batch_size=4, pin_memory=True)
    batches = [batch.to("sim", non_blocking=True) for batch in loader]
    assert [batch.tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_default_device_and_names():
    with torch.device("sim"):
        x = torch.zeros(2)
    assert x.is_sim and not x.is_cpu and x.type() == "torch.sim.FloatTensor" and x.get_device() == 0
    assert x.to("sim") is x and x.sim() is x and x.to("sim:0") is x
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert torch.accelerator.is_available() and torch.accelerator.device_count() == 1


def test_out_of_memory_is_said_and_survived():
    with pytest.raises(
        torch.OutOfMemoryError if hasattr(torch, "OutOfMemoryError") else RuntimeError, match="out of memory"
    ):
        torch.empty(1 << 30, device="sim")
    assert torch.ones(2, device="sim").tolist() == [1, 1]


# ---- threads and processes ---------------------------------------------------------------------------------


def stream_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("teachtorch-sim")]


def test_threads_start_at_first_use_and_stop():
    assert not stream_threads()
    torch.ones(2, device="sim").tolist()
    assert len(stream_threads()) == 1
    sim.stop()
    assert not stream_threads()
    assert torch.ones(2, device="sim").tolist() == [1, 1]


def test_process_ends_while_kernels_are_queued():
    program = (
        "import teachtorch as torch\nfrom teachtorch import sim\nx = torch.ones(4, device='sim')\n"
        "for _ in range(100):\n    sim.sleep(1.0)\nprint('done')"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stdout.strip(), found.stderr) == (0, "done", "")


def use_in_child(answers, x):
    answers.put((torch.ones(3).sum().item(), refusal_of(lambda: x + 1)))


def refusal_of(call):
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return None


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_forked_child_has_the_cpu_and_is_told_about_sim():
    x = torch.ones(4, device="sim")
    sim.synchronize()
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=use_in_child, args=(answers, x))
    child.start()
    total, refusal = answers.get()
    child.join()
    assert child.exitcode == 0 and total == 3
    assert "Cannot re-initialize sim in forked subprocess" in refusal
    assert (x + 1).tolist() == [2] * 4


def test_loader_with_workers_after_sim_was_used():
    torch.ones(4, device="sim").tolist()
    loader = torch.utils.data.DataLoader(torch.arange(8.0), batch_size=4, num_workers=1, pin_memory=True)
    assert [batch.to("sim").sum().item() for batch in loader] == [6, 22]


def test_a_pickled_tensor_comes_back_onto_the_device():
    x = torch.arange(6.0, device="sim").reshape(2, 3).t()
    whole, part, parameter, empty = pickle.loads(
        pickle.dumps((x, x[1:], nn.Parameter(torch.ones(2, device="sim")), x[:0].clone()))
    )
    assert whole.device == torch.device("sim", 0) and whole.stride() == x.stride()
    assert whole.tolist() == x.tolist() and empty.shape == (0, 2)
    whole.zero_()
    assert part.tolist() == [[0, 0], [0, 0]]  # both look at one storage, as before
    assert x.sum().item() == 15
    assert isinstance(parameter, nn.Parameter) and parameter.is_sim and parameter.tolist() == [1, 1]
