"""The handle that every register_..._hook returns."""
import itertools


class RemovableHandle:
    """Takes its hook out of the hooks it was added to; also a context manager that does so at its end."""

    _next_id = itertools.count().__next__

    def __init__(self, hooks):
        self.id = RemovableHandle._next_id()
        self._hooks = hooks

    @classmethod
    def add(cls, hooks, hook, prepend=False):
        """Add `hook` to the ordered dict `hooks` and return the handle."""
        handle = cls(hooks)
        later = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
        return handle

    def remove(self):
        """Remove the hook; a second call does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()
