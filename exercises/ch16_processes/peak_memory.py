"""Reference counting against a tracing collector: when is memory freed, and how much is needed at most?

A program is a list of statements:

    ("new", v, nbytes)      makes an object of that size; then v names it, and no longer what it named before
    ("name", w, v)          variable w names what v names
    ("attach", v, w)        the object that v names refers to the one that w names, from now on
    ("del", v)              the variable goes away

An object is *reachable* if a variable names it, or a reachable object refers to it.

With reference counting (CPython, and so PyTorch) each object has a count: of the variables that name it and
of the objects that refer to it. It is freed as soon as the count is zero; what it referred to then loses one
count.

A tracing collector frees nothing until it runs. When it runs, it frees every object that is not reachable.
Here it runs before a `new`, if `every` objects have been made since it ran last (or since the start).

`x = f(x)`: the new object is there before x lets go of the old one. For a moment both need memory.
"""


def peak_counting(program):
    """Return (peak, left) under reference counting.

    peak: the most bytes that were allocated at one time. left: bytes at the end that are allocated, but
    reachable no more.
    """
    raise NotImplementedError


def peak_tracing(program, every):
    """Return (peak, left) with a tracing collector that runs before a `new`, after `every` objects made."""
    raise NotImplementedError
