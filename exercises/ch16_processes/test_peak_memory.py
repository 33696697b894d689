"""Grades peak_memory.py."""

import gc

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


class Ledger:
    """How many bytes there are, and how many there were at most."""

    def __init__(self):
        self.now = self.peak = 0


class Thing:
    """A real object of Python, which tells a ledger when it comes and when it goes."""

    def __init__(self, ledger, nbytes, cyclic):
        self.ledger, self.nbytes = ledger, nbytes
        self.refers = [self] if cyclic else []
        ledger.now += nbytes
        ledger.peak = max(ledger.peak, ledger.now)

    def __del__(self):
        self.ledger.now -= self.nbytes


def in_python(program, every=None):
    """(peak, left) of the program, run by this Python: it counts references.

    With `every` each object refers to itself, so that counting never frees it, and Python's own collector runs.
    """
    ledger, names, made = Ledger(), {}, 0
    for kind, v, *rest in program:
        if kind == "new":
            if made == every:
                gc.collect()
                made = 0
            names[v] = Thing(ledger, rest[0], every is not None)
            made += 1
        elif kind == "name":
            names[v] = names[rest[0]]
        elif kind == "attach":
            names[v].refers.append(names[rest[0]])
        else:
            del names[v]
    before = ledger.now
    gc.collect()
    return ledger.peak, before - ledger.now


def any_program(rng, length):
    """Statements that can be run, in a row."""
    named, program = set(), []
    for _ in range(length):
        v, kind = rng.choice("abcd"), rng.choice(["new", "new", "name", "attach", "attach", "del"])
        old = rng.choice(sorted(named)) if named else None
        if kind == "new" or old is None:
            program.append(("new", v, rng.randint(1, 9)))
        elif kind == "name":
            program.append(("name", v, old))
        elif kind == "attach":
            program.append(("attach", rng.choice(sorted(named)), old))
        else:
            program.append(("del", old))
        named = named - {old} if program[-1][0] == "del" else named | {program[-1][1]}
    return program


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


@points(1, "a name lets go when it is given to another object")
def test_renamed(yours):
    program = [("new", "a", 10), ("new", "b", 10), ("name", "a", "b"), ("new", "c", 10)]
    counting(yours, program, (20, 0), "a = b: nothing names the first object any more, so it goes before c is made")
    program = [("new", "a", 10), ("name", "a", "a"), ("new", "b", 10), ("del", "a"), ("new", "c", 10)]
    counting(yours, program, (20, 0), "a = a: the object keeps its one name, and goes with it")


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


@points(1, "any program, as Python runs it")
def test_any(yours, rng):
    gc.disable()
    gc.freeze()  # what was there before is none of the collector's business
    try:
        for length in (3, 5, 8, 12, 20, 20, 20, 20):
            program, every = any_program(rng, length), rng.randint(1, 4)
            counting(yours, program, in_python(program), "run by Python itself, which counts references")
            why = "run by Python itself, with its collector, and every object in a cycle"
            tracing(yours, program, every, in_python(program, every), why)
    finally:
        gc.unfreeze()
        gc.enable()
