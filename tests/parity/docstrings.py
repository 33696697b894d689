"""Lists what PyTorch documents and has no docstring here: `python -m tests.parity.docstrings`.

A program of its own, because it imports every package of both libraries, which changes what a process sees of them.
"""
import importlib
import inspect
import pkgutil
import warnings

import teachtorch

PACKAGES = sorted({m.name.removeprefix("teachtorch") for m in pkgutil.walk_packages(teachtorch.__path__, "teachtorch.")
                   if not any(part.startswith("_") for part in m.name.split("."))} | {""})


def public_pairs(package):
    """(name, ours, PyTorch's) of the functions and classes of a module that both libraries have."""
    try:
        ours, theirs = (importlib.import_module(library + package) for library in ("teachtorch", "torch"))
    except ImportError:
        return
    for name in getattr(theirs, "__all__", None) or [n for n in vars(theirs) if not n.startswith("_")]:
        mine, reference = getattr(ours, name, None), getattr(theirs, name, None)
        if inspect.isclass(mine) or inspect.isroutine(mine):
            yield name, mine, reference


def is_ours(thing):
    return str(getattr(thing, "__module__", "")).startswith("teachtorch")


def has_docstring(cls, name):
    """Whether a member is documented, by its class or by one that it inherits from."""
    return any(inspect.getdoc(vars(base)[name]) for base in cls.__mro__ if name in vars(base))


def undocumented_members(cls, reference):
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if name.startswith("_") or name == "forward" or not inspect.isfunction(function):
            continue
        if hasattr(reference, name) and inspect.getdoc(getattr(reference, name)) and not has_docstring(cls, name):
            yield name


def undocumented(package):
    """The names, in a package, that PyTorch documents and we do not."""
    for name, mine, reference in public_pairs(package):
        if not is_ours(mine):
            continue
        if not (vars(mine).get("__doc__") if inspect.isclass(mine) else mine.__doc__) and inspect.getdoc(reference):
            yield name
        if inspect.isclass(mine) and inspect.isclass(reference):
            yield from (f"{name}.{member}" for member in undocumented_members(mine, reference))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    count = 0
    for package in PACKAGES:
        count += sum(1 for _ in public_pairs(package))
        for name in undocumented(package):
            print(f"torch{package}.{name}")
    print(f"{count} names compared")
