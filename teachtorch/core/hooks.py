"""The handle that every register_..._hook returns."""
import itertools


class RemovableHandle:
    """Takes its hook out of the hooks it was added to; also a context manager that does so at its end."""

    _next_id = itertools.count().__next__

    def __init__(self, hooks, marks=()):
        self.id = RemovableHandle._next_id()
        self._hooks, self._marks = hooks, marks

    @classmethod
    def add(cls, hooks, hook, prepend=False, marks=()):
        """Add `hook` to the ordered dict `hooks` and return the handle.

        `marks`: further dicts, by the handle's id, from which removing the hook takes it too.
        """
        handle = cls(hooks, marks)
        later = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
        return handle

    def remove(self):
        """Remove the hook; a second call does nothing."""
        for held in (self._hooks, *self._marks):
            held.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()
