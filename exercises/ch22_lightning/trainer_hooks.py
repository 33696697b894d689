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
    raise NotImplementedError


def validate(callbacks, module, val):
    """One validation of the batches `val`, a list."""
    raise NotImplementedError


def train_batch(callbacks, module, batch):
    """One batch of training, from on_train_batch_start to on_train_batch_end."""
    raise NotImplementedError


def fit(callbacks, module, train, val, epochs=1, sanity_steps=2):
    """The whole run. train, val: lists of batches."""
    raise NotImplementedError
