"""Noticing what a program does to the streams of an accelerator, through teachtorch's observer."""

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter


@dataclass
class Work:
    """A launch: when the host was at it, when its stream was, all in seconds of one clock."""

    name: str
    stream: int
    site: str
    is_copy: bool
    launched: tuple
    ran: list = field(default_factory=lambda: [None, None])


@dataclass
class Wait:
    """The host standing still: for a "stream", an "event" or the "device"; `behind`: the last launch it waited for."""

    scope: str
    begin: float
    end: float
    behind: list


@dataclass
class Run:
    """What was seen. orders: (launch before an event, first launch that waits for it), as indices of `works`.

    races: (index, index or None, kind, the sanitizer's words).
    """

    start: float
    end: float = 0.0
    works: list = field(default_factory=list)
    waits: list = field(default_factory=list)
    orders: list = field(default_factory=list)
    races: list = field(default_factory=list)


class Recorder:
    """The context manager behind ``viz.streams.watch``; ``run`` is what it saw, ``picture`` shows it.

    Leaving the block waits for the device, so that the end of every kernel is known.
    """

    def __init__(self, draw):
        self.run, self._draw = None, draw
        self._index, self._last, self._marks, self._waiting = {}, {}, {}, {}

    def __enter__(self):
        from teachtorch import accelerator
        from teachtorch.core import observer

        accelerator.synchronize()
        self._observer, self._synchronize = observer, accelerator.synchronize
        self._sanitizer = accelerator.sanitizer(on_error="collect")
        self.run = Run(perf_counter())
        self._sanitizer.__enter__()
        observer.subscribe(self._note, "stream")
        return self

    def __exit__(self, *exc):
        self.run.end = perf_counter()
        self._synchronize()
        self._observer.unsubscribe(self._note)
        self._sanitizer.__exit__(None, None, None)
        self.run.waits = [wait for wait in self.run.waits if wait.begin < self.run.end]
        self.run.races = [self._race(finding) for finding in self._sanitizer.findings]

    @property
    def picture(self):
        """The picture of everything seen."""
        return self._draw(self.run)

    def _note(self, topic, fields):
        handle = getattr(self, "_see_" + fields["action"], None)
        if handle:
            handle(**{name: value for name, value in fields.items() if name != "action"})

    def _see_launch(self, launch, begin, time, **rest):
        here = self._index[launch.number] = len(self.run.works)
        file, line = launch.site
        site = f"cell:{line}" if "ipykernel_" in file else f"{Path(file).name}:{line}"
        self.run.works.append(Work(launch.name, launch.stream_id, site, launch.is_copy, (begin, time)))
        for before in self._waiting.pop(launch.stream_id, ()):
            self.run.orders.append((before, here))
        self._last[launch.stream_id] = here

    def _see_begin(self, launch, time, **rest):
        if launch.number in self._index:
            self.run.works[self._index[launch.number]].ran[0] = time

    def _see_end(self, launch, time, **rest):
        if launch.number in self._index:
            self.run.works[self._index[launch.number]].ran[1] = time

    def _see_record(self, mark, stream, **rest):
        self._marks[mark] = self._last.get(stream)

    def _see_wait(self, mark, stream, **rest):
        before = self._marks.get(mark)
        if before is not None and self.run.works[before].stream != stream:
            self._waiting.setdefault(stream, []).append(before)

    def _see_synchronize(self, scope, begin, time, stream=None, mark=None, **rest):
        behind = {
            "stream": [self._last.get(stream)],
            "event": [self._marks.get(mark)],
            "device": list(self._last.values()),
        }[scope]
        self.run.waits.append(Wait(scope, begin, time, [one for one in behind if one is not None]))

    def _race(self, finding):
        if finding.kind == "use after free":
            return self._index[finding.access.launch.number], None, finding.kind, str(finding)
        first, second = (self._index[access.launch.number] for access in (finding.first, finding.second))
        return first, second, finding.kind, str(finding)
