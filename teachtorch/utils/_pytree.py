"""Nested tuples, lists, dicts and named tuples as a flat list of leaves and back (torch.utils._pytree)."""
from dataclasses import dataclass


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a nesting: each container's class, dict keys and the specs of what is in it; a leaf has none."""

    type: object
    context: object
    children_specs: tuple

    @property
    def num_leaves(self):
        return 1 if self.is_leaf() else sum([child.num_leaves for child in self.children_specs])

    def is_leaf(self):
        """Whether it stands for one value that is no container."""
        return self.type is None


LEAF = TreeSpec(None, None, ())


def tree_flatten(tree, is_leaf=None):
    """(the leaves in order, the TreeSpec)."""
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree, leaves, is_leaf):
    children = None if is_leaf is not None and is_leaf(tree) else children_of(tree)
    if children is None:
        leaves.append(tree)
        return LEAF
    context = list(tree) if isinstance(tree, dict) else None
    return TreeSpec(type(tree), context, tuple([_flatten(child, leaves, is_leaf) for child in children]))


def children_of(tree):
    """What stands in a container; None for a leaf."""
    if type(tree) in (list, tuple) or isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(tree)
    return list(tree.values()) if type(tree) is dict else None


def tree_unflatten(leaves, treespec):
    """The nesting again. ValueError if the number of leaves is another."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a "
            f"pytree that holds {treespec.num_leaves} items"
        )
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves, spec):
    if spec.is_leaf():
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children_specs]
    if spec.type is dict:
        return dict(zip(spec.context, children))
    return spec.type(*children) if hasattr(spec.type, "_fields") else spec.type(children)


def tree_map(func, tree, *rests, is_leaf=None):
    """The nesting with `func` applied to each leaf; with more trees of the same shape, to leaves side by side."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(*parts) for parts in zip(leaves, *others)], spec)


def tree_map_only(types, func, tree, is_leaf=None):
    """`tree_map` that changes leaves of these types only."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, types) else leaf, tree, is_leaf=is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_any(predicate, tree):
    """Whether the predicate holds for a leaf."""
    return any([predicate(leaf) for leaf in tree_leaves(tree)])


def tree_all(predicate, tree):
    """Whether the predicate holds for all leaves."""
    return all([predicate(leaf) for leaf in tree_leaves(tree)])
