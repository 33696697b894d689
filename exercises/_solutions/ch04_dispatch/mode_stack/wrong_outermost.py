"""Asks the outermost mode first."""

FAILS = "test_innermost"
SAYS = "asked first"


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
    mode = STACK.pop(0)
    try:
        return mode.handle(run, name, *args)
    finally:
        STACK.insert(0, mode)
