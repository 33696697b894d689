"""Validates everything before training."""

FAILS = "test_sanity_is_short"
SAYS = "at most sanity_steps"


def call(hook, callbacks, module):
    """Call the method named `hook` of each callback, then of the module."""
    for owner in [*callbacks, module]:
        getattr(owner, hook)()


def validate(callbacks, module, val):
    """One validation of the batches `val`, a list."""
    call("on_validation_start", callbacks, module)
    for batch in val:
        module.validation_step(batch)
    call("on_validation_end", callbacks, module)


def train_batch(callbacks, module, batch):
    """One batch of training, from on_train_batch_start to on_train_batch_end."""
    call("on_train_batch_start", callbacks, module)
    module.training_step(batch)
    call("on_before_zero_grad", callbacks, module)
    module.optimizer_zero_grad()
    call("on_before_backward", callbacks, module)
    module.backward()
    call("on_after_backward", callbacks, module)
    call("on_before_optimizer_step", callbacks, module)
    module.optimizer_step()
    call("on_train_batch_end", callbacks, module)


def fit(callbacks, module, train, val, epochs=1, sanity_steps=2):
    """The whole run. train, val: lists of batches."""
    call("on_fit_start", callbacks, module)
    if val and sanity_steps:
        for callback in callbacks:
            callback.on_sanity_check_start()
        validate(callbacks, module, val)
        for callback in callbacks:
            callback.on_sanity_check_end()
    call("on_train_start", callbacks, module)
    for _ in range(epochs):
        epoch(callbacks, module, train, val)
    call("on_train_end", callbacks, module)
    call("on_fit_end", callbacks, module)


def epoch(callbacks, module, train, val):
    """One epoch and its validation."""
    call("on_train_epoch_start", callbacks, module)
    for batch in train:
        train_batch(callbacks, module, batch)
    if val:
        validate(callbacks, module, val)
    for owner in [module, *callbacks]:
        owner.on_train_epoch_end()
