"""What a launch on sim costs the host, and what a second stream gains.

    PYTHONPATH=. python tests/benchmarks/bench_sim.py

Goals: a launch of at most 20 microseconds; a pipeline of two streams at least 1.6 times as quick as one
stream, on two cores. Minimum over rounds; one stream and two take turns. While launches are measured a host
function keeps the stream's thread asleep.

Two streams gain in two ways. A pipeline of transfers hides the copies of one batch behind the kernels of another: the
copies take the time that the cost model's bus needs, and no core. Independent chains of kernels want both cores. What
two threads gain without streams, with the same chains on arrays, says what the machine has to give just now: its cores
may be two halves of one, or have other work.
"""

import threading
import time

import teachtorch as torch
from teachtorch import sim
from teachtorch.kernels.parallel import stay_on_this_thread

BUS = 4e9                # bytes per second: PCI Express 3.0 with four lanes


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


def transfers_seconds(streams, batches, results):
    """Batches that are copied to the device, worked on, and copied back, dealt to the streams in turn."""
    sim.synchronize()
    start = time.perf_counter()
    for k, (batch, result) in enumerate(zip(batches, results, strict=True)):
        with sim.stream(streams[k % len(streams)]):
            result.copy_(chain(batch.to("sim", non_blocking=True), length=1), non_blocking=True)
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


def report(what, one, two, goal=""):
    """Print a line: how much quicker `two()` is than `one()`."""
    alone, together = gain(one, two)
    print(f"{what}: {alone * 1e3:.1f} ms, two: {together * 1e3:.1f} ms: {alone / together:.2f} times{goal}")


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
    one, other, goal = sim.Stream(), sim.Stream(), "   (goal: 1.6)"
    batches = [torch.rand(500_000).pin_memory() for _ in range(8)]
    results = [torch.empty(500_000).pin_memory() for _ in batches]
    with sim.cost_model(copy_bandwidth=BUS):
        report("8 batches to the device and back, one stream", lambda: transfers_seconds([one], batches, results),
               lambda: transfers_seconds([one, other], batches, results), goal)
    x = torch.rand(1_000_000, device="sim")
    pipeline_seconds([one, other], x)
    report("4 chains of kernels, one stream", lambda: pipeline_seconds([one], x),
           lambda: pipeline_seconds([one, other], x), goal)
    host = x.cpu()
    report("the same in threads, one", lambda: threads_seconds(1, host), lambda: threads_seconds(2, host))


if __name__ == "__main__":
    main()
