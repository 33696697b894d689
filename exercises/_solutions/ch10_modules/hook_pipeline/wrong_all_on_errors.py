"""Runs every hook when forward raised."""

FAILS = "test_others_are_not_called_on_errors"
SAYS = "only those that asked"


class Module:

    def __init__(self, forward):
        self.forward = forward
        self.pre_hooks, self.hooks = ([], [])

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return Handle(self.pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return Handle(self.hooks, (hook, with_kwargs, always_call), prepend)

    def __call__(self, *args, **kwargs):
        done = []
        try:
            args, kwargs = _prepared(self, args, kwargs)
            output = self.forward(*args, **kwargs)
            for entry in list(self.hooks):
                done.append(entry)
                output = _after(self, entry, args, kwargs, output)
        except Exception:
            for entry in list(self.hooks):
                if entry not in done:
                    _after(self, entry, args, kwargs, None)
            raise
        return output


def _prepared(module, args, kwargs):
    for hook, with_kwargs in list(module.pre_hooks):
        changed = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if changed is not None and with_kwargs:
            args, kwargs = changed
        elif changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    return (args, kwargs)


def _after(module, entry, args, kwargs, output):
    hook, with_kwargs, _ = entry
    changed = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
    return output if changed is None else changed


class Handle:

    def __init__(self, hooks, entry, prepend):
        self.hooks, self.entry = (hooks, entry)
        hooks.insert(0 if prepend else len(hooks), entry)

    def remove(self):
        self.hooks[:] = [each for each in self.hooks if each is not self.entry]
