"""FakeTensorMode, beside PyTorch: what a fake tensor looks like, and what it refuses."""
import importlib

import pytest


class World:
    """The same tensors in one of the two libraries."""

    def __init__(self, name):
        self.torch = torch = importlib.import_module(name)
        self.fake = importlib.import_module(name + "._subclasses.fake_tensor")
        mode, real = self.fake.FakeTensorMode(), torch.arange(6.0).reshape(2, 3)
        self.names = {"torch": torch, "mode": mode, "real": real, "f": mode.from_tensor(real),
                      "ft": mode.from_tensor(real.t()), "g": mode.from_tensor(torch.ones(3, requires_grad=True)),
                      "other": self.fake.FakeTensorMode().from_tensor(real),
                      "allowing": self.fake.FakeTensorMode(allow_non_fake_inputs=True), "inside": self.inside}
        with mode:
            self.names.update(c=torch.ones(2, 3, device="cuda"), k=torch.tensor(3), pair=torch.tensor([1.0, 2.0]),
                              i=torch.arange(4), layer=torch.nn.Linear(3, 4))

    def inside(self, function):
        with self.names["mode"]:
            return function()

    def outcome(self, expression):
        """What an expression gives, as text: tensors as they print, with their geometry; errors by type and words."""
        try:
            found = eval(expression, self.names)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0].split(' x.fake_mode')[0]}"
        if isinstance(found, self.torch.Tensor):
            return f"{found!r} {tuple(found.stride())} {found.device} {found.requires_grad} {found.storage_offset()}"
        return repr(found)


@pytest.fixture(scope="module")
def worlds():
    return World("teachtorch"), World("torch")


LOOKS = ["f", "ft", "g", "c", "i", "k", "c.device", "c.is_cuda", "f.fake_device", "f.fake_mode is mode", "f.is_meta",
         "len(f)", "f.numel()", "f.element_size()", "f.untyped_storage().nbytes()", "g.is_leaf", "layer", "layer.weight",
         "isinstance(layer.weight, torch.nn.Parameter)", "mode.from_tensor(real) is mode.from_tensor(real)",
         "mode.from_tensor(torch.ones(2, device='meta'))", "f[1]", "f[1:]", "inside(lambda: real)"]
COMPUTES = ["f + f", "f @ ft", "f @ g", "(f * g).sum()", "inside(lambda: f + 1)", "f.sum(0)", "f.view(3, 2)", "f.add_(1) is f",
            "f.relu()", "torch.cat([f, f])", "f.max(0)", "f.sort()", "layer(f)",
            "layer(f).sum().backward() or layer.weight.grad", "f.clone()", "f.detach()", "f.bernoulli()", "torch.rand_like(f)",
            "f.new_zeros(2)", "torch.zeros_like(f)", "inside(lambda: torch.zeros_like(f))", "f == f", "torch.where(f > 0, f, f)",
            "torch.repeat_interleave(i, 2)", "f.unsqueeze(0).expand(4, 2, 3)", "f.t().contiguous()", "c.cpu()",
            "c.to(torch.float64)", "torch.nn.functional.conv2d(f.view(1, 1, 2, 3), f.view(1, 1, 2, 3))",
            "inside(lambda: torch.ones(2, 3) + torch.ones(2, 3))", "inside(lambda: torch.ones(2, device='meta'))",
            "allowing.from_tensor(real) + real", "f.any()", "torch.multinomial(f, 1)", "f.unflatten(1, (3, 1))"]
REFUSES = ["f.item()", "f[0, 0].item()", "bool(f[0, 0])", "float(f[0, 0])", "int(f[0, 0])", "f.tolist()", "f.numpy()", "f.nonzero()",
           "inside(lambda: torch.nonzero(f))", "torch.masked_select(f, f > 0)", "f[f > 0]", "torch.bincount(i)",
           "torch.argwhere(f)", "f + c", "f + torch.ones(2, 3)", "f + torch.tensor(1.)", "torch.ones(2, 3) + f",
           "f + other", "inside(lambda: real + 1)", "f.copy_(real)", "pair.item()", "pair.tolist()"]
CONSTANTS = ["k.item()", "(k + k).item()", "bool(k)", "c + k", "f[0, 0] + c", "c + inside(lambda: torch.tensor(1.))"]


@pytest.mark.parametrize("expression", LOOKS + COMPUTES + REFUSES + CONSTANTS)
def test_as_in_pytorch(worlds, expression):
    ours, theirs = (world.outcome(expression) for world in worlds)
    assert ours == theirs


def test_a_constant_that_is_changed_is_none_any_more(worlds):
    for world in worlds:
        with world.names["mode"]:
            k = world.torch.tensor(3)
            k.add_(world.torch.ones((), dtype=world.torch.int64))
        with pytest.raises(world.fake.DataDependentOutputException):
            k.item()


@pytest.mark.parametrize("expression", ["torch.equal(f, f)", "torch.allclose(f, f)", "torch.unique(f)"])
def test_these_are_refused_under_another_name(worlds, expression):
    """PyTorch names the operator; here a value is read, or the operator has another name."""
    ours, theirs = (world.outcome(expression).split(":")[0] for world in worlds)
    assert ours == theirs


def test_a_model_is_sized_without_memory():
    import teachtorch as torch
    from teachtorch._subclasses import FakeTensorMode

    with FakeTensorMode():
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                                    torch.nn.Flatten(), torch.nn.Linear(4 * 30 * 30, 1_000_000, device="cpu"))
        logits = model(torch.rand(5, 3, 32, 32))
        torch.nn.functional.cross_entropy(logits, torch.randint(10, (5,))).backward()
    assert logits.shape == (5, 1_000_000)
    assert model[4].weight.grad.untyped_storage().nbytes() == 4 * 3600 * 1_000_000
    assert all(type(p).__name__ == "FakeTensor" for p in model.parameters())


def test_an_operator_without_a_rule_is_named(worlds):
    for world in worlds:
        library = world.torch.library

        @library.custom_op("fake_tests::no_rule", mutates_args=())
        def no_rule(x: world.torch.Tensor) -> world.torch.Tensor:
            return x.clone()

        with pytest.raises(RuntimeError, match="no fake impl registered for <CustomOpDef.fake_tests::no_rule.>"):
            no_rule(world.names["f"])
        defined = library.Library("fake_tests_defined", "DEF")
        defined.define("no_rule(Tensor x) -> Tensor")
        defined.impl("no_rule", lambda x: x.clone(), "CPU")
        with pytest.raises(world.fake.UnsupportedOperatorException, match="fake_tests_defined.no_rule.default"):
            world.torch.ops.fake_tests_defined.no_rule(world.names["f"])
