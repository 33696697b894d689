"""The switches of the current thread that a call reads: included and excluded keys, and the grad modes."""
import threading
from contextlib import contextmanager

from . import keys


class ThreadState(threading.local):
    """One per thread; the class attributes are what a new thread starts with."""

    included = keys.BACKEND_SELECT | keys.AD_INPLACE_OR_VIEW
    excluded = 0
    grad_enabled = True
    inference = False
    dual_level = False          # whether a dual level is open
    forward_grad = True         # whether tensors may have tangents
    forward_ad = False          # whether both hold
    transforms = ()             # names of the transforms of teachtorch.func that are at work, outermost first
    saved_tensors_hooks = None  # (pack, unpack), innermost
    is_device_thread = False    # whether it runs an accelerator's kernels: what they call is no call of the user's
    function_modes = ()         # TorchFunctionModes that are on, outermost first
    dispatch_modes = ()         # TorchDispatchModes that are on, outermost first
    subclass_functions = True   # whether the classes of arguments are asked for __torch_function__
    depth = 0                   # of nested calls, while somebody observes


state = ThreadState()


def set_grad_mode(enabled):
    """Record calls or not. Without recording the Autograd kernels would only pass on, so their key is excluded,
    unless a dual level is open: forward mode goes on under no_grad. Inference mode records no call, even where
    enable_grad() is on."""
    state.grad_enabled = enabled
    if enabled and not state.inference or state.forward_ad:
        state.excluded &= ~keys.AUTOGRAD
    else:
        state.excluded |= keys.AUTOGRAD


def switch_forward_ad(dual_level, forward_grad):
    """Let operators look at tangents, or not: a dual level must be open, and tensors must be allowed tangents."""
    state.dual_level, state.forward_grad = dual_level, forward_grad
    state.forward_ad = dual_level and forward_grad
    state.included = state.included | keys.FORWARD_AD if state.forward_ad else state.included & ~keys.FORWARD_AD
    set_grad_mode(state.grad_enabled)


@contextmanager
def excluding(key_set):
    """Make calls in the block pass over these keys."""
    before = state.excluded
    state.excluded = before | key_set
    try:
        yield
    finally:
        state.excluded = before


@contextmanager
def including(key_set):
    """Add these keys to the key set of every call in the block."""
    before = state.included
    state.included = before | key_set
    try:
        yield
    finally:
        state.included = before
