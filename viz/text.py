"""A trace as Unicode text."""

from importlib import import_module

from viz.wrap import wrapped

STEPS_SHOWN = 40
WIDTH = 100


def text(trace):
    """Title, notes, the picture of this kind, and the steps as numbered sentences."""
    body = import_module(f"viz.{trace.kind}_text").body(trace)
    parts = [trace.title, *(line for note in trace.notes for line in wrapped(note, WIDTH))]
    return "\n".join([*parts, "", *body, *_steps(trace), *_again(trace)]).rstrip()


def _again(trace):
    """How a recorded backward goes on when it is run a second time."""
    ways = {"freed": "A second backward()", "kept": "A second backward(), after backward(retain_graph=True)"}
    again, lines = trace.options.get("again", {}), []
    for way, title in ways.items():
        if way in again and (way == "freed" or again["kept"] != again["freed"]):
            lines += ["", title]
            lines += [line for number, step in enumerate(again[way], 1) for line in _step(number, step)]
    return lines


def _steps(trace):
    if not trace.steps:
        return []
    shown = [line for number, step in enumerate(trace.steps[:STEPS_SHOWN], 1) for line in _step(number, step)]
    hidden = len(trace.steps) - STEPS_SHOWN
    return ["", "Steps", *shown, *([f"    ... {hidden} more steps"] if hidden > 0 else [])]


def _step(number, step):
    lines = wrapped(step["msg"], WIDTH - 4)
    return [f"{number:>3} {lines[0]}", *("    " + line for line in [*lines[1:], *step.get("sums", ())])]
