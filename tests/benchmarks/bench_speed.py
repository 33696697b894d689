"""The speed that the project promises, against PyTorch in the same run: `python -m tests.benchmarks.bench_speed`.

Each workload runs on both libraries in turn, in rounds; the median time of a round's best is printed, the ratio
ours / PyTorch's, and the ratio promised. Both use all cores. Run it on a quiet machine: a busy one slows the
interpreter more than it slows C++.
"""
import argparse
import importlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

WORKLOADS = {}


def workload(title, target):
    """Register a function of the library that returns the function to time."""
    def register(make):
        WORKLOADS[title] = (make, target)
        return make
    return register


def randn(torch, *shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@workload("a + b, 4x4, with autograd", 2)
def small_add(torch):
    a, b = randn(torch, 4, 4).requires_grad_(), randn(torch, 4, 4, seed=1)
    return lambda: a + b


@workload("(x @ w + b).relu().sum(), 8x8, forward + backward", 2)
def small_network(torch):
    x, w, b = randn(torch, 8, 8), randn(torch, 8, 8, seed=1).requires_grad_(), randn(torch, 8).requires_grad_()

    def step():
        w.grad = b.grad = None
        (x @ w + b).relu().sum().backward()
    return step


@workload("a + b, 4M float32", 1.1)
def large_add(torch):
    a, b = randn(torch, 4_000_000), randn(torch, 4_000_000, seed=1)
    return lambda: a + b


@workload("exp, 4M float32", 1)
def large_exp(torch):
    a = randn(torch, 4_000_000)
    return lambda: a.exp()


@workload("softmax + cross entropy, 2048x1000, forward + backward", 1.5)
def cross_entropy(torch):
    x = randn(torch, 2048, 1000).requires_grad_()
    y = torch.from_numpy(np.random.default_rng(0).integers(0, 1000, 2048))

    def step():
        x.grad = None
        torch.nn.functional.cross_entropy(x, y).backward()
    return step


@workload("MLP 64-128-64-10, batch 32, one SGD step", 2)
def training_step(torch):
    nn = importlib.import_module(torch.__name__ + ".nn")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    x, y = randn(torch, 32, 64), torch.from_numpy(np.random.default_rng(0).integers(0, 10, 32))

    def step():
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
    return step


@workload("backward of a chain of 1 000 additions", 1.5)
def chain(torch):
    x = torch.ones(1).requires_grad_()
    y = x
    for _ in range(1000):
        y = y + 1

    def step():
        x.grad = None
        y.backward(retain_graph=True)
    return step


def best(function, seconds):
    """The shortest of the calls made in `seconds`, in seconds; short calls are timed in groups."""
    begin = time.perf_counter()
    function()
    once = max(time.perf_counter() - begin, 1e-7)
    count = max(1, int(0.002 / once))
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(count):
            function()
        shortest = min(shortest, (time.perf_counter() - begin) / count)
    return shortest


def compare(make, rounds, seconds):
    """(ours, PyTorch's, ratio): medians over the rounds, in which the two take turns."""
    functions = [make(importlib.import_module(name)) for name in ("teachtorch", "torch")]
    for function in functions:
        best(function, 1.0)                          # compile, warm the caches
    times = [[best(function, seconds) for function in functions] for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*times))
    return ours, theirs, statistics.median(a / b for a, b in times)


def in_new_process(code, environment=None):
    """How long a Python process takes for `code`, by its own clock, in seconds."""
    environment = {**os.environ, **(environment or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)       # an installed package has its bytecode
    script = f"import time\nbegin = time.perf_counter()\n{code}\nprint(time.perf_counter() - begin)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                         env=environment)
    return float(run.stdout.split()[-1])


def import_times(rounds):
    in_new_process("import teachtorch")                    # writes the bytecode
    times = [(in_new_process("import teachtorch"), in_new_process("import torch")) for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*times))
    return ours, theirs, statistics.median(a / b for a, b in times)


FIRST_CALLS = """
import teachtorch as torch
x = torch.ones(4, 4)
slowest = 0
for call in (lambda: x + x, lambda: x.exp(), lambda: x @ x, lambda: x.softmax(1), lambda: x.sum(), lambda: x.sort(),
             lambda: torch.linalg.eigh(x), lambda: x[x > 0], lambda: torch.cat([x, x])):
    begin = time.perf_counter()
    call()
    slowest = max(slowest, time.perf_counter() - begin)
begin = time.perf_counter() - slowest
"""


def slowest_first_call():
    """The longest first call among common operators on small tensors, with nothing compiled before."""
    folder = tempfile.mkdtemp()
    try:
        return in_new_process(FIRST_CALLS, {"TEACHTORCH_CACHE": folder})
    finally:
        shutil.rmtree(folder)


def show(title, ours, theirs, ratio, target):
    verdict = "" if ratio <= target else "  MISSED"
    print(f"{title:56} {ours * 1e6:12.1f} us {theirs * 1e6:12.1f} us {ratio:7.2f} <= {target}{verdict}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in which the libraries take turns (5)")
    parser.add_argument("--seconds", type=float, default=0.5, help="seconds per library and round (0.5)")
    parser.add_argument("--only", default="", help="a part of the titles to run")
    options = parser.parse_args()
    print(f"{'':56} {'teachtorch':>15} {'PyTorch':>15} {'ratio':>7}    promised")
    for title, (make, target) in WORKLOADS.items():
        if options.only in title:
            show(title, *compare(make, options.rounds, options.seconds), target)
    if options.only in "import":
        show("import", *import_times(options.rounds), 0.5)
    if options.only in "first call":
        seconds = slowest_first_call()
        print(
            f"{'slowest first call on a small tensor, nothing cached':56} {seconds * 1e6:12.1f} us   promised: 500000 us"
        )


if __name__ == "__main__":
    main()
