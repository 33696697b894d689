"""Grades peak_memory.py."""

from exercises.grading import equal, points

LOOP = [("new", "x", 10)] + [("new", "x", 10)] * 5  # x = f(x), five times


def written(statement):
    """A statement as text."""
    kind, v, *rest = statement
    forms = {"new": "{} = new({})", "name": "{} = {}", "attach": "{}.child = {}", "del": "del {}"}
    return forms[kind].format(v, *rest)


def counting(yours, program, expected, why):
    """Compare (peak, left) under reference counting, with the program as text."""
    equal(
        yours.peak_counting(program),
        expected,
        why,
        what="peak_counting of this program",
        picture=text(program),
    )


def tracing(yours, program, every, expected, why):
    """The same with a tracing collector."""
    what = f"peak_tracing of this program, with every={every}"
    equal(yours.peak_tracing(program, every), expected, why, what=what, picture=text(program))


def text(program):
    return "\n".join(map(written, program))


@points(1, "what is held is held")
def test_held(yours):
    program = [("new", "a", 10), ("new", "b", 5)]
    counting(yours, program, (15, 0), "both are named until the end")
    tracing(yours, program, 10, (15, 0), "both are named until the end")


@points(1, "reference counting frees at once")
def test_freed_at_once(yours):
    program = [("new", "a", 10), ("del", "a"), ("new", "b", 10), ("del", "b"), ("new", "c", 10)]
    counting(yours, program, (10, 0), "each object goes at its last reference, before the next one is made")


@points(1, "a second name holds, too")
def test_names(yours):
    program = [
        ("new", "a", 10),
        ("name", "b", "a"),
        ("del", "a"),
        ("new", "c", 10),
        ("del", "b"),
        ("new", "d", 10),
    ]
    counting(yours, program, (20, 0), "b still names the first object when c is made; it goes with b")


@points(1, "an object holds what it refers to")
def test_attached(yours):
    program = [
        ("new", "a", 1),
        ("new", "b", 10),
        ("attach", "a", "b"),
        ("del", "b"),
        ("new", "c", 10),
        ("del", "a"),
    ]
    program += [("new", "d", 10)]
    why = (
        "nothing names the second object when c is made, but the first one refers to it; when a goes, both go"
    )
    counting(yours, program, (21, 0), why)


@points(1, "x = f(x) needs both for a moment")
def test_rebinding(yours):
    counting(
        yours,
        LOOP,
        (20, 0),
        "the new object is there before x lets go of the old one: two at a time, never more",
    )


@points(1, "reference counting cannot free a cycle")
def test_cycles(yours):
    program = [
        ("new", "a", 10),
        ("new", "b", 10),
        ("attach", "a", "b"),
        ("attach", "b", "a"),
        ("del", "a"),
        ("del", "b"),
    ]
    program += [("new", "c", 5)]
    why = "a and b are a cycle: each still has the reference of the other, and is reachable from nowhere"
    counting(yours, program, (25, 20), why)


@points(1, "a tracing collector waits until it runs")
def test_tracing_waits(yours):
    tracing(
        yours,
        LOOP,
        10,
        (60, 50),
        "the collector frees nothing until it runs, and it has not run: six objects",
    )
    why = "it runs before the fourth object, and frees two; then nothing until it runs again, and the third is still there"
    tracing(yours, LOOP, 3, (40, 30), why)


@points(1, "a tracing collector frees cycles")
def test_tracing_cycles(yours):
    program = [
        ("new", "a", 10),
        ("new", "b", 10),
        ("attach", "a", "b"),
        ("attach", "b", "a"),
        ("del", "a"),
        ("del", "b"),
    ]
    program += [("new", "c", 5)]
    tracing(yours, program, 2, (20, 0), "it runs before c is made: nothing reaches the cycle, so it goes")
