"""torch.backends.mps: Apple's GPUs are not in this build."""


def is_available():
    return False


def is_built():
    return False


def is_macos_or_newer(major, minor):
    """Whether this is such a macOS: not asked, since nothing here would use it."""
    return False
