"""What an exercise may import and call: coaching about what the exercise asks for, not a lock."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, replace

ALWAYS = frozenset(
    "__future__ abc bisect collections contextlib copy dataclasses enum fractions functools heapq itertools "
    "math numbers operator pprint random statistics string textwrap time typing warnings weakref".split()
)
DIGGING = frozenset(
    "__globals__ __builtins__ __subclasses__ __code__ __closure__ f_back f_globals f_locals f_builtins "
    "tb_frame gi_frame cr_frame".split()
)
# Modules that others have imported, and so hold as attributes: `contextlib.os`, `random._os`.
BEHIND_OTHERS = frozenset(
    "builtins ctypes gc importlib inspect io os pathlib runpy shutil subprocess sys tempfile threading".split()
)
USUAL = {"numpy": "np", "teachtorch": "torch"}
DYNAMIC = frozenset("__import__ exec eval compile globals open __builtins__ __loader__ __spec__".split())


class NotAllowed(Exception):
    """The file uses something that this exercise does without."""


@dataclass(frozen=True)
class Rules:
    """What one exercise allows beyond ALWAYS, and what it forbids: pairs (name, advice).

    A forbidden `name` may not occur at all; `.name` not as an attribute; `np.name` and `torch.name` not as those of that
    module, whatever it is called in the file. None of them may be imported from a module.
    """

    imports: tuple[str, ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    modules: tuple[tuple[str, str], ...] = ()  # of one file: pairs (what it calls a module, the module's name)


def check(tree: ast.Module, rules: Rules) -> None:
    """Raise NotAllowed for the first thing in the file that the exercise does without."""
    rules = replace(rules, modules=tuple(_modules(tree)))
    for node in _nodes(tree):
        complaint = _complaint(node, rules)
        if complaint:
            raise NotAllowed(f"line {node.lineno}: {complaint}")


def _nodes(tree: ast.Module):
    """Every node but those under `if __name__ == "__main__":`, which only run by hand."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'":
            for alternative in statement.orelse:
                yield from ast.walk(alternative)
        else:
            yield from ast.walk(statement)


def _modules(tree: ast.Module):
    """Pairs (name in the file, module) of `import module as name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)


def _complaint(node: ast.AST, rules: Rules) -> str:
    if isinstance(node, ast.Import):
        return _first(_import_complaint(alias.name, rules) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return _from_complaint(node, rules)
    if isinstance(node, ast.Attribute):
        return _attribute_complaint(node, rules)
    if isinstance(node, ast.Name):
        return _name_complaint(node.id, rules)
    return ""


def _import_complaint(module: str, rules: Rules) -> str:
    if module.split(".")[0] in ALWAYS.union(rules.imports):
        return ""
    return f"`import {module}` is not among what this exercise may import:\n{_allowed(rules)}"


def _allowed(rules: Rules) -> str:
    """The modules that may be imported, those of this exercise first."""
    names = textwrap.wrap(", ".join([*rules.imports, *sorted(ALWAYS)]), 88)
    return textwrap.indent("\n".join(names), "  ")


def _from_complaint(node: ast.ImportFrom, rules: Rules) -> str:
    if node.level:
        return "this exercise does without relative imports"
    names = [
        _forbidden(name, rules)
        for alias in node.names
        for name in (f"{node.module}.{alias.name}", f".{alias.name}", alias.name)
    ]
    names += [
        f"`from {node.module} import {alias.name}` reaches outside your own code"
        for alias in node.names
        if _behind_another(alias.name, rules)
    ]
    return _import_complaint(node.module or "", rules) or _first(names)


def _behind_another(name: str, rules: Rules) -> bool:
    """Whether an attribute is a module that this exercise may not import."""
    return name.lstrip("_") in BEHIND_OTHERS.difference(rules.imports)


def _attribute_complaint(node: ast.Attribute, rules: Rules) -> str:
    if node.attr in DIGGING or _behind_another(node.attr, rules):
        return f"`.{node.attr}` reaches outside your own code"
    return _first(_forbidden(name, rules) for name in (ast.unparse(node), f".{node.attr}", node.attr))


def _name_complaint(name: str, rules: Rules) -> str:
    if name in DYNAMIC:
        return f"this exercise does without `{name}`"
    return _forbidden(name, rules)


def _forbidden(name: str, rules: Rules) -> str:
    plain = _with_usual_names(name, dict(rules.modules))
    advice = dict(rules.forbidden).get(plain)
    return f"this exercise does without `{plain}`: {advice}" if advice else ""


def _with_usual_names(name: str, modules: dict[str, str]) -> str:
    """`np.add` for `n.add` where n is NumPy; `torch.eye` for teachtorch's."""
    first, dot, rest = name.partition(".")
    whole = modules.get(first, first) + dot + rest if dot else name
    for module, usual in USUAL.items():
        if whole.startswith(f"{module}."):
            return usual + whole.removeprefix(module)
    return whole


def _first(texts) -> str:
    return next((text for text in texts if text), "")
