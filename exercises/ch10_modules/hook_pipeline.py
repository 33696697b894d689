"""Calling a module: its hooks before and after forward.

`module(x)` is more than `module.forward(x)`:

    pre-hooks -> forward -> hooks

- A pre-hook is called as hook(module, args), or with with_kwargs=True as hook(module, args, kwargs). What
  it returns replaces the arguments: a tuple is the new args, any other single value the only argument. With
  with_kwargs=True it returns a pair (args, kwargs). None changes nothing.
- A hook is called as hook(module, args, output), or hook(module, args, kwargs, output), with the arguments
  that forward got. What it returns, unless it is None, replaces the output, for the hooks that come after
  it, too.
- Each kind runs in the order of registration; prepend=True puts a hook before all that are there.
- Hooks with always_call=True run also when forward raised. Their output is None then, and the error goes on
  afterwards. Hooks that have run are not run again.
- Registering returns a handle. handle.remove() takes the hook out; a second time it does nothing.
"""


class Module:
    """Calls a function between hooks."""

    def __init__(self, forward):
        """forward: a function of args and kwargs."""
        self.forward = forward
        raise NotImplementedError

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Add a pre-hook and return its handle."""
        raise NotImplementedError

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Add a hook and return its handle."""
        raise NotImplementedError

    def __call__(self, *args, **kwargs):
        """Run pre-hooks, forward and hooks; return the output."""
        raise NotImplementedError
