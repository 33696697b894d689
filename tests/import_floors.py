"""The floors of the packages, and a finder of imports that break them; read with `ast`, nothing is run."""

import ast
from pathlib import Path
from typing import NamedTuple

# From the ground up: a floor may import itself and the floors before it.
FLOORS = ["core", "memory", "kernels", "tensor", "dispatch", "autograd", "ops"]

# Above `ops` stand the packages users build with. They know nothing of each other, except the pairs
# (importer, imported) named here and in ARCHITECTURE.md.
NEIGHBOURS = {("optim", "nn"),      # swa_utils averages modules
              ("nn", "distributed"), ("utils", "distributed"),     # DistributedDataParallel, DistributedSampler
              ("utils", "amp"),        # a checkpointed segment runs again under the same autocast
              ("distributed", "optim"), ("distributed", "futures"),
              ("multiprocessing", "nn"),        # how a Parameter travels
              ("sim", "accelerator"), ("cuda", "accelerator"),         # the same memory functions
              ("fx", "nn"), ("fx", "overrides"),       # graphs of modules; how a function is written
              ("fx", "utils"), ("compiler", "utils"), ("_subclasses", "utils"),  # nested containers
              ("nn", "utils"),         # and so are the outputs of a module that DistributedDataParallel wraps
              ("jit", "fx"), ("jit", "nn"), ("jit", "utils"),      # a trace is an fx graph and a module
              ("compiler", "fx"), ("compiler", "nn"), ("compiler", "optim"),  # what is captured is an fx graph, of modules too
              *{("lightning", other) for other in ("nn", "optim", "utils", "serialization", "profiler", "random",
                                                   "determinism", "distributed")},   # a trainer brings them together
              ("library", "amp"),      # an operator of the user's says what autocast makes of its inputs
              ("nn", "func")}       # nn.utils.stateless is func.functional_call under its first name

# The console script is the roof: it may reach everything, but only when a command needs it.
ROOF = {"cli", "__main__"}

# `teachtorch/__init__.py` gathers the public names of all floors.
FRONT = "__init__"

NOT_FOR_THE_ENGINE = {
    "viz",
    "exercises",
    "notebooks",
    "torch",
    "matplotlib",
    "graphviz",
    "IPython",
    "ipykernel",
    "jupyterlab",
}


class Import(NamedTuple):
    """One imported module or name: `module` in full, e.g. `teachtorch.core.dtype`."""

    module: str
    line: int
    lazy: bool  # inside a function: it runs when called, not when the file is imported


def imports_of(source, module, is_package=False):
    """Yield every Import in the source text of `module`, relative ones resolved."""
    tree = ast.parse(source)
    lazy_nodes = nodes_inside_functions(tree)
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(tree):
        for name in imported_names(node, package):
            yield Import(name, node.lineno, node in lazy_nodes)


def nodes_inside_functions(tree):
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {inner for function in functions for inner in ast.walk(function)}


def imported_names(node, package):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = absolute(node, package)
        return [f"{base}.{alias.name}" for alias in node.names]
    return []


def absolute(node, package):
    """The module of a `from ... import`, with its leading dots replaced by packages."""
    if node.level == 0:
        return node.module
    parts = package.split(".")
    kept = parts[: len(parts) - (node.level - 1)]
    return ".".join(kept + ([node.module] if node.module else []))


def floor_of(module):
    """The floor of a module of teachtorch: its first part below the package."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FRONT


def breaks_the_floors(importer, found):
    """Why `importer`, a module of teachtorch, may not hold this import; None if it may."""
    top = found.module.split(".")[0]
    home = floor_of(importer)
    if top in NOT_FOR_THE_ENGINE:
        if home in ROOF and found.lazy:
            return None
        return f"the engine does not import {top}"
    if top != "teachtorch" or home in ROOF or home == FRONT:
        return None
    return points_up(home, floor_of(found.module))


def points_up(home, target):
    if home == target or (target in FLOORS and home not in FLOORS) or (home, target) in NEIGHBOURS:
        return None
    if home in FLOORS and target in FLOORS and FLOORS.index(target) < FLOORS.index(home):
        return None
    if home not in FLOORS and target not in FLOORS and target not in ROOF and target != FRONT:
        return f"{home} and {target} stand side by side and know nothing of each other"
    return f"{home} may not import {target}, which stands above it"


def breaks_the_pictures_rule(found):
    """Why viz may not hold this import: it reads public surfaces, and only of what it is given."""
    parts = found.module.split(".")
    if parts[0] != "teachtorch":
        return None
    if not found.lazy:
        return "viz imports teachtorch only inside functions"
    if any(part.startswith("_") for part in parts):
        return "viz imports private names of teachtorch"
    return None


def complaints(root, package, judge):
    """All broken rules in `root/package`, as `file:line: import: reason`."""
    found = []
    for path in sorted(Path(root, package).rglob("*.py")):
        module = module_name(path.relative_to(root))
        for one in imports_of(path.read_text(encoding="utf-8"), module, path.name == "__init__.py"):
            reason = judge(module, one)
            if reason:
                found.append(f"{path.relative_to(root)}:{one.line}: {one.module}: {reason}")
    return found


def module_name(relative_path):
    parts = list(relative_path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
