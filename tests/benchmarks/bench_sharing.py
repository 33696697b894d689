"""How long it takes to send a tensor to another process, teachtorch and PyTorch.

    python tests/benchmarks/bench_sharing.py

From `send` in one process until the other has the tensor and answers. The first tensor of its size in the process; the
median of the fresh tensors after it, which find its memory as soon as the other process has dropped it; and the median
of sending them again, when only a handle travels.
"""

import importlib
import multiprocessing
import statistics
import time

SIZES = [4, 1_000_000, 25_000_000]               # float32 elements: 16 B, 4 MB, 100 MB
REPEATS = 7


def answer(connection):
    """The child: take tensors, and say that they are there."""
    while (t := connection.recv()) is not None:
        connection.send(tuple(t.shape))


def seconds(connection, t):
    """Until the child has it."""
    began = time.perf_counter()
    connection.send(t)
    connection.recv()
    return time.perf_counter() - began


def measured(name):
    """{elements: (first, fresh, again) in seconds} of a library."""
    library = importlib.import_module(name)
    importlib.import_module(name + ".multiprocessing")
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=answer, args=(theirs,), daemon=True)
    child.start()
    results = {}
    for size in SIZES:
        times = []
        for _ in range(REPEATS):
            t = library.ones(size)
            times.append((seconds(ours, t), seconds(ours, t)))
        fresh, again = zip(*times, strict=True)
        results[size] = fresh[0], statistics.median(fresh[1:]), statistics.median(again)
    ours.send(None)
    child.join()
    return results


def main():
    """Print the table."""
    found = {name: measured(name) for name in ("torch", "teachtorch")}
    print(f"{'MB':>8} {'':12} {'first, ms':>10} {'fresh, ms':>10} {'again, ms':>10}")
    for size in SIZES:
        for name, results in found.items():
            figures = " ".join(f"{seconds * 1e3:10.2f}" for seconds in results[size])
            print(f"{size * 4 / 1e6:8.3g} {name:12} {figures}")


if __name__ == "__main__":
    main()
