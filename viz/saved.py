"""What a node saved for backward, read from its ``_saved_*`` attributes."""

from viz.tensors import byte_count, describe, human_bytes, is_tensor, storage_key, storage_size
from viz.wrap import counted

_PREFIX = "_saved_"
# A number in place of a tensor: PyTorch wraps it and frees it like a tensor; teachtorch keeps the number.
_OPERANDS = ("self", "other")


def saved_items(node, names):
    """One dict per saved tensor: name, what, bytes, state (kept, freed, changed, packed), is (a user's name).

    What ``saved_tensors_hooks`` packed, PyTorch shows without unpacking; elsewhere reading it unpacks it.
    """
    items = []
    for name, read in _sources(node):
        if packed(node, name):
            items.append({"name": name, "what": "", "bytes": 0, "state": "packed", "is": ""})
            continue
        try:
            value = read()
        except RuntimeError as error:
            items.append(_unreadable(name, error))
        else:
            items += _items(name, value, names)
    return sorted(items, key=_place)


def saved_values(node):
    """The saved tensors themselves, as far as they can be read."""
    values = []
    for name, read in _sources(node):
        if packed(node, name):
            continue
        try:
            value = read()
        except RuntimeError:
            continue
        values += [v for v in (value if isinstance(value, (tuple, list)) else [value]) if is_tensor(v)]
    return values


def _place(item):
    """Inputs as in the signature, as far as it is known: self comes first, the result last."""
    return {"self": 0, "input": 0, "result": 2}.get(item["name"], 1)


def _sources(node):
    attributes = dir(node)
    found = [
        (a[len(_PREFIX) :], lambda a=a: getattr(node, a))
        for a in attributes
        if a.startswith(_PREFIX) and a != "_saved_tensors"
    ]
    if "saved_tensors" in attributes:
        found.append(("saved_tensors", lambda: node.saved_tensors))
    return found


def saved_names(node):
    """Names of everything a node has saved, tensors and others."""
    return [name for name, _ in _sources(node) if name != "saved_tensors"]


def raw_saved(node, name):
    """PyTorch's own record of a saved tensor, which can be asked without any check; None elsewhere."""
    found = getattr(node, f"_raw_saved_{name}", None)
    return None if isinstance(found, (tuple, list)) else found


def packed(node, name):
    """Whether a pack hook made something else of the saved tensor, such as a promise to compute it again."""
    return getattr(raw_saved(node, name), "unpack_hook", None) is not None


def _unreadable(name, error):
    """PyTorch refuses to hand out a saved tensor for two reasons; its message says which."""
    state = "changed" if "inplace" in str(error) or "in-place" in str(error) else "freed"
    return {"name": name, "what": "", "bytes": 0, "state": state, "is": ""}


def _items(name, value, names):
    if is_tensor(value):
        return [_item(name, value, names)]
    if name in _OPERANDS and isinstance(value, (int, float, complex)):
        return [{"name": name, "what": f"the number {value}", "bytes": 0, "state": "kept", "is": ""}]
    if isinstance(value, (tuple, list)):
        tensors = [(k, v) for k, v in enumerate(value) if is_tensor(v)]
        return [_item(f"{name}[{k}]", tensor, names) for k, tensor in tensors]
    return []


def _item(name, tensor, names):
    known = names.of(tensor)
    return {
        "name": name,
        "what": describe(tensor.shape, tensor.dtype),
        "bytes": byte_count(tensor),
        "state": "kept",
        "is": known[0] if known else "",
        "storage": [storage_key(tensor), storage_size(tensor)],
    }


def take_storages(items):
    """Remove the addresses from ``items`` (a trace holds none) and return {storage: bytes}."""
    storages = {}
    for item in items:
        if "storage" in item:
            key, size = item.pop("storage")
            storages[key] = size
    return storages


def is_number(item):
    """Whether a number was saved in place of a tensor: no storage, but backward() lets go of it too."""
    return item["what"].startswith("the number")


def saved_count(tensors, numbers):
    """``2 tensors``, ``1 number``, ``2 tensors and 1 number``."""
    counts = ((tensors, "tensor"), (numbers, "number"))
    return " and ".join(counted(number, word) for number, word in counts if number)


def folded_text(node):
    """The line of a folded card: ``saved 3 tensors and 1 number, 24 B``; empty if nothing was saved."""
    tensors, numbers = node["saved_count"], node.get("saved_numbers", 0)
    size = f", {human_bytes(node['saved_bytes'])}" if tensors else ""
    return f"saved {saved_count(tensors, numbers)}{size}" if tensors or numbers else ""


def released(items):
    """What a node lets go of, as the end of a sentence: ``the 16 B it saved``."""
    size = sum(item["bytes"] for item in items)
    if size:
        return f"the {human_bytes(size)} it saved"
    if all(map(is_number, items)):
        return f"the {'number' if len(items) == 1 else 'numbers'} it saved"
    return "what it saved"


def saved_text(item):
    """``self  float32 [2, 3]  24 B  = x``"""
    if item["state"] == "freed":
        return f"{item['name']}  freed"
    if item["state"] == "packed":
        return f"{item['name']}  packed by a hook"
    if item["state"] == "changed":
        return f"{item['name']}  changed in place since it was saved"
    if is_number(item):
        return f"{item['name']}  {item['what']}"
    same = f"  = {item['is']}" if item["is"] else ""
    return f"{item['name']}  {item['what']}  {human_bytes(item['bytes'])}{same}"
