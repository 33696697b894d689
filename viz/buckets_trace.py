"""``viz.buckets``: which gradients travel together, and what of their travelling backward hides."""

from viz.picture import Picture
from viz.tensors import human_bytes
from viz.trace import Trace

SHOWN = 48


def watch(ddp, *, parameters=SHOWN):
    """``with viz.buckets.watch(ddp) as seen: ddp(x).sum().backward()``, then ``seen.picture``: the block's last pass.

    Every rank may watch, or one alone. On one machine there is little to hide: use
    ``distributed.simulated_link``.
    """
    return Recorder(ddp, lambda run: Picture(buckets_trace(run, parameters)))


def buckets(ddp, *, parameters=SHOWN):
    """Draw the buckets of a DistributedDataParallel as they are now; ``buckets.watch`` also draws when they travel.

    ddp: teachtorch's (PyTorch does not show its buckets). parameters: how many to show. TypeError for another
    object.
    """
    return Picture(buckets_trace(_facts(ddp), parameters))


buckets.watch = watch


def _facts(ddp):
    if not hasattr(getattr(ddp, "reducer", None), "buckets"):
        raise TypeError(f"viz.buckets takes a DistributedDataParallel of teachtorch, got {type(ddp).__name__}")
    reducer = ddp.reducer
    sizes = [p.numel() * p.element_size() for p in reducer.parameters]
    return {
        "names": list(reducer.names),
        "sizes": sizes,
        "buckets": [list(b.indices) for b in reducer.buckets],
        "ranks": ddp.process_group.size(),
        "events": [],
    }


class Recorder:
    """The context manager behind ``viz.buckets.watch``."""

    def __init__(self, ddp, draw):
        self._ddp, self._draw, self._events = ddp, draw, []

    def __enter__(self):
        from teachtorch.core import observer

        observer.subscribe(self._note, "ddp", "collective", "backward")
        return self

    def _note(self, topic, fields):
        phase = fields["phase"]
        if topic == "backward" and phase == "start":
            self._events = [("start", _now(), {})]
        elif topic == "ddp":
            self._events.append((phase, fields["time"], dict(fields)))
        elif topic == "collective" and phase == "start":
            self._events.append(("sent", fields["begun"], {"arrival": fields["arrival"]}))

    def __exit__(self, *exc):
        from teachtorch.core import observer

        observer.unsubscribe(self._note)

    @property
    def picture(self):
        """The last backward pass of the block; RuntimeError if nothing travelled."""
        if not any(phase == "finished" for phase, *_ in self._events):
            raise RuntimeError("no gradients have travelled in the block: run a forward and a backward in it")
        return self._draw({**_facts(self._ddp), "events": self._events})


def _now():
    from time import perf_counter

    return perf_counter()


def buckets_trace(run, shown=SHOWN):
    """The trace: parameters in their buckets, and, if something ran, when they were ready and travelled."""
    trace = Trace("buckets", _title(run))
    count = 0
    for number, indices in enumerate(run["buckets"]):
        size = sum(run["sizes"][i] for i in indices)
        trace.groups.append(
            {"id": f"b{number}", "kind": "bucket", "label": f"bucket {number}", "size": human_bytes(size)}
        )
        for i in indices:
            count += 1
            if count <= shown:
                trace.nodes.append(
                    {
                        "id": f"p{i}",
                        "kind": "parameter",
                        "bucket": number,
                        "label": run["names"][i],
                        "size": human_bytes(run["sizes"][i]),
                    }
                )
    if count > shown:
        trace.notes.append(f"Showing {shown} of {count} parameters.")
    _add_times(trace, run)
    return trace


def _title(run):
    counts = (len(run["buckets"]), "bucket"), (len(run["sizes"]), "parameter"), (run["ranks"], "rank")
    buckets, parameters, ranks = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts)
    return f"{buckets} of {parameters}, {ranks}"


def _add_times(trace, run):
    events = run["events"]
    if not events:
        return
    start = events[0][1]
    at = {"ready": {}, "launch": {}, "arrived": {}, "arrival": {}}
    launched = None
    for phase, moment, fields in events:
        ms = round((moment - start) * 1000, 2)
        if phase == "ready":
            at["ready"][fields["parameter"]] = (ms, fields["bucket"])
        elif phase == "launch":
            launched = fields["bucket"]
            at["launch"][launched] = ms
        elif phase == "sent" and launched is not None:
            if fields["arrival"]:
                at["arrival"][launched] = round((fields["arrival"] - start) * 1000, 2)
            launched = None
        elif phase == "arrived":
            at["arrived"][fields["bucket"]] = ms
        elif phase in ("waiting", "finished"):
            at[phase] = ms
    _draw_times(trace, run, at)


def _draw_times(trace, run, at):
    lanes = [("backward", "backward"), ("link", "on the link"), ("wait", "waiting")]
    trace.groups += [{"id": f"lane-{id}", "kind": "lane", "label": label} for id, label in lanes]
    ends = {
        number: min(at["arrived"][number], at["arrival"].get(number, at["arrived"][number])) for number in at["launch"]
    }
    trace.nodes.append(_bar("backward", "backward", "lane-backward", "", 0.0, at["waiting"]))
    trace.nodes += [_bar(f"t{i}", "ready", "lane-backward", "", ms, ms) for i, (ms, _) in at["ready"].items()]
    trace.nodes += [_bar(f"f{n}", "travels", "lane-link", str(n), at["launch"][n], ends[n]) for n in at["launch"]]
    trace.nodes.append(_bar("wait", "waits", "lane-wait", "", at["waiting"], at["finished"]))
    travel = sum(ends[n] - at["launch"][n] for n in ends)
    hidden = sum(max(0.0, min(ends[n], at["waiting"]) - at["launch"][n]) for n in ends)
    trace.notes.append(
        f"Backward took {at['waiting']:.1f} ms; buckets were on their way for {travel:.1f} ms, of which "
        f"{hidden:.1f} ms ({100 * hidden / max(travel, 1e-9):.0f} %) while it was still computing."
    )
    trace.options = {
        "end": at["finished"],
        "hidden": round(hidden / max(travel, 1e-9), 3),
        "hint": "Step through backward.",
    }
    trace.steps = _steps(run, at, ends)


def _bar(id, kind, lane, label, begin, end):
    return {"id": id, "kind": kind, "lane": lane, "label": label, "from": begin, "to": end}


def _steps(run, at, ends):
    """Bucket after bucket: full, sent, arrived."""
    moments = []
    for number, launch in at["launch"].items():
        last = max((ms, i) for i, (ms, bucket) in at["ready"].items() if bucket == number)[1]
        moments.append(
            (
                launch,
                [f"b{number}", f"f{number}", f"t{last}"],
                f"{launch:.1f} ms: with {run['names'][last]} bucket {number} is full, and it is its turn: it is sent.",
            )
        )
        moments.append(
            (
                ends[number],
                [f"b{number}", f"f{number}"],
                f"{ends[number]:.1f} ms: bucket {number} has arrived, as an average over {run['ranks']} ranks.",
            )
        )
    moments.append(
        (
            at["waiting"],
            ["backward", "wait"],
            f"{at['waiting']:.1f} ms: backward has nothing more to compute, and waits for what has not arrived.",
        )
    )
    return [{"ids": ids, "msg": said, "set": {}} for _, ids, said in sorted(moments, key=lambda moment: moment[0])]
