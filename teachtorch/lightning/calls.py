"""Calling hooks: first the callbacks', then the module's. All calls of hooks go through here.

Who defines which hook is found out once in a run. The loops over training batches look into `wanted()`
first: what is not in there need not be called. While somebody observes, everything is wanted, and each call is
reported on the observer's topic "trainer", once before and once after.
"""

import inspect

from ..core import observer
from .callbacks.callback import Callback
from .hooks import CheckpointHooks, DataHooks, ModelHooks

NONE = {}
EACH_BATCH = (
    "on_train_batch_start",
    "on_before_zero_grad",
    "on_before_backward",
    "on_after_backward",
    "on_before_optimizer_step",
    "on_train_batch_end",
)
REPLACEABLE = ("optimizer_step", "optimizer_zero_grad", "backward")
CLIPPING = ("configure_gradient_clipping", "clip_gradients")
TRANSFER = ("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer")
EMPTY = (ModelHooks, DataHooks, CheckpointHooks)


EVERYTHING = {*EACH_BATCH, *REPLACEABLE, "clipping", "transfer"}


class Calls:
    """The hooks of one run. `current`: the hook whose user code is running, None outside of one."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.attach(None)

    def attach(self, module):
        """Look at the hooks of the trainer's callbacks and of `module` afresh."""
        self.module = module
        self._of_callbacks, self._of_module, self._takes = {}, {}, {}
        self._is_defined_by_any, self._wanted, self.current = {}, None, None

    # ---- who has defined what -----------------------------------------------------------------------------

    def defined_by_callbacks(self, name):
        """The bound hooks `name` of those callbacks that define it, in the trainer's order."""
        found = self._of_callbacks.get(name)
        if found is None:
            found = [(each, getattr(each, name)) for each in self.trainer.callbacks if overrides(each, name, Callback)]
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

    def wanted(self):
        """The names of what has to be called for a training batch: the hooks that somebody defines and the
        methods that the module has written anew, "clipping" and "transfer" for those of a kind. Everything
        while somebody observes.
        """
        if observer.active:
            return EVERYTHING
        if self._wanted is None:
            found = {name for name in EACH_BATCH if self.is_defined_by_any(name)}
            found |= {name for name in REPLACEABLE if self.is_defined(name)}
            if any(self.is_defined(name) for name in CLIPPING):
                found.add("clipping")
            if any(overrides(self._owner_of_data(name), name, DataHooks) for name in TRANSFER):
                found.add("transfer")
            self._wanted = found
        return self._wanted

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

    def step(self, name, args):
        """training_step and its like, with as many of `args` as the function takes."""
        function = getattr(self.module, name)
        count = self._takes.get(name)
        if count is None:
            count = self._takes[name] = accepted(function, args)
        return self._run(name, self.module, function, args[:count])

    def data_hook(self, name, batch, *args):
        """A hook that returns the batch; the data module's, if it defines it, else the module's."""
        return self._run(name, self.module, getattr(self._owner_of_data(name), name), (batch, *args))

    def _owner_of_data(self, name):
        data = self.trainer.datamodule
        return data if data is not None and overrides(data, name, DataHooks) else self.module

    def is_defined(self, name):
        """Whether the module has a method of its own instead of LightningModule's."""
        from .module import LightningModule

        return self.module is not None and overrides(self.module, name, LightningModule)

    def _run(self, name, owner, function, args, kwargs=NONE):
        if observer.active:
            return self._run_observed(name, owner, function, args, kwargs)
        before, self.current = self.current, name
        try:
            return function(*args, **kwargs)
        finally:
            self.current = before

    def _run_observed(self, name, owner, function, args, kwargs):
        before, self.current = self.current, name
        self._tell("start", name, owner, True)
        try:
            return function(*args, **kwargs)
        finally:
            self.current = before
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
