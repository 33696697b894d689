"""What a launch on sim costs the host, and what a second stream gains.

    PYTHONPATH=. python tests/benchmarks/bench_sim.py

Goals: a launch of at most 20 microseconds; a pipeline of two streams at least 1.6 times as quick as one
stream, on two cores. Minimum over rounds. While launches are measured a host function keeps the stream's
thread asleep.
"""

import threading
import time

import teachtorch as torch
from teachtorch import sim


def launch_microseconds(call, launches=40, rounds=100):
    """The host's time for a launch, without any of the kernel's."""
    best = float("inf")
    for _ in range(rounds):
        sim.synchronize()
        gate = threading.Event()
        sim.current_stream().launch_host_function(gate.wait)
        start = time.perf_counter()
        for _ in range(launches):
            call()
        best = min(best, (time.perf_counter() - start) / launches)
        gate.set()
    return best * 1e6


def chain(x, length=6):
    for _ in range(length):
        x = (x * 0.5 + 1).tanh()
    return x


def pipeline_seconds(streams, x, chains=4):
    """Independent chains of kernels, dealt to the streams in turn."""
    sim.synchronize()
    start = time.perf_counter()
    for k in range(chains):
        with sim.stream(streams[k % len(streams)]):
            chain(x)
    sim.synchronize()
    return time.perf_counter() - start


def best(function, rounds=7):
    return min(function() for _ in range(rounds))


def main():
    a, b, cpu = torch.ones(100, device="sim"), torch.ones(100, device="sim"), torch.ones(100)
    calls = {
        "a + b": lambda: a + b,
        "a.add_(b)": lambda: a.add_(b),
        "a.relu()": lambda: a.relu(),
        "a.sum()": lambda: a.sum(),
    }
    for name, call in calls.items():
        print(f"launch of {name:10} {launch_microseconds(call):6.1f} us   (goal: 20)")
    print(f"a + b on the CPU     {launch_microseconds(lambda: cpu + cpu):6.1f} us")
    x, one, other = torch.rand(1_000_000, device="sim"), sim.Stream(), sim.Stream()
    pipeline_seconds([one, other], x)
    alone, together = (best(lambda: pipeline_seconds(streams, x)) for streams in ([one], [one, other]))
    print(
        f"4 chains: one stream {alone * 1e3:.1f} ms, two {together * 1e3:.1f} ms: {alone / together:.2f} times (goal: 1.6)"
    )


if __name__ == "__main__":
    main()
