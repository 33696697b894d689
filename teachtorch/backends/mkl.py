"""torch.backends.mkl: not in this build."""


def is_available():
    return False
