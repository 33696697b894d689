"""Grades load_what_fits.py."""

import teachtorch as torch
from exercises.grading import array_of, equal, holds, points
from teachtorch import nn


class Net(nn.Module):
    """Features, a normalisation with buffers, a head; `inner` gives it a part that is called `module`."""

    def __init__(self, classes=2, inner=False):
        super().__init__()
        self.features = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, classes)
        if inner:
            self.module = nn.Linear(2, 2)

    def __repr__(self):
        return "model"


def state_of(model, prefix=""):
    """Its state, copied, with other values."""
    return {prefix + name: value.clone() + 1 for name, value in model.state_dict().items()}


def values(model, name):
    return array_of(model.state_dict()[name]).tolist()


@points(1, "parameters of the same name and shape are copied")
def test_parameters(yours):
    torch.manual_seed(0)
    model = Net()
    state = state_of(Net())
    loaded, left, unexpected = yours.load_what_fits(model, state)
    equal(values(model, "features.weight"), state["features.weight"].tolist(), "it has the same name and shape",
          what="features.weight after loading")
    equal([left, unexpected], [[], []], "all of it fits", what="left and unexpected")
    holds("head.bias" in loaded, "it was loaded", what="whether head.bias is among the loaded names")


@points(1, "buffers are copied too")
def test_buffers(yours):
    model = Net()
    state = state_of(Net())
    yours.load_what_fits(model, state)
    equal(values(model, "norm.running_mean"), state["norm.running_mean"].tolist(),
          "running_mean is a buffer: no parameter, but part of the state", what="norm.running_mean after loading")


@points(1, "what has another shape is left")
def test_shapes(yours):
    torch.manual_seed(1)
    model, other = Net(classes=2), Net(classes=4)
    before = values(model, "head.weight")
    state = state_of(other)
    state["features.weight"] = state["features.weight"].reshape(3, 4)
    loaded, left, unexpected = yours.load_what_fits(model, state)
    why = "an entry fits if it has the same shape; as many elements in another shape do not fit"
    fits = ["features.bias", *(f"norm.{name}" for name in sorted(Net().norm.state_dict()))]
    equal(loaded, fits, f"all others have the same shape, and the list is sorted: {why}",
          what="the names that were loaded")
    equal(left, ["features.weight", "head.bias", "head.weight"], why, what="the names that were left")
    equal(unexpected, [], "the model has all these names: what fits is of the same shape", what="unexpected")
    equal(values(model, "head.weight"), before, why, what="head.weight after loading")


@points(1, "names that the model lacks are unexpected")
def test_unexpected(yours):
    state = {**state_of(Net()), "old.weight": torch.ones(2), "old.bias": torch.ones(1)}
    *_, unexpected = yours.load_what_fits(Net(), state)
    equal(unexpected, ["old.bias", "old.weight"], "they are in the file only; sorted", what="the unexpected names")


@points(1, "the prefix of DataParallel is taken off, and only that")
def test_prefix(yours):
    model, state = Net(), state_of(Net(), prefix="module.")
    _, left, unexpected = yours.load_what_fits(model, state)
    equal([left, unexpected], [[], []], 'all names begin with "module.": without it they fit', what="left and unexpected")
    model, state = Net(inner=True), state_of(Net(inner=True))
    _, left, unexpected = yours.load_what_fits(model, state)
    equal([left, unexpected], [[], []], "here a part of the model is called module: not all names begin with it",
          what="left and unexpected")
    state = state_of(Net(inner=True), prefix="module.")
    _, left, _ = yours.load_what_fits(model, state)
    equal(left, [], '"module.module.weight" is module.weight: a part of the model is called module', what="left")


@points(1, "the parameters stay the same objects")
def test_parameters_stay(yours):
    model = Net()
    model.features.weight.requires_grad_(False)
    weights = dict(model.named_parameters())
    yours.load_what_fits(model, state_of(Net()))
    same = all(parameter is weights[name] for name, parameter in model.named_parameters())
    holds(same, "an optimizer holds these objects: copy in place", what="whether each parameter is the same object")
    equal([p.requires_grad for p in model.parameters()][0], False, "it was frozen before",
          what="features.weight.requires_grad")
    holds(model.head.weight.grad_fn is None, "copying is not part of any graph: no_grad", what="head.weight.grad_fn")


@points(1, "the state is left alone")
def test_state_is_left_alone(yours):
    model, state = Net(), state_of(Net(), prefix="module.")
    names, before = list(state), state["module.head.weight"].tolist()
    yours.load_what_fits(model, state)
    equal(list(state), names, "it belongs to the caller", what="the names in state afterwards")
    with torch.no_grad():
        model.head.weight.add_(1)
    equal(state["module.head.weight"].tolist(), before, "the model holds copies: training it does not change the file's",
          what="head.weight of the state, after the model was changed")
