"""What every built chapter must hold, checked on its stored form."""

import base64
import re
import statistics
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MEDIAN = 5  # lines of code of a chapter's median cell

HOMES = r"(?:/home/|/root/|/Users/|/tmp/|/opt/|site-packages|\b[A-Z]:\\)\S*"
MACHINE_PATH = re.compile(HOMES + "|" + re.escape(str(ROOT)))
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
DATA_URI = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")


def problems(notebook):
    """Return a list of sentences, one for each rule that the built notebook breaks."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = length_problems(cells)
    for number, cell in enumerate(cells, start=1):
        found += [f"code cell {number} {problem}" for problem in output_problems(cell)]
    return found


def length_problems(cells):
    if not cells:
        return ["the chapter has no code cells"]
    median = statistics.median(code_lines(cell) for cell in cells)
    if median <= LONGEST_MEDIAN:
        return []
    return [f"the median code cell has {median} lines; at most {LONGEST_MEDIAN} are easy to take in"]


def code_lines(cell):
    return sum(1 for line in cell.source.splitlines() if line.strip())


def output_problems(cell):
    expected_error = "raises-exception" in cell.metadata.get("tags", [])
    for output in cell.outputs:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            yield f"writes to stderr: {output['text'].strip()[:200]}"
        if output["output_type"] == "error" and not expected_error:
            yield f"fails: {output['ename']}: {output['evalue'][:200]}"
        for text in texts(output):
            yield from text_problems(text)


def text_problems(text):
    for match in MACHINE_PATH.finditer(text):
        yield f"shows a path of this machine: {match.group()[:80]}"
    for match in ADDRESS.finditer(text):
        yield f"shows an address, which changes from run to run: {match.group()}"


def texts(output):
    """All text that a reader of this output sees, that inside its SVG images included."""
    yield output.get("text", "")
    yield output.get("evalue", "")
    for kind, value in output.get("data", {}).items():
        if kind != "image/png":
            yield DATA_URI.sub("", value)
            yield from (base64.b64decode(found).decode() for found in DATA_URI.findall(value))
