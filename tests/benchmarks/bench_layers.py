"""Layers, training steps, optimizers and reductions against PyTorch: `python -m tests.benchmarks.bench_layers`.

One table: the shortest time of each library, the ratio ours / PyTorch's and the ratio promised. The libraries
take turns, so that a busy machine is busy for both; shortest times are kept because others' work only adds.
`--only conv` runs the titles that hold a word, `--profile` shows where ours spends its time instead. On a busy
machine threads wait for each other as long as others please: there, `--cpu` counts the processor's time of one
thread.
"""
import argparse
import cProfile
import importlib
import pstats
import time

import numpy as np

WORKLOADS = {}
clock = time.perf_counter


def workload(title, target=1.5):
    """Register a function of the library that returns the function to time."""
    def register(make):
        WORKLOADS[title] = (make, target)
        return make
    return register


def randn(torch, *shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def sub(torch, name):
    """A module of the library, such as nn.functional."""
    return importlib.import_module(f"{torch.__name__}.{name}")


def gradient_step(torch, function, *shape, parameters=()):
    """Forward and backward of function(x), with a gradient that is no constant."""
    x = randn(torch, *shape).requires_grad_()
    grad = randn(torch, *function(x).shape, seed=1)
    leaves = [x, *parameters]

    def step():
        for leaf in leaves:
            leaf.grad = None
        function(x).backward(grad)
    return step


def layer_step(torch, layer, *shape):
    return gradient_step(torch, layer, *shape, parameters=list(layer.parameters()))


# ---- convolutions: input, layer, settings ----

CONVOLUTIONS = {
    "conv2d 32x16x28x28 to 32, 3x3, padding 1": ((32, 16, 28, 28), "Conv2d", (16, 32, 3), {"padding": 1}),
    "conv2d 64x1x28x28 to 32, 3x3": ((64, 1, 28, 28), "Conv2d", (1, 32, 3), {}),
    "conv2d 64x32x26x26 to 64, 3x3": ((64, 32, 26, 26), "Conv2d", (32, 64, 3), {}),
    "conv2d 8x64x56x56 to 64, 3x3, padding 1": ((8, 64, 56, 56), "Conv2d", (64, 64, 3), {"padding": 1}),
    "conv2d 32x256x7x7 to 256, 3x3, padding 1": ((32, 256, 7, 7), "Conv2d", (256, 256, 3), {"padding": 1}),
    "conv2d 5x5, 32x16x14x14 to 32": ((32, 16, 14, 14), "Conv2d", (16, 32, 5), {}),
    "conv2d stride 2, 32x32x28x28 to 64": ((32, 32, 28, 28), "Conv2d", (32, 64, 3), {"stride": 2, "padding": 1}),
    "conv2d stem, 4x3x112x112 to 64, 7x7, stride 2": (
        (4, 3, 112, 112), "Conv2d", (3, 64, 7), {"stride": 2, "padding": 3}),
    "conv2d 1x1, 16x64x28x28 to 256": ((16, 64, 28, 28), "Conv2d", (64, 256, 1), {}),
    "conv2d 1x1, stride 2, 16x64x28x28 to 128": ((16, 64, 28, 28), "Conv2d", (64, 128, 1), {"stride": 2}),
    "conv2d depthwise, 16x64x28x28": ((16, 64, 28, 28), "Conv2d", (64, 64, 3), {"padding": 1, "groups": 64}),
    "conv2d depthwise, stride 2, 16x64x28x28": (
        (16, 64, 28, 28), "Conv2d", (64, 64, 3), {"padding": 1, "groups": 64, "stride": 2}),
    "conv2d 4 groups, 16x64x28x28": ((16, 64, 28, 28), "Conv2d", (64, 64, 3), {"padding": 1, "groups": 4}),
    "conv2d dilation 2, 16x32x28x28": ((16, 32, 28, 28), "Conv2d", (32, 32, 3), {"padding": 2, "dilation": 2}),
    "conv1d 32x64x256 to 64, 5": ((32, 64, 256), "Conv1d", (64, 64, 5), {"padding": 2}),
    "conv3d 4x8x16x16x16 to 16": ((4, 8, 16, 16, 16), "Conv3d", (8, 16, 3), {"padding": 1}),
    "conv_transpose2d 16x64x14x14 to 32, 4x4, stride 2": (
        (16, 64, 14, 14), "ConvTranspose2d", (64, 32, 4), {"stride": 2, "padding": 1}),
}


def convolution(shape, layer, sizes, settings):
    def make(torch):
        torch.manual_seed(0)
        return layer_step(torch, getattr(torch.nn, layer)(*sizes, **settings), *shape)
    return make


for _title, _case in CONVOLUTIONS.items():
    workload(_title)(convolution(*_case))


@workload("conv2d channels_last, 32x16x28x28 to 32")
def channels_last(torch):
    layer = torch.nn.Conv2d(16, 32, 3, padding=1)
    x = randn(torch, 32, 16, 28, 28).to(memory_format=torch.channels_last).requires_grad_()
    grad = randn(torch, 32, 32, 28, 28, seed=1).to(memory_format=torch.channels_last)

    def step():
        x.grad = layer.weight.grad = layer.bias.grad = None
        layer(x).backward(grad)
    return step


# ---- normalisation and pooling ----

@workload("batch_norm 32x32x28x28")
def batch_norm(torch):
    return layer_step(torch, torch.nn.BatchNorm2d(32), 32, 32, 28, 28)


@workload("batch_norm 256x512")
def batch_norm_rows(torch):
    return layer_step(torch, torch.nn.BatchNorm1d(512), 256, 512)


@workload("batch_norm 16x256x7x7")
def batch_norm_late(torch):
    return layer_step(torch, torch.nn.BatchNorm2d(256), 16, 256, 7, 7)


@workload("layer_norm 4096x512")
def layer_norm(torch):
    return layer_step(torch, torch.nn.LayerNorm(512), 4096, 512)


@workload("layer_norm 1024x128")
def layer_norm_narrow(torch):
    return layer_step(torch, torch.nn.LayerNorm(128), 1024, 128)


@workload("layer_norm 8x16 (tiny)", 2)
def layer_norm_tiny(torch):
    return layer_step(torch, torch.nn.LayerNorm(16), 8, 16)


@workload("batch_norm 8x16 (tiny)", 2)
def batch_norm_tiny(torch):
    return layer_step(torch, torch.nn.BatchNorm1d(16), 8, 16)


@workload("group_norm 8 groups, 16x64x28x28")
def group_norm(torch):
    return layer_step(torch, torch.nn.GroupNorm(8, 64), 16, 64, 28, 28)


@workload("instance_norm 16x64x28x28")
def instance_norm(torch):
    return layer_step(torch, torch.nn.InstanceNorm2d(64, affine=True), 16, 64, 28, 28)


@workload("max_pool2d 2, 32x32x28x28")
def max_pool(torch):
    return layer_step(torch, torch.nn.MaxPool2d(2), 32, 32, 28, 28)


@workload("avg_pool2d 2, 32x32x28x28")
def avg_pool(torch):
    return layer_step(torch, torch.nn.AvgPool2d(2), 32, 32, 28, 28)


@workload("adaptive_avg_pool2d 1, 32x256x7x7")
def adaptive_pool(torch):
    return layer_step(torch, torch.nn.AdaptiveAvgPool2d(1), 32, 256, 7, 7)


# ---- recurrent layers ----

@workload("LSTM 2 layers x128, 35x20", 2)
def lstm(torch):
    layer = torch.nn.LSTM(128, 128, 2)
    return gradient_step(torch, lambda x: layer(x)[0], 35, 20, 128, parameters=list(layer.parameters()))


@workload("GRU 2 layers x128, 35x20", 2)
def gru(torch):
    layer = torch.nn.GRU(128, 128, 2)
    return gradient_step(torch, lambda x: layer(x)[0], 35, 20, 128, parameters=list(layer.parameters()))


# ---- training steps ----

def training_step(torch, model, optimizer, loss_of):
    def step():
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()
    return step


@workload("MNIST example (2 convolutions, dropout), batch 64")
def mnist_step(torch):
    nn, F = sub(torch, "nn"), sub(torch, "nn.functional")

    class Net(nn.Module):
        """The network of PyTorch's examples/mnist."""

        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, 1), nn.Conv2d(32, 64, 3, 1)
            self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
            self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

        def forward(self, x):
            x = F.relu(self.conv2(F.relu(self.conv1(x))))
            x = torch.flatten(self.dropout1(F.max_pool2d(x, 2)), 1)
            return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(x)))), dim=1)

    x, y = randn(torch, 64, 1, 28, 28), torch.from_numpy(np.arange(64) % 10)
    model = Net()
    optimizer = sub(torch, "optim").Adadelta(model.parameters(), lr=1.0)
    return training_step(torch, model, optimizer, lambda model: F.nll_loss(model(x), y))


def gpt(torch, width=128, heads=4, layers=4, length=64, vocabulary=65):
    """A decoder of plain modules, attention written out."""
    nn, F = sub(torch, "nn"), sub(torch, "nn.functional")

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def attend(self, x):
            batch, steps, _ = x.shape
            q, k, v = [part.view(batch, steps, heads, width // heads).transpose(1, 2)
                       for part in self.qkv(x).split(width, dim=2)]
            scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
            future = torch.tril(torch.ones(steps, steps)) == 0
            weights = F.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
            return self.proj((weights @ v).transpose(1, 2).contiguous().view(batch, steps, width))

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens):
            x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x)))
    return GPT()


@workload("GPT 4 layers x128, 16x64 tokens, AdamW")
def gpt_step(torch):
    model = gpt(torch)
    optimizer = sub(torch, "optim").AdamW(model.parameters(), lr=3e-4)
    tokens = torch.from_numpy(np.random.default_rng(0).integers(0, 65, (16, 64)))
    entropy = sub(torch, "nn.functional").cross_entropy
    return training_step(torch, model, optimizer,
                         lambda model: entropy(model(tokens).reshape(-1, 65), tokens.reshape(-1)))


# ---- optimizers ----

def optimizer_step(kind, **options):
    def make(torch):
        parameters = [torch.nn.Parameter(randn(torch, 64, 64, seed=i)) for i in range(200)]
        for i, parameter in enumerate(parameters):
            parameter.grad = randn(torch, 64, 64, seed=1000 + i)
        return getattr(sub(torch, "optim"), kind)(parameters, lr=1e-3, **options).step
    return make


workload("AdamW for-loop, 200 of 64x64")(optimizer_step("AdamW", foreach=False, fused=False))
workload("AdamW foreach, 200 of 64x64")(optimizer_step("AdamW", foreach=True))
workload("AdamW fused, 200 of 64x64", 1)(optimizer_step("AdamW", fused=True))
workload("SGD for-loop, 200 of 64x64", 2)(optimizer_step("SGD", foreach=False))
workload("SGD momentum for-loop, 200 of 64x64")(optimizer_step("SGD", momentum=0.9, foreach=False))
workload("RMSprop for-loop, 200 of 64x64")(optimizer_step("RMSprop", foreach=False))


# ---- reductions, scans and functions of large arrays ----

def on_large(function, *shape):
    def make(torch):
        x = randn(torch, *shape)
        return lambda: function(torch, x)
    return make


LARGE = {
    "sum 4M": ("sum", {}), "norm 4M": ("norm", {}), "mean 4M": ("mean", {}), "std 4M": ("std", {}),
    "amax 4M": ("amax", {}), "argmax 4M": ("argmax", {}), "cumsum 4M": ("cumsum", {"dim": 0}),
    "sin 4M": ("sin", {}), "cos 4M": ("cos", {}), "tanh 4M": ("tanh", {}), "sqrt 4M": ("sqrt", {}),
    "log 4M": ("log", {}),
}
for _title, (_name, _options) in LARGE.items():
    workload(_title)(on_large(lambda torch, x, name=_name, options=_options: getattr(x, name)(**options),
                              4_000_000))
workload("gelu 4M")(on_large(lambda torch, x: torch.nn.functional.gelu(x), 4_000_000))
workload("sum of rows 2048x1000")(on_large(lambda torch, x: x.sum(1), 2048, 1000))
workload("sum of columns 2048x1000")(on_large(lambda torch, x: x.sum(0), 2048, 1000))
workload("sum of a middle dimension 64x200x100")(on_large(lambda torch, x: x.sum(1), 64, 200, 100))
workload("norm of rows 2048x1000")(on_large(lambda torch, x: x.norm(dim=1), 2048, 1000))
workload("norm of columns 2048x1000")(on_large(lambda torch, x: x.norm(dim=0), 2048, 1000))
workload("cumsum of rows 2048x1000")(on_large(lambda torch, x: x.cumsum(1), 2048, 1000))
workload("cumsum of columns 2048x1000")(on_large(lambda torch, x: x.cumsum(0), 2048, 1000))
workload("var of channels 32x32x28x28")(on_large(lambda torch, x: x.var((0, 2, 3)), 32, 32, 28, 28))
workload("product of rows 2048x1000")(on_large(lambda torch, x: x.prod(1), 2048, 1000))
workload("std of rows 2048x1000")(on_large(lambda torch, x: x.std(1), 2048, 1000))
workload("topk of rows 512x1000, 5")(on_large(lambda torch, x: x.topk(5), 512, 1000))
workload("sum 20 000", 2)(on_large(lambda torch, x: x.sum(), 20_000))
workload("randn 128k", 2)(on_large(lambda torch, x: torch.randn(131072), 1))
workload("add a row, 512x512", 1.5)(on_large(lambda torch, x: x + x[0], 512, 512))
workload("max of rows 2048x1000, with indices")(on_large(lambda torch, x: x.max(1), 2048, 1000))


@workload("softmax with padding masked, 16x4x32x32", 1.5)
def masked_softmax(torch):
    """Loops of a hundred thousand elements, whose plans and threads cost as much as they do."""
    scores, lengths = randn(torch, 16, 4, 32, 32).requires_grad_(), torch.from_numpy(np.arange(16) + 10)

    def step():
        scores.grad = None
        mask = (torch.arange(32)[None, :] < lengths[:, None])[:, None, None, :]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        torch.where(mask, weights, 0.0).square().sum().backward()
    return step


@workload("einsum bhqd,bhkd->bhqk, 16x4x64x32", 1.5)
def einsum_attention(torch):
    q, k = randn(torch, 16, 4, 64, 32), randn(torch, 16, 4, 64, 32, seed=1)
    return lambda: torch.einsum("bhqd,bhkd->bhqk", q, k)


@workload("einsum ij,jk->ik, 8x8 (tiny)", 2)
def einsum_tiny(torch):
    a, b = randn(torch, 8, 8), randn(torch, 8, 8, seed=1)
    return lambda: torch.einsum("ij,jk->ik", a, b)


@workload("DataLoader, 20 000 rows of 32, batch 64", 1)
def data_loader(torch):
    data = sub(torch, "utils.data")
    rows = data.TensorDataset(randn(torch, 20_000, 32), torch.from_numpy(np.arange(20_000)))
    loader = data.DataLoader(rows, batch_size=64)
    return lambda: [None for _ in loader]


# ---- timing ----

def calls_in(function, seconds):
    """How many calls make up a measurement, after compilation and warming up."""
    for _ in range(3):
        function()
    begin = clock()
    function()
    return max(1, int(seconds / max(clock() - begin, 1e-7)))


def shortest(function, calls, group):
    """The shortest mean time of `group` calls in a row."""
    found = float("inf")
    for _ in range(max(1, calls // group)):
        begin = clock()
        for _ in range(group):
            function()
        found = min(found, (clock() - begin) / group)
    return found


def compare(make, rounds, seconds):
    """(ours, PyTorch's) in seconds: the shortest times; the libraries take turns."""
    functions = [make(importlib.import_module(name)) for name in ("teachtorch", "torch")]
    counts = [calls_in(function, seconds) for function in functions]
    groups = [max(1, int(count * 0.001 / seconds)) for count in counts]
    times = [[shortest(*case) for case in zip(functions, counts, groups)] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def profile(make):
    step = make(importlib.import_module("teachtorch"))
    count = calls_in(step, 1)
    recorder = cProfile.Profile()
    recorder.enable()
    for _ in range(count):
        step()
    recorder.disable()
    print(f"{count} calls")
    pstats.Stats(recorder).sort_stats("tottime").print_stats(35)


def count_processor_time():
    global clock
    clock = time.process_time
    for name in ("teachtorch", "torch"):
        importlib.import_module(name).set_num_threads(1)


def main(workloads=WORKLOADS):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in which the libraries take turns (5)")
    parser.add_argument("--seconds", type=float, default=0.1, help="seconds per library and round (0.1)")
    parser.add_argument("--only", default="", help="words, divided by commas: titles that hold one of them")
    parser.add_argument("--profile", action="store_true", help="profile ours instead of comparing")
    parser.add_argument("--cpu", action="store_true", help="processor time, of one thread per library")
    options = parser.parse_args()
    if options.cpu:
        count_processor_time()
    words = options.only.split(",")
    for title, (make, target) in workloads.items():
        if not any(word in title for word in words):
            continue
        if options.profile:
            print(title)
            profile(make)
            continue
        ours, theirs = compare(make, options.rounds, options.seconds)
        verdict = "" if ours <= target * theirs else "  MISSED"
        print(f"{title:56} {ours * 1e3:10.3f} ms {theirs * 1e3:10.3f} ms {ours / theirs:7.2f} <= {target}{verdict}",
              flush=True)


if __name__ == "__main__":
    main()
