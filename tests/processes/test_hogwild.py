"""Hogwild on real digits: two processes, one model, no lock, and it learns what one process learns."""

import pytest

import teachtorch as torch
from teachtorch import nn
from teachtorch.datasets import split_digits
from teachtorch.multiprocessing.hogwild import hogwild, train


def model_of_digits():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def digits():
    return [
        (torch.from_numpy(images).flatten(1), torch.from_numpy(labels)) for images, labels in split_digits()
    ]


@torch.no_grad()
def accuracy(model, images, labels):
    return (model(images).argmax(1) == labels).float().mean().item()


def test_two_processes_reach_the_accuracy_of_one():
    training, unseen = digits()
    alone, together = model_of_digits(), model_of_digits().share_memory()
    threads = torch.get_num_threads()
    train(0, alone, *training, nprocs=1, epochs=12, lr=0.1)
    torch.set_num_threads(threads)
    hogwild(together, *training, nprocs=2, epochs=12, start_method="fork")
    assert accuracy(model_of_digits(), *unseen) < 0.3
    assert accuracy(alone, *unseen) > 0.94
    assert accuracy(together, *unseen) > accuracy(alone, *unseen) - 0.02
    assert all(p.grad is None for p in together.parameters())


def test_a_model_that_is_not_shared_is_refused():
    with pytest.raises(ValueError, match="share_memory"):
        hogwild(model_of_digits(), torch.ones(2, 64), torch.tensor([0, 1]))
