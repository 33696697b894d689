"""What of a cell's outputs is stored with a chapter: what reads the same after every run, on every page."""

import re

import nbformat

# A viewer shows the first of these that it can; what else a kernel sends (scripts, widgets) is not stored.
KEPT_TYPES = ("text/html", "image/png", "text/latex", "text/markdown", "text/plain")
SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# The tag of cells that show times or sizes of this machine: their stored outputs stay until a cell changes that
# they could depend on.
VARIES = "varies"


def reduce_outputs(cell):
    """Replace the outputs of a code cell by what is stored of them."""
    kept = [reduce_output(output) for output in cell.outputs]
    cell.outputs = [nbformat.from_dict(output) for output in kept if output is not None]


def reduce_output(output):
    """Return what is stored of one output, or None if nothing is."""
    kind = output["output_type"]
    if kind == "stream":
        return {"output_type": kind, "name": output["name"], "text": without_colour(output["text"])}
    if kind == "error":
        return reduce_error(output)
    data = reduce_bundle(output["data"])
    if not data:
        return None
    kept = {"output_type": kind, "data": data, "metadata": {}}
    return kept | {"execution_count": output["execution_count"]} if kind == "execute_result" else kept


def reduce_error(output):
    """The error's last line: frames name files of this machine."""
    name, message = output["ename"], without_colour(output["evalue"])
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [f"{name}: {message}"]}


def reduce_bundle(data):
    """Keep the known types; HTML without its scripts still holds the picture as an image."""
    kept = {kind: data[kind] for kind in KEPT_TYPES if kind in data}
    if "text/html" in kept:
        kept["text/html"] = SCRIPT.sub("", kept["text/html"]).strip()
    if "text/plain" in kept:
        kept["text/plain"] = without_colour(kept["text/plain"])
    return {kind: value for kind, value in kept.items() if value}


def without_colour(text):
    return TERMINAL_COLOUR.sub("", text)


def keep_varying_outputs(new, stored, is_stale=lambda cell: False):
    """Give cells tagged `varies` the outputs that `stored` has for them.

    Not if the cell or a code cell before it has changed, which may have set what this one shows, nor if the outputs
    are of other kinds than the new ones, nor if `is_stale(cell)` says of the cell with its stored outputs that they
    no longer hold.
    """
    cells, before = (_code_cells(notebook) for notebook in (new, stored))
    for cell, old in zip(cells, before, strict=False):
        if cell.id != old.id:
            return
        if VARIES in cell.metadata.get("tags", []) and kinds(old) == kinds(cell) and not is_stale(old):
            cell.outputs = old.outputs


def _code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell):
    return [(output["output_type"], sorted(output.get("data", {}))) for output in cell.outputs]
