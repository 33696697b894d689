"""What self.log collects: the last value of each name, the reduced value of the epoch, and who gets to see them."""

from ..core.dtype import float32
from ..ops.declare import exports
from ..tensor import Tensor, array_of
from .errors import MisconfigurationException
from .transfer import batch_size_of

as_tensor, default_dtype = exports[""]["as_tensor"], exports[""]["get_default_dtype"]

STEPS = {"training_step": (True, False), "validation_step": (False, True), "test_step": (False, True)}
IN_A_TRAINING_BATCH = (
    "training_step",
    "on_train_batch_start",
    "on_train_batch_end",
    "on_before_zero_grad",
    "optimizer_zero_grad",
    "on_before_backward",
    "backward",
    "on_after_backward",
    "on_before_optimizer_step",
    "configure_gradient_clipping",
    "clip_gradients",
    "optimizer_step",
)
IN_AN_EVALUATION_BATCH = (
    "validation_step",
    "test_step",
    "on_validation_batch_start",
    "on_validation_batch_end",
    "on_test_batch_start",
    "on_test_batch_end",
)
ONLY_FOR_THE_EPOCH = (
    "on_train_start",
    "on_train_epoch_start",
    "on_train_epoch_end",
    "on_validation_start",
    "on_validation_epoch_start",
    "on_validation_epoch_end",
    "on_test_start",
    "on_test_epoch_start",
    "on_test_epoch_end",
)


def levels(hook, on_step, on_epoch):
    """(on_step, on_epoch) in this hook, defaults filled in.

    MisconfigurationException where it may not log.
    """
    if hook in IN_A_TRAINING_BATCH:
        return chosen(on_step, True), chosen(on_epoch, False)
    if hook in IN_AN_EVALUATION_BATCH:
        return chosen(on_step, False), chosen(on_epoch, True)
    if hook is None:
        raise MisconfigurationException(
            "You are trying to `self.log()` but it is not managed by the `Trainer` control flow"
        )
    if hook not in ONLY_FOR_THE_EPOCH:
        raise MisconfigurationException(
            f"You can't `self.log()` inside `{hook}`. HINT: You can still log directly to "
            "the logger by using `self.logger.experiment`."
        )
    if on_step or on_epoch is False:
        raise MisconfigurationException(
            f"You can't `self.log({'on_step=True' if on_step else 'on_epoch=False'})` inside "
            f"`{hook}`: it has no steps, only its epoch."
        )
    return False, True


def chosen(given, default):
    return default if given is None else given


class Logged:
    """One name logged in one hook.

    `value`: the last one, logged in step `step` (Results.step). `total` and `weight`: what the epoch's value is
    made of.
    """

    def __init__(self, name, on_step, on_epoch, reduce, **shown):
        self.name, self.on_step, self.on_epoch, self.reduce = name, on_step, on_epoch, reduce
        self.prog_bar, self.logger, self.sync = shown["prog_bar"], shown["logger"], shown["sync"]
        self.is_forked = on_step and on_epoch
        self.given = None  # the arguments of self.log, as they came
        self.clear()

    def clear(self):
        self.value, self.total, self.weight, self.step = None, None, 0, -1

    def check_same(self, hook, other):
        """MisconfigurationException unless the other one was logged in the same way."""
        names = ("on_step", "on_epoch", "reduce", "prog_bar", "logger", "sync")
        if any(getattr(self, name) != getattr(other, name) for name in names):
            raise MisconfigurationException(
                f"You called `self.log({self.name}, ...)` twice in `{hook}` with different arguments. This is not "
                "allowed"
            )

    def add(self, value, weight):
        """Take a value into what the epoch's is made of."""
        value = value * weight if self.reduce == "mean" else value
        self.total = value if self.total is None else COMBINE[self.reduce](self.total, value)
        self.weight += weight

    def of_epoch(self, strategy):
        """The epoch's value; with sync, over all processes."""
        total, weight = self.total, self.weight
        if self.sync and strategy.world_size > 1:
            total, weight = strategy.reduce_logged(self.reduce, as_tensor(total), weight)
        return total / weight if self.reduce == "mean" else total

    def name_for(self, level):
        return f"{self.name}_{level}" if self.is_forked else self.name

    def state_dict(self):
        """All of it, for a checkpoint in the middle of an epoch."""
        return {name: value for name, value in vars(self).items() if name not in ("value", "step", "given")}

    @classmethod
    def of_state(cls, state):
        """What state_dict was made of."""
        made = cls.__new__(cls)
        made.__dict__.update(state, value=None, step=-1, given=None)
        return made


def logged(name, hook, on_step, on_epoch, reduce_fx, prog_bar, logger, sync):
    """The Logged of these arguments of self.log, defaults filled in."""
    made = Logged(
        name, *levels(hook, on_step, on_epoch), reduction(reduce_fx), prog_bar=prog_bar, logger=logger, sync=sync
    )
    made.given = on_step, on_epoch, reduce_fx, prog_bar, logger, sync
    return made


def smaller(a, b):
    return b if bool(b < a) else a


def larger(a, b):
    return b if bool(b > a) else a


def added(a, b):
    return a + b


COMBINE = {"mean": added, "sum": added, "min": smaller, "max": larger}


class Results:
    """What was logged since the beginning of an epoch, or of an evaluation. `step` counts its batches."""

    def __init__(self):
        self.entries, self.step = {}, 0

    def values(self, level, strategy):
        """(entry, name, tensor) of each value of the level "step" or "epoch"."""
        for entry in self.entries.values():
            if level == "step" and entry.on_step and entry.value is not None:
                yield entry, entry.name_for("step"), entry.value
            elif level == "epoch" and entry.on_epoch and entry.total is not None:
                yield entry, entry.name_for("epoch"), entry.of_epoch(strategy)

    def clear(self):
        for entry in self.entries.values():
            entry.clear()

    def state_dict(self):
        """Those that have sums, by hook and name."""
        return {key: entry.state_dict() for key, entry in self.entries.items() if entry.total is not None}

    def load_state_dict(self, state):
        self.entries = {key: Logged.of_state(entry) for key, entry in state.items()}


class Metrics:
    """All that is logged in a run; `callback`, `logged` and `progress_bar` are the trainer's dicts of metrics."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.training, self.evaluation = Results(), Results()
        self.results, self.is_in_batch, self.batch, self.loader = self.training, False, None, None
        self._callback, self.logged, self._progress_bar = {}, {}, {}

    # ---- collecting ---------------------------------------------------------------------------------------

    def log(self, name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, sync, add_loader, batch_size):
        """What LightningModule.log does."""
        results, hook = self.results, self.trainer.calls.current
        given = on_step, on_epoch, reduce_fx, prog_bar, logger, sync
        label = name if self.loader is None or not add_loader else f"{name}/dataloader_idx_{self.loader}"
        entry = results.entries.get((hook, label))
        if entry is None:
            entry = results.entries[hook, label] = logged(label, hook, *given)
        elif entry.given != given:
            entry.check_same(hook, logged(label, hook, *given))
            entry.given = given
        value = entry.value = scalar(name, value)
        entry.step = results.step
        if entry.on_epoch:
            entry.add(value, self._weight(entry, batch_size))

    def _weight(self, entry, batch_size):
        if batch_size is not None or entry.reduce != "mean":
            return batch_size or 1
        return batch_size_of(self.batch) or 1 if self.is_in_batch else 1

    def begin_batch(self, batch, loader=None):
        self.is_in_batch, self.batch, self.loader = True, batch, loader

    def end_batch(self):
        self.is_in_batch, self.batch, self.loader = False, None, None

    # ---- showing ------------------------------------------------------------------------------------------

    @property
    def callback(self):
        """What callbacks watch: the last values of steps; outside of a batch those of the epoch, too."""
        self.gather()
        return self._callback

    @property
    def progress_bar(self):
        """What the progress bar shows."""
        self.gather()
        return self._progress_bar

    def gather(self):
        """Take the values over into the dicts that callbacks and the progress bar read.

        Only done when asked for.
        """
        for entry, name, value in self.training.values("step", self.trainer.strategy):
            self._show(entry, name, value)
        if not self.is_in_batch:
            for entry, name, value in self.results.values("epoch", self.trainer.strategy):
                self._show(entry, name, value)

    def _show(self, entry, name, value):
        self._callback[entry.name] = self._callback[name] = as_tensor(value)
        if entry.prog_bar:
            self._progress_bar[name] = float(value)

    def end_training_batch(self):
        """A batch of training is over: write its values, every log_every_n_steps."""
        trainer = self.trainer
        self.is_in_batch, self.batch = False, None
        if trainer.loggers and (trainer.progress.stepped + 1) % trainer.log_every_n_steps == 0:
            self.write("step", trainer.progress.stepped)
        self.training.step += 1

    def write(self, level, step):
        """Hand the values of a level to the loggers. `step`: where on their axis."""
        found = {
            name: float(value)
            for entry, name, value in self.results.values(level, self.trainer.strategy)
            if entry.logger and (entry.step == self.results.step or level == "epoch")
        }
        self.logged.update({name: as_tensor(value) for name, value in found.items()})
        if not found or not self.trainer.is_global_zero:
            return
        for logger in self.trainer.loggers:
            logger.log_metrics({"epoch": self.trainer.current_epoch, **found}, step=step)
            logger.save()

    def epoch_values(self):
        """{name: number} of the epoch's values."""
        return {name: float(value) for _, name, value in self.results.values("epoch", self.trainer.strategy)}

    # ---- checkpoints --------------------------------------------------------------------------------------

    def state_dict(self):
        return {"epoch": self.training.state_dict(), "callback": dict(self.callback)}

    def load_state_dict(self, state):
        self.training.load_state_dict(state["epoch"])
        self._callback = dict(state["callback"])


def scalar(name, value):
    """What is kept of a logged value, so that later changes of the tensor do not matter: a float where that is
    all there is to it, else a copy, 0-dim and of floating point. ValueError for several elements.

    The host would have to wait for an accelerator's numbers: those stay where they are.
    """
    if value.__class__ is Tensor and value.dtype is float32 and value.is_cpu and value.numel() == 1:
        return array_of(value).item()
    if not isinstance(value, Tensor):
        if not isinstance(value, (int, float)):
            raise ValueError(
                f"`self.log({name}, {value})` was called, but `{type(value).__name__}` values cannot be logged"
            )
        return float(value)
    if value.numel() != 1:
        raise ValueError(
            f"`self.log({name}, {value})` was called, but the tensor must have a single element. You can "
            f"try doing `self.log({name}, {value}.mean())`"
        )
    value = value.detach().clone()
    value = value if value.dtype.is_floating_point else value.to(default_dtype())
    return value if value.dim() == 0 else value.squeeze()


def reduction(given):
    """The name of a reduction, from a name or a function of that name."""
    name = given if isinstance(given, str) else getattr(given, "__name__", str(given))
    name = {"avg": "mean", "amin": "min", "amax": "max"}.get(name, name)
    if name not in COMBINE:
        raise MisconfigurationException(
            "Only `self.log(..., reduce_fx={min,max,mean,sum})` are supported. If you need "
            f"a custom reduction, please log a number of your own. Found: {given}"
        )
    return name
