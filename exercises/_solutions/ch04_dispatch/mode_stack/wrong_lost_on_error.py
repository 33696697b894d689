"""Does not put the mode back after an error."""

FAILS = "test_error"
SAYS = "leaves the modes as they were"


OPERATORS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "neg": lambda a: -a, "fail": lambda: 1 / 0}
STACK = []


class Mode:
    def __enter__(self):
        STACK.append(self)
        return self

    def __exit__(self, *error):
        if self in STACK:
            STACK.remove(self)

    def handle(self, run, name, *args):
        return run(name, *args)


def run(name, *args):
    if not STACK:
        return OPERATORS[name](*args)
    mode = STACK.pop()
    found = mode.handle(run, name, *args)
    STACK.append(mode)
    return found
