"""Grades trainer_hooks.py."""

from exercises.grading import equal, points

BATCH = """on_train_batch_start training_step on_before_zero_grad optimizer_zero_grad on_before_backward
    backward
    on_after_backward on_before_optimizer_step optimizer_step on_train_batch_end""".split()


class Recorder:
    """An object with every method: it writes down who was called."""

    def __init__(self, name, called):
        self.name, self.called = name, called

    def __getattr__(self, hook):
        def method(*args):
            self.called.append(" ".join([self.name, hook, *map(str, args)]))

        return method


def recorders(*names):
    called = []
    *callbacks, module = (Recorder(name, called) for name in (*names, "module"))
    return callbacks, module, called


def of_module(called):
    return [line.split()[1] for line in called if line.startswith("module")]


def run(yours, train=1, val=1, callbacks=(), **options):
    found, module, called = recorders(*callbacks)
    yours.fit(found, module, list(range(train)), list(range(val)), **options)
    return called


@points(1, "callbacks before the module")
def test_call(yours):
    callbacks, module, called = recorders("first", "second")
    yours.call("on_fit_start", callbacks, module)
    expected = ["first on_fit_start", "second on_fit_start", "module on_fit_start"]
    equal(called, expected, "the callbacks come first, in their order", what="the calls")


@points(2, "the order inside a batch")
def test_batch(yours):
    callbacks, module, called = recorders()
    yours.train_batch(callbacks, module, 7)
    why = "zero_grad comes between training_step and backward: until then the old gradients can be looked at"
    equal(of_module(called), BATCH, why, what="the module's hooks")
    equal(called[1], "module training_step 7", "training_step gets the batch", what="the second call")


@points(1, "a validation")
def test_validation(yours):
    callbacks, module, called = recorders("c")
    yours.validate(callbacks, module, [4, 5])
    expected = [
        "c on_validation_start",
        "module on_validation_start",
        "module validation_step 4",
        "module validation_step 5",
        "c on_validation_end",
        "module on_validation_end",
    ]
    equal(called, expected, "steps are the module's only", what="the calls")


@points(1, "the sanity check comes before training")
def test_sanity(yours):
    called = run(yours, train=0, val=1, epochs=0, callbacks=["c"])
    expected = [
        "c on_fit_start",
        "module on_fit_start",
        "c on_sanity_check_start",
        "c on_validation_start",
        "module on_validation_start",
        "module validation_step 0",
        "c on_validation_end",
        "module on_validation_end",
        "c on_sanity_check_end",
        "c on_train_start",
        "module on_train_start",
    ]
    why = "a fault in validation_step should show before training, not after the first epoch"
    equal(called[: len(expected)], expected, why, what="the first calls")


@points(1, "the sanity check is short, and can be switched off")
def test_sanity_is_short(yours):
    steps = [line for line in run(yours, val=5, epochs=0) if "validation_step" in line]
    equal(
        len(steps), 2, "at most sanity_steps batches, 2 of the 5 here", what="the number of validation steps"
    )
    steps = [
        line for line in run(yours, val=5, epochs=0, sanity_steps=0) if "sanity" in line or "valid" in line
    ]
    equal(steps, [], "sanity_steps=0 means none", what="the calls of a sanity check")


@points(1, "at the end of an epoch the module comes first")
def test_epoch_end(yours):
    called = [line for line in run(yours, callbacks=["c"]) if "on_train_epoch_end" in line]
    why = "callbacks that watch a metric look at it when the module has logged"
    equal(called, ["module on_train_epoch_end", "c on_train_epoch_end"], why, what="the calls")


@points(2, "whole runs")
def test_whole(yours, rng):
    for _ in range(10):
        train, val, epochs = rng.randint(0, 3), rng.randint(0, 3), rng.randint(1, 3)
        sanity = rng.randint(0, 3)
        validation = ["on_validation_start", *["validation_step"] * val, "on_validation_end"] if val else []
        check = validation[:1] + ["validation_step"] * min(sanity, val) + validation[-1:] if sanity else []
        epoch = ["on_train_epoch_start", *BATCH * train, *validation, "on_train_epoch_end"]
        expected = ["on_fit_start", *check, "on_train_start", *epoch * epochs, "on_train_end", "on_fit_end"]
        got = of_module(run(yours, train, val, epochs=epochs, sanity_steps=sanity))
        what = (
            f"the module's hooks, {train} batches, {val} to validate, {epochs} epochs, {sanity} sanity steps"
        )
        equal(got, expected, "the order of the list", what=what)
