"""Changes the rate at epoch 0, too."""

import math

FAILS = "test_chained"
SAYS = "not at 0"


def step(epoch, step_size, gamma):
    return gamma ** (epoch // step_size)


def multistep(epoch, milestones, gamma):
    return gamma ** sum(epoch >= milestone for milestone in milestones)


def linear(epoch, start, total):
    return start + (1 - start) * min(epoch, total) / total


def cosine(epoch, initial, minimum, half):
    return minimum + (initial - minimum) * (1 + math.cos(math.pi * epoch / half)) / 2


def chained(rate, epoch, step_size, gamma):
    return rate * gamma if epoch % step_size == 0 else rate
