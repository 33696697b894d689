"""Running a user's script as `python script.py` would, and keeping what it left behind."""

import sys
import traceback
import types
from pathlib import Path


class FinishedScript:
    """A script that has run: its variables, and the exit status it ended with."""

    def __init__(self, variables, status):
        self.variables = variables
        self.status = status


def run_script(path, arguments):
    """Run the file as `__main__` with these arguments; an error in it is printed, not raised.

    Returns:
        FinishedScript, also for a script that failed: its variables are those it had made by then.
    """
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(Path(path).resolve().parent)
    return FinishedScript(module.__dict__, execute(path, module.__dict__))


def execute(path, variables):
    """Run the source in `variables`; return the exit status that Python would have given."""
    try:
        exec(compile(Path(path).read_bytes(), str(path), "exec", dont_inherit=True), variables)
    except SystemExit as leaving:
        return status_of(leaving)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BaseException as error:
        print_traceback(error)
        return 1
    return 0


def status_of(leaving):
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(leaving.code, file=sys.stderr)
    return 1


def print_traceback(error):
    """Print the error as Python does, without the frame of this file."""
    frames = error.__traceback__.tb_next
    traceback.print_exception(type(error), error, frames)
