"""Nests of tuples, lists and dicts: their leaves in order, and the way back."""
from collections import OrderedDict

LEAF = "*"


def flatten(tree):
    """(the leaves in order, the structure: equal structures compare equal)."""
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    if isinstance(tree, (tuple, list)):
        return type(tree), None, tuple(_flatten(part, leaves) for part in tree)
    if isinstance(tree, (dict, OrderedDict)):
        return type(tree), tuple(tree), tuple(_flatten(part, leaves) for part in tree.values())
    leaves.append(tree)
    return LEAF


def shown(structure):
    """The structure as text: "(*, *)" for a pair."""
    if structure == LEAF:
        return LEAF
    kind, keys, parts = structure
    texts = [shown(part) for part in parts]
    if keys is not None:
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(keys, texts)) + "}"
    inside = ", ".join(texts)
    return f"[{inside}]" if kind is list else f"({inside},)" if len(texts) == 1 else f"({inside})"


def spec_text(structure, indent=0):
    """The structure as PyTorch's text: "TreeSpec(tuple, None, [*,\\n  *])" for a pair."""
    if structure == LEAF:
        return LEAF
    kind, keys, parts = structure
    context = None if keys is None else list(keys)
    separator = ",\n" + " " * (indent + 2)
    return (
        f"TreeSpec({kind.__name__}, {context}, [" + separator.join(spec_text(part, indent + 2) for part in parts) + "])"
    )


def unflatten(leaves, structure):
    """A nest of the structure with these leaves."""
    return _unflatten(iter(leaves), structure)


def _unflatten(leaves, structure):
    if structure == LEAF:
        return next(leaves)
    kind, keys, parts = structure
    made = [_unflatten(leaves, part) for part in parts]
    if keys is not None:
        return kind(zip(keys, made))
    return kind(*made) if hasattr(kind, "_fields") else kind(made)


def mapped(function, tree):
    """The nest with function(leaf) in place of each leaf."""
    leaves, structure = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], structure)


def spread(tree, structure):
    """A value per leaf of `structure`: `tree` may give one for a whole branch. None if it does not fit."""
    if structure == LEAF:
        return [tree] if not isinstance(tree, (tuple, list, dict)) else None
    parts = structure[2]
    if not isinstance(tree, (tuple, list, dict)):
        branches = [tree] * len(parts)
    elif len(tree) != len(parts) or isinstance(tree, dict) != (structure[1] is not None):
        return None
    else:
        branches = list(tree.values()) if isinstance(tree, dict) else list(tree)
    found = [spread(branch, part) for branch, part in zip(branches, parts)]
    return None if any(f is None for f in found) else [value for f in found for value in f]
