"""Grades freeze.py."""

import teachtorch as torch
from exercises.grading import equal, points

nn = torch.nn


def small_model():
    """A body with a BatchNorm and a dropout, and a head."""
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    return nn.Sequential(body, nn.Linear(4, 2))


def train(model, optimizer, steps=1):
    """Training steps as everybody writes them."""
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(5, 3) * torch.arange(5.0).unsqueeze(1)).pow(2).sum().backward()
        optimizer.step()


def weights(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def changed(model, before):
    return sorted(name for name, p in model.named_parameters() if not torch.equal(p.detach(), before[name]))


@points(1, "no gradient for a frozen part, and gradients for the rest")
def test_no_gradient(yours):
    model = small_model()
    yours.freeze(model[0])
    flags = [parameter.requires_grad for parameter in model[0].parameters()]
    equal(flags, [False] * 4, "requires_grad_(False) for every parameter", what="requires_grad of the body")
    flags = [parameter.requires_grad for parameter in model[1].parameters()]
    equal(flags, [True] * 2, "the head is not frozen", what="requires_grad of the head")


@points(2, "no optimizer moves it: neither weight decay nor momentum")
def test_stale_gradients(yours):
    for more in ({"weight_decay": 0.1}, {"momentum": 0.9}):
        model = small_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **more)
        train(model, optimizer)
        yours.freeze(model[0])
        before = weights(model[0])
        optimizer.step()
        why = "an optimizer steps every parameter whose .grad is not None, zeros too: .grad must be None"
        equal(changed(model[0], before), [], why, what=f"parameters of the body that SGD with {more} moves")


@points(1, "frozen parts are in evaluation mode, the others in training mode")
def test_modes(yours):
    model = small_model()
    model.eval()
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    yours.train_mode(model)
    why = "the statistics of a frozen BatchNorm must not be updated: it has to be in evaluation mode"
    equal(model[0][1].training, False, why, what="the BatchNorm's training")
    equal(model[1].training, True, "the head learns", what="the head's training")
    why = "a dropout inside the frozen body belongs to it, although it has no parameters"
    equal(model[0][2].training, False, why, what="the body's dropout's training")


@points(1, "what is not frozen trains, dropout and BatchNorm included")
def test_modes_of_the_rest(yours):
    model = small_model()
    model[1].requires_grad_(False)
    model.eval()
    yours.train_mode(model)
    got = [part.training for part in (model, model[0], *model[0], model[1])]
    why = "only the head is frozen: body, BatchNorm and dropout train (a dropout has no parameters to freeze)"
    equal(got, [True] * 5 + [False], why, what="training of model, body, its three parts, head")


@points(1, "moved names the parameters that changed")
def test_moved(yours):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))

    def step():
        with torch.no_grad():
            model[1].weight += 1

    why = "compare with copies: state_dict() gives the tensors themselves"
    equal(yours.moved(model, step), ["1.weight"], why)
    equal(yours.moved(model, lambda: None), [], "nothing changed")


@points(1, "and the buffers")
def test_moved_buffers(yours):
    model = nn.Sequential(nn.BatchNorm1d(2))
    got = yours.moved(model, lambda: model(torch.tensor([[1.0, 2.0], [3.0, 5.0]])))
    expected = ["0.num_batches_tracked", "0.running_mean", "0.running_var"]
    equal(got, expected, "a forward in training mode updates the statistics, which are buffers")


@points(2, "all together: a training run moves the head, and nothing else")
def test_together(yours):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.1)
    train(model, optimizer, steps=2)
    yours.freeze(model[0])
    yours.train_mode(model)
    got = yours.moved(model, lambda: train(model, optimizer, steps=2))
    equal(got, ["1.bias", "1.weight"], "neither weights nor statistics of the body", what="what has moved")
