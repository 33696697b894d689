"""Undoing broadcasting: the one helper that all derivatives share."""


def sum_to(grad, shape):
    """Sum a gradient over the dimensions that broadcasting added or stretched, back to `shape`."""
    added = len(grad._shape) - len(shape)
    if added:
        grad = grad.sum(tuple(range(added)))
    stretched = tuple([i for i, n in enumerate(shape) if n == 1 and grad._shape[i] != 1])
    return grad.sum(stretched, True) if stretched else grad


def is_expandable_to(shape, wider):
    """Whether broadcasting can turn `shape` into `wider`."""
    if len(shape) > len(wider):
        return False
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(wider)))
