"""torch.backends.openmp: not in this build."""


def is_available():
    return False
