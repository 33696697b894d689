"""What a launch on sim costs the host, and what a second stream gains.

    PYTHONPATH=. python tests/benchmarks/bench_sim.py

Goals: a launch of at most 20 microseconds; a pipeline of two streams at least 1.6 times as quick as one
stream, on two cores. Minimum over rounds; one stream and two take turns. While launches are measured a host
function keeps the stream's thread asleep. What two threads gain without streams, with the same chains on arrays,
says what the machine has to give just now: its cores may be two halves of one, or have other work.
"""

import threading
import time

import teachtorch as torch
from teachtorch import sim
from teachtorch.kernels.parallel import stay_on_this_thread


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


def threads_seconds(count, x, chains=4):
    """The same chains in plain threads, of the kernels that the streams run."""
    begun = threading.Barrier(count + 1)

    def work(number):
        stay_on_this_thread()
        begun.wait()
        for _ in range(number, chains, count):
            chain(x)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    begun.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def gain(one, two, rounds=15):
    """(seconds of the first, of the second): the best of each, measured in turns."""
    pairs = [(one(), two()) for _ in range(rounds)]
    return [min(column) for column in zip(*pairs, strict=True)]


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
    alone, together = gain(lambda: pipeline_seconds([one], x), lambda: pipeline_seconds([one, other], x))
    print(
        f"4 chains: one stream {alone * 1e3:.1f} ms, two {together * 1e3:.1f} ms: {alone / together:.2f} times (goal: 1.6)"
    )
    host = x.cpu()
    alone, together = gain(lambda: threads_seconds(1, host), lambda: threads_seconds(2, host))
    print(f"the same in threads: {alone * 1e3:.1f} and {together * 1e3:.1f} ms: {alone / together:.2f} times")


if __name__ == "__main__":
    main()
