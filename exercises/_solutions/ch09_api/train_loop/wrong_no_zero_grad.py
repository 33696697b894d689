"""Never clears the gradients."""

import teachtorch as torch

FAILS = "test_gradient_of_one_batch"
SAYS = "add up"


def train_epoch(model, batches, loss_function, optimizer):
    """Train on each batch once, in training mode; return the mean loss of an example, as a float.

    batches: pairs (inputs, targets), not all of one size. loss_function(outputs, targets): the mean over a batch.
    optimizer: has `zero_grad()` and `step()`. The mean is over examples: a small batch counts less.
    """
    model.train()
    total, count = 0.0, 0
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)
        count += len(targets)
    return total / count


def accuracy(model, batches):
    """The share of examples whose largest output is at the place of their target, as a float.

    The outputs are computed in evaluation mode and without a graph. The model is left in the mode it was in.
    """
    was_training = model.training
    model.eval()
    right, count = 0, 0
    with torch.no_grad():
        for inputs, targets in batches:
            right += (model(inputs).argmax(1) == targets).sum().item()
            count += len(targets)
    model.train(was_training)
    return right / count
