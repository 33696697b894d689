"""What an exercise may import and call: coaching about what the exercise asks for, not a lock."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass

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
DYNAMIC = frozenset("__import__ exec eval compile globals open __builtins__ __loader__ __spec__".split())


class NotAllowed(Exception):
    """The file uses something that this exercise does without."""


@dataclass(frozen=True)
class Rules:
    """What one exercise allows beyond ALWAYS, and what it forbids: pairs (name, advice)."""

    imports: tuple[str, ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()


def check(tree: ast.Module, rules: Rules) -> None:
    """Raise NotAllowed for the first thing in the file that the exercise does without."""
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
    names = [_forbidden(f"{node.module}.{alias.name}", rules) for alias in node.names]
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
    return _forbidden(ast.unparse(node), rules) or _forbidden(f".{node.attr}", rules)


def _name_complaint(name: str, rules: Rules) -> str:
    if name in DYNAMIC:
        return f"this exercise does without `{name}`"
    return _forbidden(name, rules)


def _forbidden(name: str, rules: Rules) -> str:
    plain = name.replace("numpy.", "np.", 1)
    advice = dict(rules.forbidden).get(plain)
    return f"this exercise does without `{plain}`: {advice}" if advice else ""


def _first(texts) -> str:
    return next((text for text in texts if text), "")
