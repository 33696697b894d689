"""Compiled functions beside PyTorch eager: python tests/benchmarks/bench_compile.py

Each line: milliseconds of PyTorch eager, of teachtorch eager, of the compiled function (minima of interleaved runs),
the ratio compiled / PyTorch and its target.
"""
import math
import time

import numpy as np
import torch

import teachtorch

TARGETS = {"gelu": 0.25, "gelu forward and backward": 0.35, "layer norm": 0.4, "AdamW, 200 tensors": 1.0}


def gelu_of(lib):
    def gelu(x):
        return 0.5 * x * (1 + lib.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return gelu


def layer_norm_of(lib):
    def layer_norm(x, weight, bias):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) / lib.sqrt(variance + 1e-5) * weight + bias
    return layer_norm


def forward_and_backward(function):
    def run(x, grad):
        x.grad = None
        function(x).backward(grad)
        return x.grad
    return run


def interleaved(runs, times=25):
    """The least milliseconds of each function, called in turn."""
    best = [math.inf] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return [b * 1e3 for b in best]


def report(name, reference, eager, compiled):
    first, second, third = interleaved([reference, eager, compiled])
    print(f"{name:28} {first:9.2f} {second:9.2f} {third:9.2f}   {third / first:5.2f}  (target {TARGETS[name]})")


def bench_gelu(x):
    theirs, ours = torch.from_numpy(x), teachtorch.from_numpy(x)
    compiled = teachtorch.compile(gelu_of(teachtorch), fullgraph=True)
    with torch.no_grad(), teachtorch.no_grad():
        report("gelu", lambda: gelu_of(torch)(theirs), lambda: gelu_of(teachtorch)(ours), lambda: compiled(ours))
    theirs, ours = theirs.clone().requires_grad_(), ours.clone().requires_grad_()
    grads = torch.ones_like(theirs), teachtorch.ones_like(ours)
    runs = [forward_and_backward(f) for f in (gelu_of(torch), gelu_of(teachtorch), compiled)]
    report("gelu forward and backward", lambda: runs[0](theirs, grads[0]), lambda: runs[1](ours, grads[1]),
           lambda: runs[2](ours, grads[1]))


def bench_layer_norm(rows=4096, width=512):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s, dtype=np.float32) for s in ((rows, width), width, width)]
    theirs, ours = [torch.from_numpy(a) for a in arrays], [teachtorch.from_numpy(a) for a in arrays]
    compiled = teachtorch.compile(layer_norm_of(teachtorch), fullgraph=True)
    with torch.no_grad(), teachtorch.no_grad():
        report("layer norm", lambda: layer_norm_of(torch)(*theirs), lambda: layer_norm_of(teachtorch)(*ours),
               lambda: compiled(*ours))


def bench_adamw(count=200, size=(64, 64)):
    def optimizer_of(lib, **options):
        parameters = [lib.nn.Parameter(lib.ones(*size)) for _ in range(count)]
        for p in parameters:
            p.grad = lib.full(size, 0.1)
        return lib.optim.AdamW(parameters, lr=1e-3, **options)
    theirs, plain, ours = optimizer_of(torch, fused=True), optimizer_of(teachtorch), optimizer_of(teachtorch)

    @teachtorch.compile
    def step():
        ours.step()
    report("AdamW, 200 tensors", theirs.step, plain.step, step)


def bench_guards():
    for count in (4, 54):
        bench_guards_of(count)


def bench_guards_of(count):
    nn = teachtorch.nn
    model = nn.Sequential(*[layer for _ in range(count) for layer in (nn.Linear(4, 4), nn.ReLU())])
    compiled = teachtorch.compile(model, backend="eager")
    x = teachtorch.ones(2, 4)
    compiled(x)
    check = compiled.compiled.entries[0].guards.check
    times = interleaved([lambda: check((x,), {})], 2000)[0] * 1e3
    print(f"guards of {2 * count + 1} modules: {times:.1f} microseconds (target 20)")


if __name__ == "__main__":
    torch.set_num_threads(teachtorch.get_num_threads())
    print(f"{'':28} {'PyTorch':>9} {'eager':>9} {'compiled':>9}   ratio")
    bench_gelu(np.random.default_rng(0).standard_normal(2_000_000, dtype=np.float32))
    bench_layer_norm()
    bench_adamw()
    bench_guards()
