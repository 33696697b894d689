"""Finding what the user calls a tensor: variables of the calling frame, and parameters of modules."""

from viz.tensors import has_readable_history, is_module, is_tensor

_CONTAINER_LIMIT = 200


def tensor_key(tensor):
    """What identifies a tensor in a graph: its place in the graph, or the object itself for a leaf."""
    if tensor.grad_fn is None:
        return ("leaf", id(tensor))
    return ("output", id(tensor.grad_fn), getattr(tensor, "output_nr", 0))


class Names:
    """Names of tensors. ``of(tensor)`` and ``at(key)`` give a list, shortest name first."""

    def __init__(self):
        self._names = {}
        self._nodes = []
        self.tensors = {}

    def add(self, name, tensor):
        """Keeps the node too: PyTorch makes a new Python object for a node that nobody holds.

        A tensor for whose history the library refuses to answer is in no picture, and needs no name.
        """
        if not has_readable_history(tensor):
            return
        self._nodes.append(tensor.grad_fn)
        key = tensor_key(tensor)
        names = self._names.setdefault(key, [])
        if name not in names:
            names.append(name)
        self.tensors.setdefault(key, tensor)

    def at(self, key):
        return sorted(self._names.get(key, ()), key=_plainness)

    def of(self, tensor):
        return self.at(tensor_key(tensor))


def _plainness(name):
    """Variables come before list elements and module parameters, short before long."""
    return ("[" in name or "." in name, len(name), name)


def find_names(names, frame):
    """Names for ``viz.graph``.

    names: None reads ``frame``; False gives none; a dict or a module gives just what it holds.
    """
    found = Names()
    if names is None:
        for scope in (frame.f_locals, frame.f_globals):
            _add_scope(found, scope)
    elif is_module(names):
        _add_module(found, "", names)
    elif isinstance(names, dict):
        _add_scope(found, names, hidden="")
    elif names is not False:
        raise TypeError(f"names must be None, False, a dict or a module, got {type(names).__name__}")
    return found


def _add_scope(found, scope, hidden="_"):
    """Read a dict of variables. IPython's history (``_``, ``_3``, ``Out``) gives no names."""
    for name, value in list(scope.items()):
        if hidden and (name.startswith(hidden) or name in ("In", "Out")):
            continue
        _add_value(found, name, value)


def _add_value(found, name, value):
    if is_tensor(value):
        found.add(name, value)
    elif is_module(value):
        _add_module(found, name, value)
    elif type(value) in (list, tuple, dict) and len(value) <= _CONTAINER_LIMIT:
        _add_container(found, name, value)


def _add_container(found, name, value):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if is_tensor(item):
            found.add(f"{name}[{key!r}]", item)


def _add_module(found, name, module):
    prefix = f"{name}." if name else ""
    for path, parameter in module.named_parameters():
        found.add(prefix + path, parameter)
