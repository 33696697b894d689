"""`teachtorch run`: run an unmodified PyTorch script on teachtorch."""

import importlib
import importlib.abc
import importlib.machinery
import inspect
import re
import sys
from pathlib import Path

from teachtorch.cli import names
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
            raise ModuleNotFoundError(names.sentence(spec.name), name=spec.name) from None

    def exec_module(self, module):
        """The module has run already, under its own name; the import system has just given it another's spec."""
        module.__spec__ = self._own_specs[module]


# ---- errors of what is missing --------------------------------------------------------------------------------------

def missing_name(error):
    """A sentence on the name of PyTorch whose lack raised this error; None if that is not what it is about."""
    name = name_looked_for(error)
    if name is None or names.has(name):
        return None
    return names.sentence(name)


def name_looked_for(error):
    if isinstance(error, ModuleNotFoundError):
        return error.name if (error.name or "").startswith("torch.") else None
    if isinstance(error, ImportError):
        return imported_name(error)
    if isinstance(error, AttributeError) and error.name is not None:
        return attribute_name(error.obj, error.name)
    return None


def imported_name(error):
    """The name in `from torch.x import name`; Python 3.11 says it in the message only."""
    found = re.match(r"cannot import name '(\w+)'", str(error))
    if found is None or not (error.name or "").startswith("teachtorch"):
        return None
    return f"torch{error.name.removeprefix('teachtorch')}.{found[1]}"


def attribute_name(owner, name):
    """The name of a missing attribute of a module or tensor. One that PyTorch's tensors lack too is a slip: None."""
    from teachtorch import Tensor

    if inspect.ismodule(owner) and owner.__name__.partition(".")[0] == "teachtorch":
        return f"torch{owner.__name__.removeprefix('teachtorch')}.{name}"
    if isinstance(owner, Tensor) or owner is Tensor:
        full = f"torch.Tensor.{name}"
        return full if names.is_pytorchs(full) else None
    return None


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
        return run_script(script, arguments, missing_name).status
    finally:
        sys.meta_path.remove(alias)
