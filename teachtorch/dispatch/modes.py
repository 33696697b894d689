"""Modes: objects that see every call in a block of a thread. One stack for functions, one for operators."""
from contextlib import contextmanager

from . import keys as K
from .state import state


class Modes:
    """A stack of modes of the current thread, kept in a field of `state`.

    While there are any, every call carries the stack's key, so that a call without modes pays nothing.
    """

    def __init__(self, field, key):
        self.field, self.key = field, key

    def on(self):
        """The modes that are on, outermost first."""
        return getattr(state, self.field)

    def set(self, modes):
        """These are the modes, from now on."""
        setattr(state, self.field, modes)
        if modes:
            state.included |= self.key
        else:
            state.included &= ~self.key

    def push(self, mode):
        self.set((*self.on(), mode))

    def pop(self):
        self.set(self.on()[:-1])

    @contextmanager
    def without_innermost(self):
        """The innermost mode, which is off in the block: a mode does not see its own handler's calls."""
        before = self.on()
        self.set(before[:-1])
        try:
            yield before[-1]
        finally:
            self.set(before)


function_modes = Modes("function_modes", K.PYTHON_FUNCTION)
dispatch_modes = Modes("dispatch_modes", K.PYTHON)
