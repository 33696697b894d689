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
        # solution
        self.pre_hooks, self.hooks = [], []
        # end of solution

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Add a pre-hook and return its handle."""
        # solution
        return Handle(self.pre_hooks, (hook, with_kwargs), prepend)
        # end of solution

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Add a hook and return its handle."""
        # solution
        return Handle(self.hooks, (hook, with_kwargs, always_call), prepend)
        # end of solution

    def __call__(self, *args, **kwargs):
        """Run pre-hooks, forward and hooks; return the output."""
        # solution
        done = []
        try:
            args, kwargs = _prepared(self, args, kwargs)
            output = self.forward(*args, **kwargs)
            for entry in list(self.hooks):
                done.append(entry)
                output = _after(self, entry, args, kwargs, output)
        except Exception:
            for entry in list(self.hooks):
                if entry[2] and entry not in done:
                    _after(self, entry, args, kwargs, None)
            raise
        return output
        # end of solution


# solution
def _prepared(module, args, kwargs):
    for hook, with_kwargs in list(module.pre_hooks):
        changed = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if changed is not None and with_kwargs:
            args, kwargs = changed
        elif changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _after(module, entry, args, kwargs, output):
    hook, with_kwargs, _ = entry
    changed = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
    return output if changed is None else changed


class Handle:
    """Takes a hook out again."""

    def __init__(self, hooks, entry, prepend):
        self.hooks, self.entry = hooks, entry
        hooks.insert(0 if prepend else len(hooks), entry)

    def remove(self):
        self.hooks[:] = [each for each in self.hooks if each is not self.entry]


# end of solution
