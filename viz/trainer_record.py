"""Noticing which hooks a Trainer calls, in which order, through teachtorch's observer."""

from dataclasses import dataclass, field


@dataclass
class Call:
    """One hook or step. who: the callbacks and the module whose code ran, in order; empty if nobody defines it.

    inner: the calls made inside of it.
    """

    hook: str
    stage: str | None
    epoch: int
    who: list = field(default_factory=list)
    inner: list = field(default_factory=list)

    def shape(self):
        """What two equal calls have in common."""
        return self.hook, tuple(self.who), tuple(call.shape() for call in self.inner)


class Recorder:
    """The context manager behind ``viz.trainer.watch``; ``calls`` is what it saw, ``picture`` shows it."""

    def __init__(self, draw):
        self.calls, self._draw = [], draw
        self._open = []

    def __enter__(self):
        from teachtorch.core import observer

        self._observer = observer
        observer.subscribe(self._note, "trainer")
        return self

    def __exit__(self, *exc):
        self._observer.unsubscribe(self._note)

    @property
    def picture(self):
        """The picture of everything seen."""
        return self._draw(self.calls)

    def _note(self, topic, event):
        if event["phase"] == "end":
            self._open.pop()
            return
        call = self._begin(event)
        if event["defined"]:
            call.who.append(event["who"])
        self._open.append(call)

    def _begin(self, event):
        """The call of this event: the one before, if it is the same hook and this is its next owner."""
        siblings = self._open[-1].inner if self._open else self.calls
        last = siblings[-1] if siblings else None
        goes_on = last and last.hook == event["hook"] and event["who"] not in last.who and not last.inner
        if not goes_on or last.stage != event["stage"]:
            siblings.append(Call(event["hook"], event["stage"], event["epoch"]))
        return siblings[-1]
