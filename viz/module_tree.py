"""The tree of a module: its parts and their tensors, each as a row, with equal neighbours folded."""

from dataclasses import dataclass, field

from viz.tensors import byte_count, describe, dtype_name, element_count

COPIES = 4  # so many equal neighbours fold into the first, a fold, and the last
HOOKS = {
    "_forward_pre_hooks": "forward pre-hook",
    "_forward_hooks": "forward hook",
    "_backward_pre_hooks": "backward pre-hook",
    "_backward_hooks": "backward hook",
}


@dataclass
class Part:
    """A module at one path. same_as: the path under which the same module came before, or None."""

    path: str
    module: object
    depth: int
    children: list = field(default_factory=list)
    same_as: str | None = None

    @property
    def kind(self):
        return type(self.module).__name__

    @property
    def name(self):
        return self.path.rpartition(".")[2] or "model"


@dataclass
class Fold:
    """Parts that share one row. name: "1 to 22"; like: the Part they equal, or None if they differ."""

    name: str
    parts: list
    depth: int
    like: object = None


def tree_of(module):
    """The root Part. A module that is there under two paths has its children under the first alone."""
    parts, first = {}, {}
    for path, part in module.named_modules(remove_duplicate=False):
        parent = path.rpartition(".")[0]
        if path and parent not in parts:
            continue  # below a repeated module
        same_as = first.get(id(part))
        made = Part(path, part, path.count(".") + 1 if path else 0, same_as=same_as)
        if path:
            parts[parent].children.append(made)
        if same_as is None:
            first[id(part)] = path
            parts[path] = made
    return parts[""]


def walk(part):
    """A Part and all below it, parents first."""
    yield part
    for child in part.children:
        yield from walk(child)


# Tensors


@dataclass
class Held:
    """A parameter or buffer under one name. size: bytes; None while it has no shape yet."""

    name: str
    path: str
    tensor: object
    kind: str
    what: str
    size: int | None


def tensors_of(part, saved):
    """The parameters and buffers that a Part holds itself. saved: the keys of the state_dict."""
    if part.same_as is not None:
        return []
    own = part.module
    found = [
        _held(part, name, p, "parameter" if p.requires_grad else "frozen")
        for name, p in own.named_parameters(recurse=False, remove_duplicate=False)
    ]
    for name, b in own.named_buffers(recurse=False, remove_duplicate=False):
        path = f"{part.path}.{name}" if part.path else name
        found.append(_held(part, name, b, "buffer" if path in saved else "unsaved"))
    return found


def _held(part, name, tensor, kind):
    path = f"{part.path}.{name}" if part.path else name
    try:
        what, size = describe(tensor.shape, tensor.dtype), byte_count(tensor)
    except (RuntimeError, ValueError):  # an uninitialized parameter has no shape
        what, size = f"{dtype_name(tensor.dtype)}, no shape yet", None
    return Held(name, path, tensor, kind, what, size)


def elements(held):
    return 0 if held.size is None else element_count(held.tensor.shape)


def hooks_of(module):
    """``["2 forward hooks", ...]``"""
    counts = {word: len(getattr(module, name, ()) or ()) for name, word in HOOKS.items()}
    return [f"{n} {word}{'s' if n > 1 else ''}" for word, n in counts.items() if n]


# Folding


def signature(part, saved):
    """Equal for parts that look the same, names of their roots aside."""
    own = tuple((held.name, held.kind, held.what) for held in tensors_of(part, saved))
    below = tuple((child.name, signature(child, saved)) for child in part.children)
    mode = bool(getattr(part.module, "training", True))
    return part.kind, part.same_as, mode, tuple(hooks_of(part.module)), own, below


def rows_of(root, saved, max_rows):
    """Parts, Folds and Helds, one a row: equal neighbours fold, then what is deepest, then the middle."""
    rows = _rows(root, saved, 10**6)
    depth = max((part.depth for part in walk(root)), default=0)
    while len(rows) > max_rows and depth > 1:
        depth -= 1
        rows = _rows(root, saved, depth)
    return rows if len(rows) <= max_rows else _without_middle(rows, max_rows)


def _rows(part, saved, depth):
    rows = [part, *tensors_of(part, saved)]
    if part.depth >= depth and part.children:
        inside = [inner for child in part.children for inner in walk(child)]
        return [*rows, Fold(f"{part.children[0].name} ...", inside, part.depth + 1)]
    for child in _folded(part.children, saved):
        rows += [child] if isinstance(child, Fold) else _rows(child, saved, depth)
    return rows


def _folded(children, saved):
    """Children, with the middle of each long run of equal ones as a Fold."""
    marks = [signature(child, saved) for child in children]
    found, start = [], 0
    while start < len(children):
        end = start + 1
        while end < len(children) and marks[end] == marks[start]:
            end += 1
        found += _run(children[start:end])
        start = end
    return found


def _run(copies):
    if len(copies) < COPIES:
        return copies
    hidden = copies[1:-1]
    name = f"{hidden[0].name} to {hidden[-1].name}"
    inside = [inner for copy in hidden for inner in walk(copy)]
    return [copies[0], Fold(name, inside, copies[0].depth, copies[0]), copies[-1]]


def _without_middle(rows, max_rows):
    """The first rows and the last; the modules between are one Fold. Tensors go with their modules."""
    head, tail = rows[: max_rows * 2 // 3], rows[len(rows) - max_rows // 3 :]
    while tail and isinstance(tail[0], Held):
        tail = tail[1:]
    while len(head) > 1 and isinstance(rows[len(head)], Held):
        head = head[:-1]
    middle = rows[len(head) : len(rows) - len(tail)]
    hidden = [part for row in middle for part in _parts_in(row)]
    depth = min((row.depth for row in middle if not isinstance(row, Held)), default=1)
    return [*head, Fold("the middle", hidden, depth), *tail]


def _parts_in(row):
    if isinstance(row, Held):
        return []
    return row.parts if isinstance(row, Fold) else [row]
