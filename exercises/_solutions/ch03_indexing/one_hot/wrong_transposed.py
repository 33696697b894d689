"""Counts guesses in the rows."""

import teachtorch as torch

FAILS = "test_confusion"
SAYS = "rows are labels"


def one_hot(labels, classes):
    zeros = torch.zeros(*labels.shape, classes, dtype=torch.int64)
    return zeros.scatter(-1, labels.unsqueeze(-1), 1)


def count_labels(labels, classes):
    flat = labels.reshape(-1)
    return torch.zeros(classes, dtype=torch.int64).scatter_add(0, flat, torch.ones_like(flat))


def confusion(labels, guesses, classes):
    return count_labels(guesses * classes + labels, classes**2).reshape(classes, classes)


def scores_of_labels(scores, labels):
    return scores.gather(1, labels.unsqueeze(1)).squeeze(1)
