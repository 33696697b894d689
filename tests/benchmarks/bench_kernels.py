"""Times the CPU kernels beside PyTorch's operators and NumPy's functions.

Run it from the root: ``python -m tests.benchmarks.bench_kernels``. Each line holds milliseconds (the best of
several runs) and the ratio ours / PyTorch's. Ours and PyTorch use two threads, NumPy one. Where the machine does
other work, compare the ratios of several runs only.
"""

import argparse
import time

import numpy as np
import torch

from teachtorch.kernels import parallel, reduce, scalar, softmax
from teachtorch.kernels.pointwise import Pointwise

THREADS = 2
LARGE = 4_000_000

add = Pointwise(lambda x, y: x + y, np.add)


def best(function, seconds=0.3):
    """Return the shortest time of a call in milliseconds; calls are repeated for ``seconds``."""
    function()
    shortest, end = float("inf"), time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        function()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest * 1e3


def best_in_turn(functions, rounds):
    """Return each function's shortest time; they take turns, so that a busy machine is busy for all."""
    times = [[best(function, 0.1) for function in functions] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def report(title, ours, theirs, numpy=None, rounds=3):
    functions = [ours, theirs] + ([numpy] if numpy else [])
    with np.errstate(all="ignore"):
        mine, torch_time, *numpy_time = best_in_turn(functions, rounds)
    beside = f"{numpy_time[0]:9.4f}" if numpy_time else 9 * " "
    ratio = mine / torch_time
    print(f"{title:34} ours {mine:9.4f}  torch {torch_time:9.4f}  numpy {beside}  ratio {ratio:6.2f}")


def bench_small():
    x, y = np.ones((4, 4), np.float32), np.ones((4, 4), np.float32)
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    report("add 4x4", lambda: add(x, y), lambda: tx + ty, lambda: np.add(x, y))
    report("softmax 8x8", lambda: softmax.softmax(x, 1), lambda: torch.softmax(tx, 1))


def bench_pointwise():
    x = np.random.default_rng(0).normal(0, 1, LARGE).astype(np.float32)
    y, out = x[::-1].copy(), np.empty_like(x)
    tx, ty, tout = torch.from_numpy(x), torch.from_numpy(y), torch.empty(LARGE)
    report("add 4M", lambda: add(x, y), lambda: tx + ty, lambda: x + y)
    report("add 4M into out", lambda: add(x, y, out=out), lambda: torch.add(tx, ty, out=tout))
    report("add 4M in place", lambda: add(out, y, out=out), lambda: tout.add_(ty))
    square, tsquare = x.reshape(2000, 2000), tx.reshape(2000, 2000)
    report("add a row, 2000x2000", lambda: add(square, y[:2000]), lambda: tsquare + ty[:2000])
    report("add a transpose, 2000x2000", lambda: add(square, square.T), lambda: tsquare + tsquare.T)


def bench_mathematics():
    x = np.abs(np.random.default_rng(0).normal(0, 1, LARGE)).astype(np.float32)
    tx = torch.from_numpy(x)
    functions = {
        "exp": (lambda x: scalar.exp(x), torch.exp, np.exp),
        "expm1": (lambda x: scalar.expm1(x), torch.expm1, np.expm1),
        "log": (lambda x: scalar.log(x), torch.log, np.log),
        "log1p": (scalar.log1p, torch.log1p, np.log1p),
        "tanh": (scalar.tanh, torch.tanh, np.tanh),
        "sigmoid": (scalar.sigmoid, torch.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
        "erf": (lambda x: scalar.erf(x), torch.erf, None),
        "gelu": (scalar.gelu, torch.nn.functional.gelu, None),
        "silu": (scalar.silu, torch.nn.functional.silu, None),
        "softplus": (scalar.softplus, torch.nn.functional.softplus, None),
        "relu": (scalar.relu, torch.relu, lambda x: np.maximum(x, 0)),
        "sqrt": (scalar.sqrt, torch.sqrt, np.sqrt),
    }
    for name, (source, theirs, numpy) in functions.items():
        ours = Pointwise(source)
        report(f"{name} 4M", lambda: ours(x), lambda: theirs(tx), numpy and (lambda: numpy(x)))


def bench_reductions():
    cases = [((LARGE,), (0,)), ((2048, 1000), (1,)), ((2048, 1000), (0,)), ((1_000_000, 4), (0,)),
             ((1_000_000, 4), (1,)), ((32, 64, 28, 28), (0, 2, 3))]
    for shape, axes in cases:
        x = np.random.default_rng(0).normal(0, 1, shape).astype(np.float32)
        tx = torch.from_numpy(x)
        case = f"{shape} {axes}"
        report("sum " + case, lambda: reduce.sum(x, axes), lambda: tx.sum(axes), lambda: x.sum(axes))
        report("var " + case, lambda: reduce.var(x, axes), lambda: tx.var(axes), lambda: x.var(axes, ddof=1))
        report("amax " + case, lambda: reduce.amax(x, axes), lambda: tx.amax(axes), lambda: x.max(axes))


def bench_cross_entropy():
    rng = np.random.default_rng(0)
    x, target = rng.normal(0, 3, (2048, 1000)).astype(np.float32), rng.integers(0, 1000, 2048)
    tx, ttarget = torch.from_numpy(x).requires_grad_(), torch.from_numpy(target)

    def ours():
        result = softmax.log_softmax(x, 1)
        losses, weights = softmax.nll_loss(result, target)
        grad = np.float32(1) / weights.sum() * np.ones_like(losses)
        return softmax.log_softmax_backward(softmax.nll_loss_backward(grad, x.shape, target), result, 1)

    def theirs():
        tx.grad = None
        torch.nn.functional.cross_entropy(tx, ttarget).backward()
    detached = tx.detach()
    report("log_softmax 2048x1000", lambda: softmax.log_softmax(x, 1), lambda: torch.log_softmax(detached, 1))
    report("softmax 2048x1000", lambda: softmax.softmax(x, 1), lambda: torch.softmax(detached, 1))
    report("cross entropy 2048x1000, backward", ours, theirs)


BENCHMARKS = {
    "small": bench_small, "pointwise": bench_pointwise, "mathematics": bench_mathematics,
    "reductions": bench_reductions, "cross_entropy": bench_cross_entropy,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help=f"any of {', '.join(BENCHMARKS)}")
    parallel.set_num_threads(THREADS)
    torch.set_num_threads(THREADS)
    for name in parser.parse_args().names:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
