"""A GraphModule as a Python package: the code of its forward, and how to make its submodules again.

    folder/__init__.py, module.py      the class
    folder/state_dict.pt               the values of parameters and buffers
    folder/NAME.pt                     a submodule whose repr does not say how to make it
"""
import pathlib
import sys
import warnings

from .. import nn
from ..nn import Parameter

# Modules whose repr is the call that makes them.
WRITABLE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
INDENT = "        "


def write_package(module, folder, class_name):
    """Write the files. Warns of submodules that are pickled."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    save = sys.modules[__name__.partition(".")[0]].save
    save(module.state_dict(), folder / "state_dict.pt")
    pickled = [name for name, child in module.named_children() if type(child) not in WRITABLE]
    for name in pickled:
        save(module.get_submodule(name), folder / f"{name}.pt")
    (folder / "module.py").write_text(source(module, folder, class_name), encoding="utf-8")
    (folder / "__init__.py").write_text("from .module import *", encoding="utf-8")
    if pickled:
        warnings.warn("Was not able to save the following children modules as reprs -saved as pickled files instead: "
                      f"{pickled}", stacklevel=3)


def source(module, folder, class_name):
    """The text of module.py."""
    package = __name__.partition(".")[0]
    lines = ["import operator", f"import {package} as torch", "from math import inf, nan",
             f"from {package} import device", f"from {package}.nn import *", "", "",
             f"class {class_name}(torch.nn.Module):", "    def __init__(self):", f"{INDENT}super().__init__()",
             *made_again(module, folder),
             f"{INDENT}self.load_state_dict(torch.load({str(folder / 'state_dict.pt')!r}))"]
    forward = module.code.strip("\n ").split("\n")
    return "\n".join([*lines, "", *["    " + line if line else line for line in forward]]) + "\n"


def made_again(module, folder):
    """A line for each submodule, buffer and parameter."""
    for name, child in module.named_children():
        if type(child) in WRITABLE:
            yield f"{INDENT}setattr(self, {name!r}, {child!r})"
        else:
            yield f"{INDENT}setattr(self, {name!r}, torch.load({str(folder / f'{name}.pt')!r}, weights_only=False))"
    for name, buffer in module.named_buffers(recurse=False):
        yield f"{INDENT}self.register_buffer({name!r}, {empty_like(buffer)})"
    for name, parameter in module.named_parameters(recurse=False):
        yield f"{INDENT}setattr(self, {name!r}, torch.nn.{Parameter.__name__}({empty_like(parameter)}))"


def empty_like(t):
    return f"torch.empty({list(t.shape)}, dtype={t.dtype})"
