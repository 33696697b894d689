"""Whole models: results, gradients, training steps; custom operators; kernels that the next process finds."""
import os
import subprocess
import sys

import teachtorch as torch
from teachtorch import nn
from teachtorch.compiler import explain
from teachtorch.nn import functional as F

from .helpers import assert_alike


def compare(model, make_input, tolerance=1e-6, steps=2, loss=lambda y: (y * y).mean()):
    """Some steps of SGD with the compiled and the plain model give the same losses and parameters."""
    torch.manual_seed(1)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    inputs = [make_input() for _ in range(steps)]
    runs = []
    for call in (torch.compile(model, fullgraph=True), model):
        model.load_state_dict(state)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for x in inputs:
            optimizer.zero_grad()
            value = loss(call(x))
            value.backward()
            optimizer.step()
            losses.append(value.detach())
        runs.append((losses, [p.detach().clone() for p in model.parameters()]))
    assert_alike(*runs, tolerance)


def test_mlp():
    torch.manual_seed(0)
    compare(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), lambda: torch.randn(4, 6))


def test_cnn():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    target = torch.tensor([0, 2])
    compare(model, lambda: torch.randn(2, 1, 8, 8), loss=lambda y: F.cross_entropy(y, target))


class Block(nn.Module):
    """A GPT block with attention written out."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attention(self, x):
        b, t, c = x.shape
        q, k, v = [part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.attend(x).split(c, 2)]
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5
        mask = torch.ones(t, t, dtype=torch.bool).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.project((weights @ v).transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.mlp(self.between(x))


def test_gpt_block():
    torch.manual_seed(0)
    compare(Block(), lambda: torch.randn(2, 5, 8))


def test_the_compiled_module_is_the_module():
    model = nn.Sequential(nn.Linear(2, 2))
    compiled = torch.compile(model, backend="eager")
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert [a is b for a, b in zip(compiled.parameters(), model.parameters())] == [True, True]
    assert compiled._orig_mod is model
    compiled.eval()
    assert not model.training


def test_module_compile_in_place():
    model = nn.Sequential(nn.Linear(2, 2))
    x = torch.ones(2)
    wanted = model(x)
    model.compile(backend="eager", fullgraph=True)
    assert torch.equal(model(x), wanted)
    assert model.forward.compiled.entries
    assert torch.equal(wanted, model(x))


def test_a_decorator_with_and_without_arguments():
    @torch.compile(backend="eager")
    def double(x):
        """Twice."""
        return x * 2

    @torch.compile
    def triple(x):
        return x * 3
    assert double(torch.ones(1)).item() == 2 and triple(torch.ones(1)).item() == 3
    assert double.__name__ == "double" and double.__doc__ == "Twice."


def test_a_backend_of_the_users():
    seen = []

    def backend(module, inputs):
        seen.append(([n.op for n in module.graph.nodes], [tuple(t.shape) for t in inputs]))
        return module.forward
    f = torch.compile(lambda x: (x + 1).relu(), backend=backend)
    assert f(torch.tensor([-2.0, 1.0])).tolist() == [0, 2]
    f(torch.tensor([0.0, 0.0]))
    assert seen == [(["placeholder", "call_function", "call_function", "output"], [(2,)])]


def test_a_custom_operator_goes_through():
    @torch.library.custom_op("compiler_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy() * 2)

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    twice.register_autograd(lambda ctx, grad: twice(grad))
    x = torch.arange(3.0).requires_grad_()

    def function(x):
        return (twice(x * 3) + 1).relu()
    found = torch.compile(function, fullgraph=True)(x)
    assert torch.equal(found, function(x))
    assert torch.autograd.grad(found.sum(), x)[0].tolist() == [6, 6, 6]
    report = explain(function)(x)
    assert report.graphs[0].calls == ["compiler_tests.twice.default"] and len(report.graphs[0].groups) == 2


def test_the_next_process_finds_the_kernels(tmp_path):
    code = ("import teachtorch as torch\nf = torch.compile(lambda x: (x.exp() + 1).sum(-1))\n"
            "print(f(torch.zeros(2, 3)).tolist())\n"
            "from teachtorch.kernels.cache import load_module\nimport sys\n"
            "kernels = [m for n, m in sys.modules.items() if n.startswith('teachtorch_fused')]\n"
            "print(sum(sum(m.kernel.stats.cache_hits.values()) for m in kernels), len(kernels))\n")
    found = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "TEACHTORCH_CACHE": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines())
    assert found == [["[6.0, 6.0]", "0 1"], ["[6.0, 6.0]", "1 1"]]
    assert len([p for p in tmp_path.iterdir() if p.name.startswith("teachtorch_fused")]) == 1


def test_bytes_of_a_chain_are_the_least_possible():
    report = explain(lambda x: (x * 2 + 1).tanh().exp() - x)(torch.zeros(1000, 100))
    group, = report.groups
    assert group.bytes_after == 2 * 400_000                 # x once in, the result once out
    assert group.bytes_before == (2 + 2 + 2 + 2 + 3) * 400_000


def test_backward_keeps_the_input_rather_than_what_comes_between():
    def function(x):
        return (x * 2).sin().exp()
    f = torch.compile(function, fullgraph=True)
    x = torch.ones(7, requires_grad=True)
    y = f(x)
    assert len(y.grad_fn.saved_tensors) == 1
    report = explain(function)(x)
    assert [len(g.reads) for g in report.groups] == [1, 2]
