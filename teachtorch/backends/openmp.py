"""torch.backends.openmp: not in this build."""


def is_available():
    """Whether OpenMP is in this build: no."""
    return False
