"""From the calls of a run to sections: set-up, sanity check, epochs, batches, validation, the end."""

from dataclasses import dataclass, field

_STAGES = {"sanity_check": "sanity check", "validate": "validation", "test": "testing", "predict": "predicting"}


@dataclass
class Section:
    """A part of a run. parts: calls and sections, in order."""

    title: str
    number: int | None = None
    parts: list = field(default_factory=list)

    def shape(self):
        """What two equal sections have in common."""
        return self.title, tuple(part.shape() for part in self.parts)


def sections_of(calls):
    """The run as a list of sections."""
    root = Section("run")
    place = _Place(root)
    for call in calls:
        place.put(call)
    return root.parts


class _Place:
    """Where the next call belongs."""

    def __init__(self, root):
        self.root = root
        self.part = self.epoch = self.batch = self.inner = None

    def put(self, call):
        stage = call.stage
        if stage == "train":
            self._put_in_training(call)
        elif stage == "validate" and self.epoch is not None:
            self._put_in_evaluation(self.epoch, call)
        elif stage in _STAGES:
            self._put_in_evaluation(self.root, call)
        else:
            self._into(self.root, "set-up").parts.append(call)

    def _put_in_training(self, call):
        self.part = None
        if call.hook in ("on_train_end", "on_fit_end", "teardown"):
            self.epoch = self.batch = None
            self._into(self.root, "end").parts.append(call)
        elif call.hook == "on_train_epoch_start":
            self._new_epoch(call)
        elif self.epoch is None:
            self._into(self.root, "training begins").parts.append(call)
        else:
            self._put_in_epoch(call)

    def _new_epoch(self, call):
        self.epoch, self.batch = Section("epoch", call.epoch, [call]), None
        self.root.parts.append(self.epoch)

    def _put_in_epoch(self, call):
        if call.hook in ("on_validation_model_zero_grad", "on_train_epoch_end", "on_save_checkpoint"):
            self.batch = None
            self.epoch.parts.append(call)
            return
        is_first = call.hook == "on_before_batch_transfer" or self.batch is None
        if is_first and call.hook != "lr_scheduler_step":
            self.batch = _batch(self.epoch)
        (self.batch or self.epoch).parts.append(call)

    def _put_in_evaluation(self, outer, call):
        self.batch = None
        if call.hook == "on_validation_model_zero_grad":
            outer.parts.append(call)
            return
        title = _STAGES[call.stage]
        if call.hook == "teardown":
            self._into(self.root, "end").parts.append(call)
            return
        if self.part is None or self.part.title != title:
            self.part, self.inner = Section(title), None
            outer.parts.append(self.part)
        if call.hook == "on_before_batch_transfer":
            self.inner = _batch(self.part)
        elif call.hook.endswith("_epoch_end"):
            self.inner = None
        (self.inner or self.part).parts.append(call)

    @staticmethod
    def _into(outer, title):
        """The last section of `outer`, if it is called so, else a new one."""
        if not outer.parts or getattr(outer.parts[-1], "title", None) != title:
            outer.parts.append(Section(title))
        return outer.parts[-1]


def _batch(outer):
    number = sum(getattr(part, "title", "") == "batch" for part in outer.parts)
    outer.parts.append(Section("batch", number))
    return outer.parts[-1]


def folded(parts):
    """The parts; of sections in a row that are alike only the first is kept whole, a Fold stands for the others."""
    found, whole = [], None
    for part in parts:
        if not isinstance(part, Section):
            found, whole = [*found, part], None
            continue
        part = Section(part.title, part.number, folded(part.parts))
        if whole is None or whole.shape() != part.shape():
            whole = part
            found.append(part)
        elif isinstance(found[-1], Fold):
            found[-1].last = part.number
        else:
            found.append(Fold(part.title, part.number, part.number))
    return found


@dataclass
class Fold:
    """Sections that have the hooks of the one before them."""

    title: str
    first: int | None
    last: int | None

    def shape(self):
        return self.title, self.first, self.last

    @property
    def label(self):
        if self.first == self.last:
            return f"{self.title} {self.first}: the same"
        plural = {"batch": "batches", "epoch": "epochs"}.get(self.title, self.title)
        return f"{plural} {self.first} to {self.last}: the same"
