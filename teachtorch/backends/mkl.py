"""torch.backends.mkl: not in this build."""


def is_available():
    """Whether Intel's MKL is in this build: no."""
    return False
