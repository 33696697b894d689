"""Switches all modes off while a handler runs."""

FAILS = "test_around"
SAYS = "two adds"


OPERATORS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "neg": lambda a: -a, "fail": lambda: 1 / 0}
STACK = []


class Mode:
    def __enter__(self):
        STACK.append(self)
        return self

    def __exit__(self, *error):
        STACK.pop()

    def handle(self, run, name, *args):
        return run(name, *args)


def run(name, *args):
    if not STACK:
        return OPERATORS[name](*args)
    modes = STACK[:]
    STACK.clear()
    try:
        return modes[-1].handle(run, name, *args)
    finally:
        STACK[:] = modes
