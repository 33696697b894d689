"""``viz.streams``: the host and the streams of an accelerator on one line of time, and what is ordered."""

from viz.picture import Picture
from viz.streams_chrome import run_of_chrome
from viz.streams_record import Recorder
from viz.trace import Trace
from viz.wrap import counted

SHOWN = 40


def streams(path, *, launches=SHOWN):
    """The lanes of a chrome trace that ``torch.profiler`` exported: launches, kernels and copies of a GPU.

    path: of a .json or .json.gz file. launches: show so many, the first ones. ValueError for a file without
    kernels.
    """
    return Picture(streams_trace(run_of_chrome(path), launches))


def watch(*, launches=SHOWN):
    """``with viz.streams.watch() as seen: ...``, then ``seen.picture``: what the block did on teachtorch's accelerator.

    Races between streams are looked for too. launches: show so many, the first ones.
    """
    return Recorder(lambda run: Picture(streams_trace(run, launches)))


streams.watch = watch


def streams_trace(run, most=SHOWN):
    """The trace of a ``Run``; times become milliseconds since its start."""
    clock = _Clock(run, most)
    trace = Trace("streams", _title(run))
    trace.groups = _lanes(clock.works)
    trace.nodes = [*_launches(clock), *_waits(clock), *_kernels(clock)]
    trace.edges = [*_launch_edges(clock), *_orders(clock), *_returns(clock), *_races(clock)]
    trace.notes = _notes(run, clock)
    trace.options = {
        "end": clock.end,
        "hint": "Step through the launches, kernels and waits.",
        "rows": [_row(k, clock) for k in range(len(clock.works))],
    }
    trace.steps = _steps(trace, clock)
    return trace


class _Clock:
    """Milliseconds since the start; works: the launches that are shown, and what belongs to them."""

    def __init__(self, run, most):
        self.start = run.start
        self.works = run.works[:most]
        count = len(self.works)
        last = self.works[-1].launched[1] if count < len(run.works) else float("inf")
        self.waits = [wait for wait in run.waits if wait.begin <= last]
        self.orders = [pair for pair in run.orders if max(pair) < count]
        self.races = [race for race in run.races if race[0] < count and (race[1] is None or race[1] < count)]
        ends = [work.ran[1] for work in self.works if work.ran[1]] + [wait.end for wait in self.waits]
        ends += [work.launched[1] for work in self.works]
        self.end = self.at(max(ends, default=run.start))

    def at(self, moment):
        return None if moment is None else round((moment - self.start) * 1000, 3)


def _title(run):
    used = len({work.stream for work in run.works})
    return f"{counted(len(run.works), 'launch', 'launches')} on {counted(used, 'stream')}"


def _lanes(works):
    lanes = [{"id": "host", "kind": "host", "label": "host"}]
    used = sorted({work.stream for work in works})
    return lanes + [{"id": f"s{stream}", "kind": "stream", "label": stream_name(stream)} for stream in used]


def stream_name(stream):
    return "default stream" if stream == 0 else f"stream {stream}"


def _bar(id, kind, lane, label, begin, end):
    return {"id": id, "kind": kind, "lane": lane, "label": label, "from": begin, "to": max(begin, end)}


def _launches(clock):
    return [
        _bar(f"l{k}", "launch", "host", work.name, *map(clock.at, work.launched)) for k, work in enumerate(clock.works)
    ]


def _waits(clock):
    return [
        _bar(f"w{k}", "wait", "host", f"waits for the {wait.scope}", clock.at(wait.begin), clock.at(wait.end))
        for k, wait in enumerate(clock.waits)
    ]


def _kernels(clock):
    return [
        _bar(f"k{k}", "copy" if work.is_copy else "kernel", f"s{work.stream}", work.name, *map(clock.at, work.ran))
        for k, work in enumerate(clock.works)
        if work.ran[1] is not None
    ]


# What is ordered, and what is not


def _has_run(clock, k):
    return clock.works[k].ran[1] is not None


def _launch_edges(clock):
    return [
        {"id": f"e{k}", "kind": "launch", "from": f"l{k}", "to": f"k{k}"}
        for k in range(len(clock.works))
        if _has_run(clock, k)
    ]


def _orders(clock):
    return [
        {"id": f"o{n}", "kind": "order", "from": f"k{a}", "to": f"k{b}"}
        for n, (a, b) in enumerate(clock.orders)
        if _has_run(clock, a) and _has_run(clock, b)
    ]


def _returns(clock):
    """From the last kernel that a wait of the host was for, back to the host."""
    edges = []
    for n, wait in enumerate(clock.waits):
        ended = [k for k in wait.behind if k < len(clock.works) and _has_run(clock, k)]
        if ended:
            last = max(ended, key=lambda k: clock.works[k].ran[1])
            edges.append({"id": f"h{n}", "kind": "return", "from": f"k{last}", "to": f"w{n}"})
    return edges


def _races(clock):
    return [
        {"id": f"r{n}", "kind": "race", "from": f"k{a}", "to": f"k{a}" if b is None else f"k{b}", "label": kind}
        for n, (a, b, kind, _) in enumerate(clock.races)
        if _has_run(clock, a) and (b is None or _has_run(clock, b))
    ]


# Words


def _row(k, clock):
    work = clock.works[k]
    return {
        "name": work.name,
        "stream": work.stream,
        "site": work.site,
        "launched": clock.at(work.launched[1]),
        "began": clock.at(work.ran[0]),
        "ended": clock.at(work.ran[1]),
    }


def _notes(run, clock):
    if not run.works:
        return ["Nothing was launched."]
    host = sum(end - begin for begin, end in (work.launched for work in run.works)) * 1000
    device = sum(work.ran[1] - work.ran[0] for work in run.works if work.ran[1] is not None) * 1000
    waited = sum(wait.end - wait.begin for wait in run.waits) * 1000
    notes = [
        f"The host spent {host:.2f} ms on launches and {waited:.2f} ms on waiting; the kernels took {device:.2f} ms."
    ]
    if host:
        notes[0] += f" Kernels to launches: {device / host:.1f} to 1."
    if len(clock.works) < len(run.works):
        notes.append(f"Showing {len(clock.works)} of {counted(len(run.works), 'launch', 'launches')}.")
    return (
        notes
        + [line.strip() for _, _, _, words in run.races[:3] for line in words.splitlines()]
        + ([f"Showing 3 of {len(run.races)} findings."] if len(run.races) > 3 else [])
    )


def _steps(trace, clock):
    """What happened, in the order of time; bars are pale until their moment comes."""
    moments = sorted(_moments(clock), key=lambda moment: moment[0])
    drawn = {item["id"] for item in [*trace.nodes, *trace.edges]}
    steps = [
        {
            "ids": [id for id in ids if id in drawn],
            "msg": words,
            "set": {id: {"state": "shown"} for id in ids if id in drawn},
        }
        for _, ids, words in moments
    ]
    if not steps:
        return []
    first = {
        "ids": [],
        "msg": "At the start nothing is launched.",
        "set": {id: {"state": "later"} for step in steps for id in step["set"]},
    }
    return [first, *steps]


def _moments(clock):
    """(time, ids, sentence) of everything that is told, unsorted."""
    for k, work in enumerate(clock.works):
        yield _launched(k, work, clock)
        if work.ran[1] is not None:
            yield _ended(k, work, clock)
    for n, wait in enumerate(clock.waits):
        yield (
            clock.at(wait.end),
            [f"w{n}", f"h{n}"],
            f"{clock.at(wait.end):.2f} ms: the host goes on, after waiting "
            f"{(wait.end - wait.begin) * 1000:.2f} ms for the {wait.scope}.",
        )


def _launched(k, work, clock):
    moment = clock.at(work.launched[1])
    return moment, [f"l{k}"], f"{moment:.2f} ms: {work.name} is in {stream_name(work.stream)} ({work.site})."


def _ended(k, work, clock):
    began, ended = map(clock.at, work.ran)
    orders = [f"o{n}" for n, (_, after) in enumerate(clock.orders) if after == k]
    races = [f"r{n}" for n, (a, b, _, _) in enumerate(clock.races) if k == (a if b is None else b)]
    words = f"{ended:.2f} ms: {work.name} has run in {stream_name(work.stream)}, for {ended - began:.2f} ms"
    words += f", {began - clock.at(work.launched[1]):.2f} ms after its launch."
    if orders:
        words += " It had waited for another stream's event."
    if races:
        words += " Nothing orders it with the launch at the red line."
    return ended, [f"k{k}", f"e{k}", *orders, *races], words
