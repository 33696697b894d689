"""Calling hooks: first the callbacks', then the module's. All calls of hooks go through here.

Who defines which hook is found out once in a run; a hook that nobody has defined costs one look into a dict.
While somebody observes, each call is reported on
the observer's topic "trainer", once before and once after.
"""

import inspect

from ..core import observer
from .callbacks.callback import Callback
from .hooks import CheckpointHooks, DataHooks, ModelHooks

NONE = {}
TRANSFER = ("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer")
EMPTY = (ModelHooks, DataHooks, CheckpointHooks)


class Calls:
    """The hooks of one run. `current`: the hook whose user code is running, None outside of one."""

    def __init__(self, trainer):
        self.trainer, self.current = trainer, None
        self.attach(None)

    def attach(self, module):
        """Look at the hooks of the trainer's callbacks and of `module` afresh."""
        self.module = module
        self._of_callbacks, self._of_module, self._defaults, self._takes = {}, {}, {}, {}
        self._is_defined_by_any, self._batches_are_plain = {}, None

    # ---- who has defined what -----------------------------------------------------------------------------

    def defined_by_callbacks(self, name):
        """The bound hooks `name` of those callbacks that define it, in the trainer's order."""
        found = self._of_callbacks.get(name)
        if found is None:
            found = [
                (each, getattr(each, name))
                for each in self.trainer.callbacks
                if overrides(each, name, Callback)
            ]
            self._of_callbacks[name] = found
        return found

    def defined_by_module(self, name):
        """The module's hook `name`; None if it is the empty one."""
        if name not in self._of_module:
            is_empty = any(not overrides(self.module, name, base) for base in EMPTY if hasattr(base, name))
            self._of_module[name] = None if is_empty else getattr(self.module, name)
        return self._of_module[name]

    def is_defined_by_any(self, name):
        """Whether a callback or the module defines the hook."""
        found = bool(self.defined_by_callbacks(name)) or self.defined_by_module(name) is not None
        self._is_defined_by_any[name] = found
        return found

    def are_default(self, *names):
        """Whether the module has not written any of these methods anew, and nobody observes."""
        if names not in self._defaults:
            self._defaults[names] = not any(self.is_defined(name) for name in names)
        return self._defaults[names] and not observer.active

    # ---- calling ------------------------------------------------------------------------------------------

    def both(self, name, *args):
        """The callbacks' hooks, then the module's; returns what the module's returned."""
        is_defined = self._is_defined_by_any.get(name)
        if is_defined is None:
            is_defined = self.is_defined_by_any(name)
        if not is_defined and not observer.active:
            return None
        self.callbacks(name, *args)
        return self.hook(name, *args)

    def callbacks(self, name, *args, only=None):
        """The callbacks' hooks, called with (trainer, module, *args).

        `only`: a test that chooses callbacks.
        """
        for callback, function in self.defined_by_callbacks(name):
            if only is None or only(callback):
                self._run(name, callback, function, (self.trainer, self.module, *args))

    def hook(self, name, *args):
        """The module's hook, if it defines one; while somebody observes, empty ones are told, too."""
        function = self.defined_by_module(name)
        if function is not None:
            return self._run(name, self.module, function, args)
        if observer.active:
            self._tell("start", name, self.module, False)
            self._tell("end", name, self.module, False)
        return None

    def method(self, name, *args, **kwargs):
        """A method of the module that always has something to do, such as backward."""
        return self._run(name, self.module, getattr(self.module, name), args, kwargs)

    def step(self, name, function, args):
        """training_step and its like, with as many of `args` as the function takes."""
        if name not in self._takes:
            self._takes[name] = accepted(function, args)
        return self._run(name, self.module, function, args[: self._takes[name]])

    def data_hook(self, name, batch, *args):
        """A hook that returns the batch; the data module's, if it defines it, else the module's."""
        return self._run(name, self.module, getattr(self._owner_of_data(name), name), (batch, *args))

    def _owner_of_data(self, name):
        data = self.trainer.datamodule
        return data if data is not None and overrides(data, name, DataHooks) else self.module

    @property
    def leave_batches_alone(self):
        """Whether nobody defines a hook about batches, and nobody watches: then moving them is all there is
        to do.
        """
        if self._batches_are_plain is None:
            self._batches_are_plain = not any(
                overrides(self._owner_of_data(name), name, DataHooks) for name in TRANSFER
            )
        return self._batches_are_plain and not observer.active

    def is_defined(self, name):
        """Whether the module has a method of its own instead of LightningModule's."""
        from .module import LightningModule

        return self.module is not None and overrides(self.module, name, LightningModule)

    def _run(self, name, owner, function, args, kwargs=NONE):
        before, self.current = self.current, name
        if observer.active:
            self._tell("start", name, owner, True)
        try:
            return function(*args, **kwargs)
        finally:
            self.current = before
            if observer.active:
                self._tell("end", name, owner, True)

    def _tell(self, phase, name, owner, defined):
        who = type(owner).__name__
        if owner is self.module:
            who = "module" if self.is_defined(name) else "default"
        observer.report(
            "trainer",
            phase=phase,
            hook=name,
            who=who,
            defined=defined,
            stage=self.trainer.stage,
            epoch=self.trainer.current_epoch,
            batch=self.trainer.batch_idx,
        )


def overrides(instance, name, base):
    """Whether `instance` has a method `name` of its own, in its class or on the object itself."""
    if name in instance.__dict__:
        return True
    return getattr(type(instance), name, None) is not getattr(base, name, None)


def accepted(function, args):
    """As many of `args` as the function takes: users may leave out batch_idx."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return len(args)
    return min(len(args), sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters))
