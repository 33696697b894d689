"""torch.backends.cudnn: not in this build; its switches may be set."""
from contextlib import contextmanager

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available():
    return False


def version():
    """None: there is no cuDNN."""
    return None


def is_acceptable(tensor):
    """Whether cuDNN would take this tensor: never."""
    return False


@contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """The switches for a block."""
    given = dict(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
                 allow_tf32=allow_tf32)
    before = {name: globals()[name] for name in given}
    globals().update(given)
    try:
        yield
    finally:
        globals().update(before)
