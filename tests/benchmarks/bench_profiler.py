"""What profiling costs: a training step without a profile, with one, and with shapes and memory; beside PyTorch's.

    PYTHONPATH=. python tests/benchmarks/bench_profiler.py

Goal: at most twice the time while it records. Minimum over rounds. While nothing records, the cost is one
`if observer.active` for each call, which bench_speed.py includes.
"""

import importlib
import sys
import time

STEPS, ROUNDS = 10, 5


def best(function):
    function()
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def training(torch, batch):
    """A function that trains a small network for STEPS steps."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(batch, 64), torch.zeros(batch, dtype=torch.int64)

    def steps():
        for _ in range(STEPS):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return steps


def profiled(torch, steps, **options):
    def run():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options):
            steps()
    return run


def main(engines=("teachtorch", "torch")):
    for name in engines:
        torch = importlib.import_module(name)
        for batch in (8, 512):
            steps = training(torch, batch)
            plain = best(steps)
            on = best(profiled(torch, steps)) / plain
            full = best(profiled(torch, steps, record_shapes=True, profile_memory=True)) / plain
            print(f"{name:<11} batch {batch:>4}: {plain / STEPS * 1e3:7.3f} ms a step, recorded x {on:.2f}, "
                  f"with shapes and memory x {full:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ("teachtorch", "torch"))
