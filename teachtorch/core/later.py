"""A second name for a module, which is imported when the name is first used."""
import importlib
import sys
import types


class Later(types.ModuleType):
    """Stands for the module `target` in sys.modules under `name`."""

    def __init__(self, name, target):
        super().__init__(name, f"The same as {target}.")
        self._target = target
        sys.modules[name] = self

    def __getattr__(self, name):
        if name.startswith("__"):                       # what the import system asks every module
            raise AttributeError(name)
        return getattr(importlib.import_module(self._target), name)
