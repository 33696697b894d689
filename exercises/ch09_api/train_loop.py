"""The training loop that every PyTorch script has: an epoch of training, and an evaluation.

    for each batch:   gradients to zero -> outputs -> loss -> backward -> step
    afterwards:       evaluation mode, no graph -> outputs -> how many are right -> the mode of before

A module in training mode drops values out (Dropout) and looks at its batch (BatchNorm); in evaluation mode it does
neither.
"""

import teachtorch as torch


def train_epoch(model, batches, loss_function, optimizer):
    """Train on each batch once, in training mode; return the mean loss of an example, as a float.

    batches: pairs (inputs, targets), not all of one size. loss_function(outputs, targets): the mean over a batch.
    optimizer: has `zero_grad()` and `step()`. The mean is over examples: a small batch counts less.
    """
    raise NotImplementedError


def accuracy(model, batches):
    """The share of examples whose largest output is at the place of their target, as a float.

    The outputs are computed in evaluation mode and without a graph. The model is left in the mode it was in.
    """
    raise NotImplementedError
