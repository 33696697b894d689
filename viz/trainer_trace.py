"""``viz.trainer``: the hooks of a Trainer's run, in the order in which they were called."""

from viz.picture import Picture
from viz.trace import Trace
from viz.trainer_record import Recorder
from viz.trainer_sections import Fold, Section, folded, sections_of
from viz.wrap import counted

MAX_ROWS = 140
STEPS = ("training_step", "validation_step", "test_step", "predict_step", "backward", "optimizer_step")


def trainer(trainer, *args, method="fit", max_rows=MAX_ROWS, **kwargs):
    """Run a Trainer and draw which hooks it called: callbacks before the module, batches and epochs folded.

    trainer: a Trainer of teachtorch. args, kwargs: those of its method, as in
    ``viz.trainer(trainer, model, loader)``. method: "fit", "validate", "test" or "predict".
    max_rows: how many hooks are drawn. To watch a run of your own: ``with viz.trainer.watch() as seen: ...``,
    then ``seen.picture``. Raises TypeError for another object, and what the run raises.
    """
    if not hasattr(trainer, "fit") or not hasattr(trainer, "fit_loop"):
        raise TypeError(f"viz.trainer takes a Trainer of teachtorch.lightning, got {type(trainer).__name__}")
    with watch(max_rows) as seen:
        getattr(trainer, method)(*args, **kwargs)
    return seen.picture


def watch(max_rows=MAX_ROWS):
    """A context manager that notices the hooks of every Trainer; its ``picture`` draws them."""
    return Recorder(lambda calls: Picture(trainer_trace(calls, max_rows)))


trainer.watch = watch


def trainer_trace(calls, max_rows=MAX_ROWS):
    """The trace of a run."""
    rows = []
    for section in folded(sections_of(calls)):
        _add(section, 0, rows)
    trace = Trace("trainer", "The hooks of a Trainer's run")
    shown = rows[:max_rows]
    trace.nodes = [{"id": f"r{number}", **row} for number, row in enumerate(shown)]
    trace.notes = _notes(calls, shown, len(rows))
    trace.options = {"hint": "Step through the run, hook by hook."}
    trace.steps = [_step(node) for node in trace.nodes if node["kind"] != "section" and node["kind"] != "fold"]
    return trace


def _add(part, depth, rows, where=()):
    if isinstance(part, Section):
        _add_section(part, depth, rows, where)
        return
    if isinstance(part, Fold):
        rows.append({"kind": "fold", "depth": depth, "label": part.label, "who": [], "where": ""})
        return
    rows.append({"kind": _kind(part), "depth": depth, "label": part.hook, "who": part.who, "where": ", ".join(where)})
    for inner in part.inner:
        _add(inner, depth + 1, rows, where)


def _add_section(section, depth, rows, where):
    label = section.title if section.number is None else f"{section.title} {section.number}"
    rows.append({"kind": "section", "depth": depth, "label": label, "who": [], "where": ""})
    for part in section.parts:
        _add(part, depth + 1, rows, (*where, label))


def _kind(call):
    """step: the work itself; module, callback: who defines it; default: there is one; empty: nobody does."""
    if call.hook in STEPS:
        return "step"
    for kind in ("module", "default"):
        if kind in call.who:
            return kind
    return "callback" if call.who else "empty"


def _notes(calls, shown, count):
    defined = sum(_count(call, lambda one: bool(one.who)) for call in calls)
    total = sum(_count(call, lambda one: True) for call in calls)
    notes = [
        f"{counted(total, 'hook')} and steps came up, {defined} of them had something to "
        f"do. For each hook the "
        "callbacks come first, then the module."
    ]
    if len(shown) < count:
        notes.append(f"Showing {len(shown)} of {count} rows.")
    return notes


def _count(call, test):
    return test(call) + sum(_count(inner, test) for inner in call.inner)


_WHOSE = {"module": "the module", "default": "the default"}


def _step(node):
    who = ", then ".join(_WHOSE.get(one, one) for one in node["who"])
    place = f"{node['where'].capitalize()}: " if node["where"] else ""
    said = f"runs {who}" if who else "nobody defines it"
    return {"ids": [node["id"]], "msg": f"{place}{node['label']}: {said}.", "set": {}}
