"""One-hot, counting, and a confusion matrix: scatter in three forms.

    labels 2 0      one-hot   0 0 1      a 1 is scattered to the place that the label names
                              1 0 0

    labels 2 0 2    counts    1 0 2      scatter_add: two writes to one place add up
"""

import teachtorch as torch


def one_hot(labels, classes):
    """Return an int64 tensor of shape (*labels.shape, classes): 1 where the label says, else 0.

    labels: int64 tensor of any shape. classes: an int. Raises RuntimeError for a label outside 0 to classes
    - 1; negative labels do not count from the end.
    """
    raise NotImplementedError


def count_labels(labels, classes):
    """Return an int64 tensor of shape (classes,): how often each label occurs.

    labels: int64 tensor of any shape.
    """
    raise NotImplementedError


def confusion(labels, guesses, classes):
    """Return an int64 tensor of shape (classes, classes): entry [i, j] counts label i that was guessed as j.

    labels, guesses: int64 tensors of shape (N,).
    """
    raise NotImplementedError


def scores_of_labels(scores, labels):
    """Return a tensor of shape (N,): of each row of `scores` the entry that its label names.

    scores: tensor of shape (N, classes), it may require grad. labels: int64 tensor of shape (N,).
    """
    raise NotImplementedError
