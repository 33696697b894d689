"""Clears the gradients after the step, so that the first step sees old ones."""

import teachtorch as torch

FAILS = "test_gradient_of_one_batch"
SAYS = "cleared first"


def train_epoch(model, batches, loss_function, optimizer):
    model.train()
    total, count = 0.0, 0
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item() * len(targets)
        count += len(targets)
    return total / count


def accuracy(model, batches):
    was_training = model.training
    model.eval()
    right, count = 0, 0
    with torch.no_grad():
        for inputs, targets in batches:
            right += (model(inputs).argmax(1) == targets).sum().item()
            count += len(targets)
    model.train(was_training)
    return right / count
