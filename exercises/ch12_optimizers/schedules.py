"""Learning rates as a function of the epoch.

epoch counts the calls of scheduler.step(): the constructor makes the first one, which gives epoch 0. All are
factors of the initial rate, except where said.

    step           gamma once more after every step_size epochs
    multistep      gamma once more at each milestone; a milestone that is there twice counts twice
    linear         from start to 1, in equal parts over `total` epochs; 1 after that
    cosine         the RATE goes from initial to minimum along half a cosine in `half` epochs, then back up

A scheduler does not compute this closed form. In each step it changes the rate that it finds (get_lr), so
that two schedulers on one optimizer multiply. `chained` does it for step.
"""

import math


def step(epoch, step_size, gamma):
    """The factor of StepLR."""
    raise NotImplementedError


def multistep(epoch, milestones, gamma):
    """The factor of MultiStepLR. milestones: a list of epochs in any order."""
    raise NotImplementedError


def linear(epoch, start, total):
    """The factor of LinearLR."""
    raise NotImplementedError


def cosine(epoch, initial, minimum, half):
    """The rate of CosineAnnealingLR."""
    raise NotImplementedError


def chained(rate, epoch, step_size, gamma):
    """The rate of StepLR in this epoch, from the rate of the epoch before, whoever made that one."""
    raise NotImplementedError
