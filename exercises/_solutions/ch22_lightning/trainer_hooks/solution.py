"""Call the hooks of a training run in Lightning's order.

`module` and each of the `callbacks` are objects with methods. Callbacks' hooks are called without arguments,
the module's too, but for those marked below. For every hook, all callbacks come first, in their order, then
the module. Call every hook of this list, on all of them, unless it says "callbacks only" or "module only":

    on_fit_start
    on_sanity_check_start                              callbacks only
    a validation of at most `sanity_steps` batches
    on_sanity_check_end                                callbacks only
    on_train_start
    for each epoch
        on_train_epoch_start
        for each batch of `train`
            on_train_batch_start
            training_step(batch)                       module only
            on_before_zero_grad
            optimizer_zero_grad                        module only
            on_before_backward
            backward                                   module only
            on_after_backward
            on_before_optimizer_step
            optimizer_step                             module only
            on_train_batch_end
        a validation of all batches
        on_train_epoch_end                             the module first, then the callbacks
    on_train_end
    on_fit_end

A validation is: on_validation_start, then for each batch of `val` validation_step(batch) (module only), then
on_validation_end. With sanity_steps=0, or without batches to validate, there is no sanity check, and without
batches no validation.
"""


def call(hook, callbacks, module):
    """Call the method named `hook` of each callback, then of the module."""
    # solution
    for owner in [*callbacks, module]:
        getattr(owner, hook)()
    # end of solution


def validate(callbacks, module, val):
    """One validation of the batches `val`, a list."""
    # solution
    call("on_validation_start", callbacks, module)
    for batch in val:
        module.validation_step(batch)
    call("on_validation_end", callbacks, module)
    # end of solution


def train_batch(callbacks, module, batch):
    """One batch of training, from on_train_batch_start to on_train_batch_end."""
    # solution
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
    # end of solution


def fit(callbacks, module, train, val, epochs=1, sanity_steps=2):
    """The whole run. train, val: lists of batches."""
    # solution
    call("on_fit_start", callbacks, module)
    if val and sanity_steps:
        for callback in callbacks:
            callback.on_sanity_check_start()
        validate(callbacks, module, val[:sanity_steps])
        for callback in callbacks:
            callback.on_sanity_check_end()
    call("on_train_start", callbacks, module)
    for _ in range(epochs):
        epoch(callbacks, module, train, val)
    call("on_train_end", callbacks, module)
    call("on_fit_end", callbacks, module)
    # end of solution


# solution
def epoch(callbacks, module, train, val):
    """One epoch and its validation."""
    call("on_train_epoch_start", callbacks, module)
    for batch in train:
        train_batch(callbacks, module, batch)
    if val:
        validate(callbacks, module, val)
    for owner in [module, *callbacks]:
        owner.on_train_epoch_end()


# end of solution
