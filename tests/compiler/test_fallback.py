"""What cannot be captured runs as it is, and says where; with fullgraph=True it raises."""
import inspect
import subprocess
import sys

import pytest

import teachtorch as torch
from teachtorch.compiler import Unsupported, explain

total = 0


def branches(x):
    if x.sum() > 0:                     # line 1
        return x + 1
    return x - 1


def asks_item(x):
    return x * x.max().item()           # line 1


def counts(x):
    return torch.nonzero(x).shape[0] + x.sum()      # line 1


def prints(x):
    y = x + 1
    print("done")                       # line 2
    return y


def assigns_global(x):
    global total
    total = total + 1                   # line 2
    return x


class Counter(torch.nn.Module):
    calls = 0

    def forward(self, x):
        self.calls = self.calls + 1     # line 1
        return x * 2


@pytest.mark.parametrize("function, offset, words", [
    (branches, 1, "asks a tensor for its value"), (asks_item, 1, "asks a tensor for its value"),
    (counts, 1, "nonzero"), (prints, 2, r"print\(\)"), (assigns_global, 2, "assigns the global total"),
    (Counter(), 3, "assigns the attribute calls")])
def test_the_line_is_named(function, offset, words):
    source = type(function) if isinstance(function, torch.nn.Module) else function
    line = inspect.getsourcelines(source)[1] + offset + (isinstance(function, torch.nn.Module))
    x = torch.tensor([1.0, 2.0])
    reason = str(explain(function)(x))
    assert f"{__file__}:{line}" in reason and "runs as it is" in reason
    with pytest.raises(Unsupported, match=words) as error:
        torch.compile(function, fullgraph=True, backend="eager")(x)
    assert f":{line}" in str(error.value) and "leave fullgraph out" in str(error.value)


def test_a_branch_takes_the_right_side_each_time():
    f = torch.compile(branches, backend="eager")
    assert f(torch.ones(2)).tolist() == [2, 2] and f(-torch.ones(2)).tolist() == [-2, -2]


def test_effects_happen_at_each_call(capsys):
    model = Counter()
    f, g = torch.compile(model, backend="eager"), torch.compile(prints, backend="eager")
    for _ in range(3):
        f(torch.ones(1))
        g(torch.ones(1))
    assert model.calls == 3 and capsys.readouterr().out == "done\n" * 3


def test_a_list_that_grows_is_noticed():
    seen = []

    def function(x):
        seen.append(1)
        return x + len(seen)
    f = torch.compile(function, backend="eager")
    assert "changes the length of the variable seen" in str(explain(function)(torch.ones(1))) and seen == []
    assert [f(torch.zeros(1)).item() for _ in range(3)] == [1, 2, 3]


def test_factories_of_random_numbers_are_not_frozen():
    f = torch.compile(lambda x: x + torch.randn(3), backend="eager")
    torch.manual_seed(0)
    found = [f(torch.zeros(3)) for _ in range(2)]
    torch.manual_seed(0)
    assert torch.equal(found[0], torch.randn(3)) and torch.equal(found[1], torch.randn(3))


def test_errors_are_the_functions_own():
    f = torch.compile(lambda x: x @ x, backend="eager")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        f(torch.ones(2, 3))


def test_backward_inside_fills_grad_as_ever():
    w = torch.ones(2, requires_grad=True)

    def function(x):
        loss = (x * w).sum()
        loss.backward()
        return loss.detach()
    f = torch.compile(function, backend="eager")
    for times in (1, 2):
        f(torch.ones(2))
        assert w.grad.tolist() == [times, times]


def test_double_backward_says_what_to_do():
    x = torch.ones(3, requires_grad=True)
    f = torch.compile(lambda x: (x ** 3).sum(), backend="eager", fullgraph=True)
    g, = torch.autograd.grad(f(x), x, create_graph=True)
    assert g.tolist() == [3, 3, 3]
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        g.sum().backward()


def test_second_backward_through_freed_graph():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda x: (x * x).sum(), backend="eager")(x)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_arguments_that_are_wrong():
    with pytest.raises(ValueError, match="Invalid backend"):
        torch.compile(lambda x: x, backend="nonsense")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(lambda x: x, mode="default", options={})
    assert torch.compile(branches, disable=True) is branches


def test_the_log_prints_graph_groups_and_source():
    code = (
        "import teachtorch as torch\nf = torch.compile(lambda x: (x * 2).relu())\nf(torch.ones(3))\nf(torch.ones(4))\n"
        "torch.compile(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**__import__("os").environ, "TEACHTORCH_LOG": "compile"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "torch.ops.aten.mul.Tensor" in done.stderr
    assert "group_1: v1_mul, v2_relu; 48 bytes before, 24 after" in done.stderr
    assert "def kernel(" in done.stderr
    assert "captured anew, because of the shape of argument 0" in done.stderr
    assert "runs without a graph: the function asks a tensor for its value" in done.stderr


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def graph_used_up(x):
    y = (x * x).sum()
    torch.autograd.grad(y, x)
    return y


def fills_grad_of_argument(x):
    (x * x).sum().backward()
    return x * 2


@pytest.mark.parametrize("function, words", [(graph_used_up, "a second time"), (fills_grad_of_argument, r"calls backward\(\)")])
def test_gradients_taken_inside_of_what_is_returned(function, words):
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    assert words.replace("\\", "") in str(explain(function)(torch.ones(3, requires_grad=True)))
    f = torch.compile(function, backend="eager")
    for _ in range(2):
        assert torch.equal(f(x), function(y))
        assert (x.grad is None) == (y.grad is None) and (x.grad is None or torch.equal(x.grad, y.grad))


@pytest.mark.parametrize("returns_loss", [True, False])
@pytest.mark.parametrize("has_grads", [True, False])
def test_zero_grad_and_backward_inside(returns_loss, has_grads):
    def training(model):
        def step(x):
            model.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            return loss if returns_loss else loss.detach()
        return step
    plain, other = network(), network()
    step, compiled = training(plain), torch.compile(training(other), backend="eager")
    if has_grads:
        for model in (plain, other):
            model(torch.ones(1, 3)).sum().backward()
    for i in range(3):
        x = torch.full((2, 3), i + 1.0)
        assert torch.equal(step(x), compiled(x))
        assert [torch.equal(p.grad, q.grad) for p, q in zip(plain.parameters(), other.parameters())] == [True] * 4
    assert "calls zero_grad (at " in str(explain(training(plain))(x))


def test_zero_grad_alone_is_done_at_every_call():
    model = network()

    def forward(x):
        model.zero_grad()
        return model(x).sum()
    f = torch.compile(forward, backend="eager")
    for _ in range(3):
        f(torch.ones(1, 3)).backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    forward(torch.ones(1, 3)).backward()
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), wanted))


@pytest.mark.parametrize("name, options", [("SGD", {"momentum": 0.9}), ("AdamW", {}), ("Adam", {"amsgrad": True}),
                                           ("RMSprop", {}), ("Adagrad", {})])
def test_a_training_step_with_an_optimizer_is_eagers(name, options):
    runs = []
    for is_compiled in (False, True):
        model = network()
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.05, **options)

        def train(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss
        call, step = (torch.compile(f, backend="eager") if is_compiled else f for f in (train, optimizer.step))
        losses = [call(torch.full((2, 3), i + 1.0)).item() for i in range(3)]
        for rate in (0.05, 0.001):                  # a changed learning rate is seen
            optimizer.param_groups[0]["lr"] = rate
            step()
        runs.append([*losses, *[p.detach() for p in model.parameters()], *optimizer.state_dict()["state"][0].values()])
    for mine, theirs in zip(*runs):
        assert torch.equal(torch.as_tensor(mine), torch.as_tensor(theirs))


def test_an_optimizer_says_what_to_compile_instead():
    optimizer = torch.optim.AdamW(network().parameters())
    with pytest.raises(Unsupported, match=r"is an optimizer \(AdamW\).*Compile the model or the loss"):
        torch.compile(optimizer.step, fullgraph=True)()
    assert "fused kernel of its own" in str(explain(optimizer.step)())


def training_step(model, optimizer, clip=None):
    def train(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss
    return train


class Backend:
    """A backend that counts what it is asked to make, and how often that runs."""

    def __init__(self):
        self.made, self.runs = 0, 0

    def __call__(self, module, inputs):
        self.made += 1

        def run(*tensors):
            self.runs += 1
            return module(*tensors)
        return run


def trained(steps, train, model, optimizer):
    losses = [train(torch.full((2, 3), i + 1.0)).item() for i in range(steps)]
    return losses, [p.detach() for p in model.parameters()], [p.grad for p in model.parameters()]


@pytest.mark.parametrize("clip", [None, 0.1])
def test_the_model_of_a_training_step_is_compiled(clip):
    backend, found = Backend(), []
    for is_compiled in (True, False):
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        train = training_step(model, optimizer, clip)
        found.append(trained(3, torch.compile(train, backend=backend) if is_compiled else train, model, optimizer))
    assert found[0][0] == found[1][0]
    for mine, theirs in zip(found[0][1] + found[0][2], found[1][1] + found[1][2]):
        assert torch.equal(mine, theirs)
    assert (backend.made, backend.runs) == (2, 6)                # forward and backward of the model, in three steps
    assert "compiled one by one" in str(explain(train)(torch.ones(2, 3)))


def test_hooks_of_the_model_are_called_in_a_compiled_step_and_modules_stay_what_they_are():
    model, seen = network(), []
    model.register_forward_hook(lambda module, args, out: seen.append(tuple(out.shape)))
    train = torch.compile(training_step(model, torch.optim.SGD(model.parameters(), lr=0.1)), backend="eager")
    before = set(model.__dict__)
    train(torch.ones(2, 3))
    train(torch.ones(5, 3))
    assert seen == [(2, 2), (5, 2)] and set(model.__dict__) == before
    assert type(model(torch.ones(1, 3)).grad_fn).__name__ == "AddmmBackward0"


def test_an_error_in_a_compiled_step_leaves_modules_as_they_were():
    model = network()
    train = torch.compile(training_step(model, torch.optim.SGD(model.parameters(), lr=0.1)), backend="eager")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        train(torch.ones(2, 7))
    assert type(model(torch.ones(1, 3)).grad_fn).__name__ == "AddmmBackward0"


def test_a_gradient_penalty_is_left_to_eager():
    model = network()

    def train(x):
        model.zero_grad()
        grad, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = grad.pow(2).sum()
        loss.backward()
        return loss.detach()
    x = torch.ones(2, 3, requires_grad=True)
    found = torch.compile(train, backend="eager")(x)
    grads = [p.grad for p in model.parameters()]
    assert torch.equal(found, train(x))
    assert all(p is None and q.grad is None or torch.equal(p, q.grad) for p, q in zip(grads, model.parameters()))
