"""Grades gan_step.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points
from teachtorch import nn


class Counted(nn.Sequential):
    """A network that counts how often it runs."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x)

    def __repr__(self):
        return "network"


class Spy:
    """Plain gradient descent on two networks' tensors that looks at all gradients when it steps."""

    def __init__(self, module, other):
        self.parameters, self.other = list(module.parameters()), list(other.parameters())
        self.seen = []

    def __repr__(self):
        return "optimizer"

    def zero_grad(self):
        for each in self.parameters:
            each.grad = None

    def step(self):
        self.seen.append([gradients(self.parameters), gradients(self.other)])
        with torch.no_grad():
            for each in self.parameters:
                if each.grad is not None:
                    each -= 0.1 * each.grad


class Setting:
    """Two small networks, their optimizers, and samples."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.generator = Counted(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
        self.discriminator = Counted(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1), nn.Sigmoid())
        self.d_optimizer = Spy(self.discriminator, self.generator)
        self.g_optimizer = Spy(self.generator, self.discriminator)
        self.real, self.noise = torch.randn(4, 2), torch.randn(4, 2)

    def step(self, yours):
        """One step of the learner's."""
        networks = self.discriminator, self.generator, self.d_optimizer, self.g_optimizer
        return yours.gan_step(self.real, self.noise, *networks)

    def d_loss(self):
        """The discriminator's loss as it should be now."""
        fake = self.generator(self.noise).detach()
        return -self.discriminator(self.real).log().mean() - (1 - self.discriminator(fake)).log().mean()

    def g_loss(self):
        """The generator's loss as it should be now."""
        return -self.discriminator(self.generator(self.noise)).log().mean()


def gradients(parameters):
    """Copies of the gradients, None where there is none."""
    return [None if each.grad is None else array_of(each.grad) for each in parameters]


def expected_gradients(loss, module):
    """What autograd says about a loss."""
    return [array_of(each) for each in torch.autograd.grad(loss, list(module.parameters()))]


def zero(grads):
    """Whether no gradient has arrived."""
    return all(each is None or not each.any() for each in grads)


def near(got, expected, why, what):
    """Compare two lists of gradients; one that is missing is a 0."""
    for mine, theirs in zip(got, expected):
        close(np.zeros_like(theirs) if mine is None else mine, theirs, why, what=what, tolerance=1e-4)


@points(1, "both networks are trained")
def test_both_learn(yours):
    setting = Setting(0)
    before = [
        array_of(each) for each in (*setting.generator.parameters(), *setting.discriminator.parameters())
    ]
    setting.step(yours)
    after = [
        array_of(each) for each in (*setting.generator.parameters(), *setting.discriminator.parameters())
    ]
    moved = [not np.array_equal(mine, theirs) for mine, theirs in zip(before, after)]
    why = "the G loss must reach the generator: its fake samples are not detached there"
    holds(any(moved[:4]), why, what="whether a parameter of the generator moved", got="no", expected="yes")
    holds(any(moved[4:]), "it steps too", what="whether a parameter of the discriminator moved")


@points(1, "the D loss gives the generator no gradient")
def test_d_step_spares_generator(yours):
    setting = Setting(1)
    setting.step(yours)
    why = "the fake samples are detached for the D loss: nothing flows back into the generator"
    spared = zero(setting.d_optimizer.seen[0][1])
    holds(
        spared,
        why,
        what="the generator's gradients when the discriminator steps",
        got="not 0",
        expected="none",
    )


@points(1, "the discriminator steps with the gradient of its own loss")
def test_d_gradient(yours):
    setting = Setting(2)
    setting.step(yours)
    expected = expected_gradients(setting.d_loss(), setting.discriminator)
    setting.step(yours)
    why = "the G loss of the step before has left gradients in the discriminator: zero_grad takes them away"
    near(setting.d_optimizer.seen[1][0], expected, why, "the discriminator's gradient in the second step")


@points(1, "the G loss asks the discriminator after its step")
def test_g_gradient(yours):
    setting = Setting(3)
    generator = [array_of(each) for each in setting.generator.parameters()]
    setting.step(yours)
    moved = [array_of(each) for each in setting.generator.parameters()]
    restore(setting.generator, generator)
    expected = expected_gradients(setting.g_loss(), setting.generator)
    restore(setting.generator, moved)
    why = "first the discriminator steps; then the G loss is computed with the discriminator as it is now"
    near(setting.g_optimizer.seen[0][0], expected, why, "the generator's gradient in the first step")
    expected = [array_of(each) for each in setting.generator.parameters()]
    setting = Setting(3)
    for each in setting.generator.parameters():
        each.grad = torch.ones_like(each)
    setting.step(yours)
    why = "what an earlier step has left in the generator's .grad is taken away: zero_grad"
    near([array_of(each) for each in setting.generator.parameters()], expected, why, "the generator after the step")


def restore(module, arrays):
    """Write arrays into the parameters."""
    with torch.no_grad():
        for parameter, values in zip(module.parameters(), arrays):
            parameter.copy_(torch.tensor(values))


@points(1, "the generator runs once in a step")
def test_runs_once(yours):
    setting = Setting(4)
    setting.step(yours)
    equal(
        setting.generator.calls,
        1,
        "one batch of fakes serves both losses",
        what="how often the generator ran",
    )


@points(1, "the losses come back as floats")
def test_losses(yours):
    setting = Setting(5)
    d_loss = setting.d_loss().item()
    answer = setting.step(yours)
    kinds = [type(each).__name__ for each in answer]
    equal(kinds, ["float", "float"], "a float holds no graph", what="the types that gan_step returns")
    close(
        answer[0],
        d_loss,
        "loss_real of the real ones and loss_fake of the fakes",
        what="d_loss",
        tolerance=1e-4,
    )


@points(1, "any networks")
def test_any(yours, rng):
    setting = Setting(rng.randrange(10**6))
    for number in range(3):
        expected = expected_gradients(setting.d_loss(), setting.discriminator)
        setting.step(yours)
        what = f"the discriminator's gradient in step {number + 1}"
        near(setting.d_optimizer.seen[number][0], expected, "the gradient of the D loss alone", what)
