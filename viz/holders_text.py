"""Who holds a storage, as text."""

from viz.tensors import human_bytes
from viz.wrap import columns, padded


def body(trace):
    """Lines of the picture: the tensors over the storage, who holds each, what deleting would free."""
    lines = [f"storage, {trace.groups[0]['size']}"]
    for node in trace.nodes:
        if node["kind"] == "tensor":
            lines.append(f"  {node['label']}  {node['what']}  {node['role']}")
            lines += [f"    ← {one}" for one in _held(trace, node["id"])]
    lines += [f"  ← {one}" for one in _held(trace, "m")]
    return lines + _table(trace.options["rows"])


def _held(trace, ident):
    return [node["label"] for node in trace.nodes if node["kind"] == "holder" and node["of"] == ident]


def _table(rows):
    if not rows:
        return []
    width = max(columns(row["label"]) for row in rows)
    sizes = [human_bytes(row["bytes"]) for row in rows]
    size = max(map(len, sizes))
    return ["", "what would be freed"] + [
        f"  {padded(row['label'], width)}  {text:>{size}}  {verdict(row)}"
        for row, text in zip(rows, sizes, strict=True)
    ]


def verdict(row):
    """What becomes of this storage."""
    if row["this"]:
        return "this storage too"
    return f"not this storage: {row['left']} {'keep' if row['several'] else 'keeps'} it"
