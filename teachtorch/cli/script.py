"""Running a user's script as `python script.py` would, and keeping what it left behind."""

import sys
import traceback
import types
from pathlib import Path

ENGINE = str(Path(__file__).resolve().parents[1])


class FinishedScript:
    """A script that has run: its variables, and the exit status it ended with."""

    def __init__(self, variables, status):
        self.variables = variables
        self.status = status


def run_script(path, arguments, explain=None):
    """Run the file as `__main__` with these arguments; an error in it is printed, not raised.

    Args:
        explain: a function of the error that gives a sentence to print in its stead, or None.

    Returns:
        FinishedScript, also for a script that failed: its variables are those it had made by then.
    """
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(Path(path).resolve().parent)
    return FinishedScript(module.__dict__, execute(path, module.__dict__, explain))


def execute(path, variables, explain=None):
    """Run the source in `variables`; return the exit status that Python would have given."""
    try:
        exec(compile(Path(path).read_bytes(), str(path), "exec", dont_inherit=True), variables)
    except SystemExit as leaving:
        return status_of(leaving)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BaseException as error:
        print_error(error, None if explain is None else explain(error))
        return 1
    return 0


def status_of(leaving):
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(leaving.code, file=sys.stderr)
    return 1


def print_error(error, sentence):
    """Print the sentence with the line of the user's code that it is about; without one, the traceback."""
    if sentence is None:
        print_traceback(error)
        return
    frames = traceback.extract_tb(error.__traceback__.tb_next)
    own = [frame for frame in frames if not frame.filename.startswith(("<", ENGINE))]
    if own:
        print(f'  File "{own[-1].filename}", line {own[-1].lineno}\n    {own[-1].line}', file=sys.stderr)
    print(sentence, file=sys.stderr)


def print_traceback(error):
    """Print the error as Python does, without the frame of this file."""
    frames = error.__traceback__.tb_next
    traceback.print_exception(type(error), error, frames)
