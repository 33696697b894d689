"""Grades train_loop.py."""

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points
from teachtorch import nn


class Watched(nn.Module):
    """A linear classifier that remembers in which mode its part was run, and whether with a graph."""

    def __init__(self, inputs=3, classes=2):
        super().__init__()
        self.layer = nn.Linear(inputs, classes)
        self.modes, self.graphs = [], []

    def forward(self, x):
        self.modes.append(self.layer.training)
        self.graphs.append(torch.is_grad_enabled())
        return self.layer(x)

    def __repr__(self):
        return "model"


class Spy:
    """An optimizer that looks at the gradient of the weight when it steps, and changes nothing."""

    def __init__(self, model):
        self.parameters, self.seen = list(model.parameters()), []

    def __repr__(self):
        return "optimizer"

    def zero_grad(self):
        for each in self.parameters:
            each.grad = None

    def step(self):
        grad = self.parameters[0].grad
        self.seen.append(None if grad is None else array_of(grad))


def setting(seed, sizes=(2, 2)):
    torch.manual_seed(seed)
    model = Watched()
    batches = [(torch.randn(n, 3), torch.arange(n) % 2) for n in sizes]
    return model, batches, Spy(model)


def gradient(model, batch):
    """The gradient of the weight for one batch alone."""
    loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
    return array_of(torch.autograd.grad(loss, [model.layer.weight])[0])


def train(yours, model, batches, optimizer):
    return yours.train_epoch(model, batches, nn.functional.cross_entropy, optimizer)


@points(2, "each step sees the gradient of its own batch")
def test_gradient_of_one_batch(yours):
    model, batches, optimizer = setting(0)
    model.layer.weight.grad = torch.ones(2, 3)  # left behind by somebody
    train(yours, model, batches, optimizer)
    equal(len(optimizer.seen), 2, "one step for each batch", what="how many steps were taken")
    holds(optimizer.seen[0] is not None, "step reads the .grad fields: backward comes before it",
          what="the gradient in the first step", got="None", expected="an array")
    for number, seen in enumerate(optimizer.seen):
        close(seen, gradient(model, batches[number]), "gradients add up in .grad unless they are cleared first",
              what=f"the gradient in step {number + 1}", tolerance=1e-4)


@points(1, "training mode in train_epoch")
def test_trains_in_training_mode(yours):
    model, batches, optimizer = setting(1)
    train(yours, model.eval(), batches, optimizer)
    equal(model.modes[:2], [True, True], "Dropout drops out only in training mode: model.train() switches it on",
          what="the mode of the model's part while training")


@points(1, "the mean loss is that of an example")
def test_mean_of_examples(yours):
    model, batches, optimizer = setting(2, sizes=(6, 1))
    found = train(yours, model, batches, optimizer)
    equal(type(found).__name__, "float", "a float holds no graph", what="the type of the result")
    inputs, targets = (torch.cat(parts) for parts in zip(*batches))
    expected = nn.functional.cross_entropy(model.layer(inputs), targets).item()
    close(found, expected, "a batch of 1 counts less than one of 6", what="the mean loss", tolerance=1e-4)


@points(1, "evaluation mode in accuracy")
def test_evaluates_in_evaluation_mode(yours):
    model, batches, _ = setting(3)
    yours.accuracy(model.train(), batches)
    equal(model.modes, [False, False], "a network that is judged does not drop out, nor do its parts: model.eval()",
          what="the mode of the model's part while evaluating")


@points(1, "no graph in accuracy")
def test_evaluates_without_a_graph(yours):
    model, batches, _ = setting(4)
    yours.accuracy(model, batches)
    equal(model.graphs, [False, False], "nobody will call backward: torch.no_grad()",
          what="torch.is_grad_enabled() while evaluating")
    holds(torch.is_grad_enabled(), "grad mode is on again afterwards", what="torch.is_grad_enabled() afterwards")


@points(1, "the model's mode is put back")
def test_mode_is_put_back(yours):
    model, batches, _ = setting(5)
    for mode in (True, False):
        yours.accuracy(model.train(mode), batches)
        found = [model.training, model.layer.training]
        equal(found, [mode, mode], "the model is left in the mode it was in",
              what="the modes of it and its part afterwards")


@points(1, "any batches")
def test_any(yours, rng):
    sizes = [rng.randrange(1, 6) for _ in range(4)]
    model, batches, optimizer = setting(rng.randrange(10**6), sizes)
    inputs, targets = (torch.cat(parts) for parts in zip(*batches))
    outputs = model.layer(inputs)
    loss = nn.functional.cross_entropy(outputs, targets).item()
    right = (outputs.argmax(1) == targets).float().mean().item()
    close(train(yours, model, batches, optimizer), loss, "the sum over all examples, by their number",
          what="the mean loss", tolerance=1e-4)
    close(yours.accuracy(model, batches), right, "right ones over all", what="the accuracy", tolerance=1e-4)
