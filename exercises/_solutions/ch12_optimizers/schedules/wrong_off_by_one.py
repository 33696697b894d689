"""Counts the constructor as a first epoch."""

import math

FAILS = "test_step"
SAYS = "what the constructor sets"


def step(epoch, step_size, gamma):
    return gamma ** ((epoch + 1) // step_size)


def multistep(epoch, milestones, gamma):
    return gamma ** sum(epoch >= milestone for milestone in milestones)


def linear(epoch, start, total):
    return start + (1 - start) * min(epoch, total) / total


def cosine(epoch, initial, minimum, half):
    return minimum + (initial - minimum) * (1 + math.cos(math.pi * epoch / half)) / 2


def chained(rate, epoch, step_size, gamma):
    return rate * gamma if epoch > 0 and epoch % step_size == 0 else rate
