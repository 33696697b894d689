"""Measure teachtorch on a GPU, and write the figures with the card's name to tests/gpu/figures/.

    python -m tests.gpu.measure

    bandwidth   bytes per second of a pointwise kernel and of a copy within the device, the same bytes
    launch      microseconds of the host per launch of a small kernel
    iteration   milliseconds of the first iterations of a training loop, and how often each asked the device
                for memory
    product     TFLOP/s of the naive and of the tiled matrix product, and of cuBLAS where it is installed

Times are taken with events around many launches, the least of several rounds, after a warm-up. Not run so
far: there was no GPU at hand.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import teachtorch as torch
from teachtorch.kernels.cuda import gemm, matmul
from teachtorch.kernels.cuda.arrays import Strided
from teachtorch.memory.runtime import runtime_of

FIGURES = Path(__file__).parent / "figures"
ROUNDS, LAUNCHES = 5, 20


def seconds(function):
    """Seconds of the device per call: the least of ROUNDS, each of LAUNCHES calls between two events."""
    function()
    torch.cuda.synchronize()
    return min(one_round(function) for _ in range(ROUNDS))


def one_round(function):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(LAUNCHES):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / LAUNCHES


def bandwidth():
    """GB/s of `x.add_(1)` and of a device copy: each reads and writes every byte once."""
    x, y = torch.zeros(1 << 26, device="cuda"), torch.zeros(1 << 26, device="cuda")
    moved = 2 * x.numel() * 4 / 1e9
    runtime = runtime_of("cuda")
    return {
        "pointwise GB/s": moved / seconds(lambda: x.add_(1)),
        "copy GB/s": moved / seconds(lambda: runtime.copy(y.data_ptr(), x.data_ptr(), x.numel() * 4, 0)),
    }


def launch_cost():
    """Microseconds that the host spends on `x.add_(1)` of one element."""
    x = torch.zeros(1, device="cuda")
    x.add_(1)
    torch.cuda.synchronize()
    times = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        for _ in range(LAUNCHES):
            x.add_(1)
        times.append((perf_counter() - begin) / LAUNCHES)
        torch.cuda.synchronize()
    return {"host us per launch": min(times) * 1e6}


def iterations():
    """The first iterations against the later ones: what the caching allocator saves."""
    linear = torch.nn.Linear
    model = torch.nn.Sequential(linear(1024, 4096), torch.nn.ReLU(), linear(4096, 1024)).to("cuda")
    optimizer, x = (
        torch.optim.SGD(model.parameters(), lr=0.1, fused=True),
        torch.randn(256, 1024, device="cuda"),
    )
    rows = []
    for _ in range(6):
        asked, begin = torch.cuda.memory_stats().get("num_device_alloc", 0), perf_counter()
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
        rows.append(
            {
                "ms": (perf_counter() - begin) * 1e3,
                "asked the device": torch.cuda.memory_stats()["num_device_alloc"] - asked,
            }
        )
    return {"iterations (the first one also compiles kernels)": rows}


def products(size=2048):
    """TFLOP/s of our two kernels."""
    a, b, out = [torch.randn(size, size, device="cuda") for _ in range(3)]
    runtime = runtime_of("cuda")
    shape, strides = (1, size, size), (0, size, 1)
    left, right, target = [
        Strided(runtime.array(t.data_ptr(), size * size, "float32"), shape, strides) for t in (a, b, out)
    ]
    stream = runtime.stream(0)
    tera = 2 * size**3 / 1e12
    by_library = {}
    if gemm.library() is not None:
        by_library["cuBLAS TFLOP/s"] = tera / seconds(lambda: gemm.multiply(target, left, right, stream))
    return {
        **by_library,
        "naive TFLOP/s": tera / seconds(lambda: matmul.run(target, left, right, "naive", stream)),
        "tiled TFLOP/s": tera / seconds(lambda: matmul.run(target, left, right, "tiled", stream)),
    }


def main():
    if not torch.cuda.is_available():
        sys.exit("no GPU here: nothing measured")
    if torch.cuda.get_device_name().endswith("simulator"):
        sys.exit("the simulator has no times: nothing measured")
    figures = {"card": torch.cuda.get_device_name(), "teachtorch": torch.__version__}
    for part in (bandwidth, launch_cost, iterations, products):
        figures.update(part())
    file = FIGURES / f"{figures['card'].replace(' ', '_')}.json"
    FIGURES.mkdir(exist_ok=True)
    file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
