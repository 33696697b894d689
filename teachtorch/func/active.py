"""Which transforms are at work: a Function asks before it runs (autograd/function.py)."""
import contextlib

from ..dispatch.state import state


@contextlib.contextmanager
def transform(name):
    """In the block the transform `name` ("grad", "jvp", "vmap") is at work."""
    before = state.transforms
    state.transforms = (*before, name)
    try:
        yield
    finally:
        state.transforms = before
