"""`teachtorch run`: run an unmodified PyTorch script on teachtorch."""

import difflib
import importlib
import importlib.abc
import importlib.machinery
import sys
from pathlib import Path

from teachtorch.cli.errors import CommandError
from teachtorch.cli.script import run_script


class TorchAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers `import torch` and `import torch.nn...` with teachtorch's modules of the same names."""

    def __init__(self):
        self._own_specs = {}

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "torch" or fullname.startswith("torch."):
            return importlib.machinery.ModuleSpec(fullname, self)
        return None

    def create_module(self, spec):
        name = "teachtorch" + spec.name.removeprefix("torch")
        try:
            module = importlib.import_module(name)
            self._own_specs[module] = module.__spec__
            return module
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
            raise ModuleNotFoundError(missing_module(spec.name), name=spec.name) from None

    def exec_module(self, module):
        """The module has run already, under its own name; the import system has just given it another's spec."""
        module.__spec__ = self._own_specs[module]


def missing_module(name):
    """What to say of a module that PyTorch has and teachtorch has not."""
    parent, _, last = name.rpartition(".")
    there = [] if not parent else dir(importlib.import_module("teachtorch" + parent.removeprefix("torch")))
    close = difflib.get_close_matches(last, there, n=1)
    hint = f"; the nearest thing there is: {parent}.{close[0]}" if close else ""
    return f"teachtorch has no {name}{hint}"


def run(script, arguments):
    """Run `script` as `__main__` with `torch` standing for teachtorch; return its exit status.

    Raises:
        CommandError: there is no such script.
    """
    if not Path(script).is_file():
        raise CommandError(f"no such script: {script}")
    alias = TorchAlias()
    sys.meta_path.insert(0, alias)
    try:
        return run_script(script, arguments).status
    finally:
        sys.meta_path.remove(alias)
