"""A stack of modes: the innermost is asked first, and never sees its own calls.

    with Log():
        with Doubling():
            run("add", 1, 2)        Doubling.handle is asked; what it runs goes to Log; what Log runs is computed

A mode has a method `handle(run, name, *args)`. `run` in it is the function below: it goes to the modes around this one.
"""

OPERATORS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "neg": lambda a: -a, "fail": lambda: 1 / 0}
STACK = []


class Mode:
    """A context manager: in its block all calls of `run` go to `handle` first."""

    def __enter__(self):
        # solution
        STACK.append(self)
        return self
        # end of solution

    def __exit__(self, *error):
        # solution
        STACK.pop()
        # end of solution

    def handle(self, run, name, *args):
        return run(name, *args)


def run(name, *args):
    """Ask the innermost mode, if there is one, else compute OPERATORS[name](*args).

    While a handler runs, its own mode is off and those around it are on. Afterwards, also after an error, the
    stack is as it was.
    """
    # solution
    if not STACK:
        return OPERATORS[name](*args)
    mode = STACK.pop()
    try:
        return mode.handle(run, name, *args)
    finally:
        STACK.append(mode)
    # end of solution
