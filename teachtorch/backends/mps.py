"""torch.backends.mps: Apple's GPUs are not in this build."""


def is_available():
    """Whether there is an Apple GPU to use: no."""
    return False


def is_built():
    """Whether there are kernels for Apple's GPUs: no."""
    return False


def is_macos_or_newer(major, minor):
    """Whether this is such a macOS: not asked, since nothing here would use it."""
    return False
