"""The steps of a stride picture: a walk over the elements, or the view rule replayed."""

from viz.strides_cells import shown_indices
from viz.strides_geometry import formula
from viz.strides_notes import sizes_text
from viz.tensors import human_bytes
from viz.view_rule import contiguous_strides, replay

_WALK_STEPS = 64


def walk_steps(geometry):
    """One step per element drawn, in index order, counting changes of cache line."""
    steps, before, changes = [], None, 0
    complete = geometry.numel == len(shown_indices(geometry.shape))
    for number, index in enumerate(shown_indices(geometry.shape)[:_WALK_STEPS]):
        slot = geometry.slot(index)
        line = geometry.line(slot)
        changes += before not in (None, line)
        steps.append(
            {
                "ids": [f"c{number}", f"s{slot}"],
                "msg": f"{list(index)}: {formula(geometry, index)}, in cache line {line}.",
                "set": {"walk": {"text": str(changes)}} if complete else {},
            }
        )
        before = line
    return steps


def add_view(trace, geometry, sizes):
    """The view block, and its steps in place of the walk."""
    result = replay(geometry.shape, geometry.strides, sizes)
    trace.title += f", view{sizes_text(result.shape)}"
    trace.options["view"] = {
        "shape": list(result.shape),
        "strides": None if result.strides is None else list(result.strides),
        "chunks": [vars(chunk) for chunk in result.chunks],
        "straddles": result.straddles,
        "verdict": _verdict(geometry, result),
    }
    trace.options["hint"] = "Step through the rule that view() follows."
    trace.steps = _view_steps(geometry, result, trace.options["view"]["verdict"])


def _verdict(geometry, result):
    if result.strides is not None:
        return f"view{sizes_text(result.shape)} works without a copy: strides {sizes_text(result.strides)}."
    size = human_bytes(geometry.numel * geometry.itemsize)
    return (
        f"view{sizes_text(result.shape)} fails; reshape would copy {geometry.numel} elements ({size}) into "
        f"new storage with strides {sizes_text(contiguous_strides(result.shape))}."
    )


def _view_steps(geometry, result, verdict):
    subjects = _step_subjects(geometry, result)
    steps = [
        {"ids": ids, "msg": said, "set": {}} for ids, said in zip(subjects, result.sentences, strict=True)
    ]
    return [*steps, {"ids": ["verdict"], "msg": verdict, "set": {}}]


def _step_subjects(geometry, result):
    """What each sentence of the replay is about: old dims from the last, then chunks from the last."""
    if not result.chunks:
        return [[] for _ in result.sentences]
    old = [[f"d{d}"] for d in reversed(range(len(geometry.shape)))]
    order = list(enumerate(result.chunks))[::-1]
    dealt = [[f"k{number}", *(f"v{d}" for d in chunk.new)] for number, chunk in order]
    return (old + dealt)[: len(result.sentences)]
