"""An alias map as text."""

from viz.wrap import columns, counted, padded


def body(trace):
    """Lines of the picture: per storage a ruler, the tensors over it, and the saved chips."""
    lines = []
    for storage in trace.groups:
        members = [node for node in trace.nodes if node["storage"] == storage["id"]]
        lines += ["", *_storage(storage, members)] if lines else _storage(storage, members)
    return lines


def _storage(storage, members):
    tensors = [node for node in members if node["kind"] == "tensor"]
    width = max((columns(node["label"]) for node in tensors), default=0)
    shapes = max((len(node["what"]) for node in tensors), default=0)
    left = width + shapes + 12
    lines = [f"storage, {counted(storage['slots'], 'slot')}"]
    if storage["cells"]:
        lines[0] = lines[0].ljust(left) + _row(storage["cells"], storage)
    lines += [_tensor(node, storage, width, shapes) for node in tensors]
    return lines + [_chip(node) for node in members if node["kind"] == "chip"]


def _row(words, storage):
    width = max(len(word) for word in storage["cells"])
    return " ".join(word.rjust(width) for word in words)


def _tensor(node, storage, width, shapes):
    head = f"  {padded(node['label'], width)}  {node['what']:<{shapes}}  {_version(node):<4}"
    if not storage["cells"]:
        return f"{head}  slots {node['first']} to {node['last']}  {node['role']}"
    marks = ["■" if slot in node["used"] else "·" for slot in range(storage["slots"])]
    return f"{head}  {_row(marks, storage)}  {node['role']}"


def _version(node):
    return "none" if node["version"] is None else f"v{node['version']}"


def _chip(node):
    if node["state"] == "fresh":
        return f"    {node['label']} at v{node['at']}"
    return f"  ✗ {node['label']} at v{node['at']}, but the storage is at v{node['now']} now: stale"
