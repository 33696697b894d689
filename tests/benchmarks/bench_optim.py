"""AdamW over 200 tensors of 64x64, in three implementations, against PyTorch: `python -m tests.benchmarks.bench_optim`.

The two libraries take turns; the median over the rounds of a round's best is printed, the ratio ours /
PyTorch's, the ratio promised, and how many kernels a step launches. Run it on a quiet machine.
"""
import argparse
import importlib
import statistics
import time

import numpy as np

from teachtorch.optim.launches import counting_launches

IMPLEMENTATIONS = {"for-loop": ({"foreach": False, "fused": False}, 1.5), "foreach": ({"foreach": True}, 1.5),
                   "fused": ({"fused": True}, 1.0), "default": ({}, 1.5)}


def step_of(torch, options):
    values = np.random.default_rng(0)
    params = [torch.nn.Parameter(torch.from_numpy(values.standard_normal((64, 64)).astype(np.float32)))
              for _ in range(200)]
    for p in params:
        p.grad = torch.from_numpy(values.standard_normal((64, 64)).astype(np.float32))
    return torch.optim.AdamW(params, lr=1e-3, **options).step


def best(function, calls):
    shortest = float("inf")
    for _ in range(calls):
        begin = time.perf_counter()
        function()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def compare(options, rounds):
    """(ours, PyTorch's, ratio) in seconds: medians over the rounds."""
    steps = [step_of(importlib.import_module(name), options) for name in ("teachtorch", "torch")]
    for step in steps:
        best(step, 5)                                    # compile, make the states
    times = [[best(step, 5) for step in steps] for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*times))
    return ours, theirs, statistics.median(a / b for a, b in times)


def launches(options):
    step = step_of(importlib.import_module("teachtorch"), options)
    step()
    with counting_launches() as counts:
        step()
    return sum(counts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for name, (options, target) in IMPLEMENTATIONS.items():
        ours, theirs, ratio = compare(options, rounds)
        verdict = "" if ratio <= target else "   too slow"
        print(f"{name:10} {ours * 1e3:8.2f} ms {theirs * 1e3:8.2f} ms   {ratio:5.2f} (at most {target})   "
              f"{launches(options):5} launches{verdict}")


if __name__ == "__main__":
    main()
