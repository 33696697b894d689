"""Sets the model's own flag, and leaves its parts alone."""

import teachtorch as torch

FAILS = "test_evaluates_in_evaluation_mode"
SAYS = "nor do its parts"


def train_epoch(model, batches, loss_function, optimizer):
    model.train()
    total, count = 0.0, 0
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)
        count += len(targets)
    return total / count


def accuracy(model, batches):
    was_training = model.training
    model.training = False
    right, count = 0, 0
    with torch.no_grad():
        for inputs, targets in batches:
            right += (model(inputs).argmax(1) == targets).sum().item()
            count += len(targets)
    model.training = was_training
    return right / count
