"""Leaves the mode on while its handler runs."""

FAILS = "test_not_itself"
SAYS = "without end"


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
    return STACK[-1].handle(run, name, *args)
