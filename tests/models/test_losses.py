"""From the same weights, the losses of whole models follow PyTorch's for twenty steps."""
import pytest

import teachtorch
from tests.models.models import MODELS

STEPS = 20


def losses(T, name):
    T.manual_seed(0)
    return MODELS[name](T, STEPS)


@pytest.mark.parametrize("name", MODELS)
def test_losses_follow_pytorch(name):
    torch = pytest.importorskip("torch")
    assert losses(teachtorch, name) == pytest.approx(losses(torch, name), abs=1e-4, rel=1e-4)


@pytest.mark.parametrize("name", ["cnn", "characters", "lstm", "gpt", "vae"])
def test_losses_fall(name):
    found = losses(teachtorch, name)
    assert sum(found[-5:]) < sum(found[:5]) and len(found) == STEPS


@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_gives_the_same_losses(name):
    assert losses(teachtorch, name) == losses(teachtorch, name)
