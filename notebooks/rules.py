"""What every built chapter must hold, checked on its stored form."""

import base64
import re
import statistics
from pathlib import Path

from exercises import catalog

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MEDIAN = 5  # lines of code of a chapter's median cell

HOMES = r"(?:/home/|/root/|/Users/|/tmp/|/opt/|site-packages|\b[A-Z]:\\)\S*"
MACHINE_PATH = re.compile(HOMES + "|" + re.escape(str(ROOT)))
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
EXERCISE_SET = re.compile(r"\bch\d\d_\w+")
EXERCISE_IN_SET = (
    re.compile(r"`(?P<name>\w+)`\*\*\s*\(`exercises/(?P<set>ch\w+)`\)"),
    re.compile(r"exercises/(?P<set>ch\d\d_\w+)/(?P<name>\w+)\.py"),
)
EXERCISE = (
    re.compile(r"\b[Ee]xercises? `(\w+)`"),
    re.compile(r"teachtorch exercises (?:check|hint|reset|solution|watch) (\w+)"),
)
WORTH = re.compile(r"\b\d+/(\d+) +(\w+)")  # "not started    0/7  numeric_check"
GRADED_SET = re.compile(r"each\.set == \"(ch\d\d_\w+)\"")
ANNOUNCEMENT = re.compile(r"\*\*Exercises? [^.:]*")  # **Exercises `a` and `b`** (`exercises/ch01_paper`). Words.
DATA_URI = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")


def problems(notebook):
    """Return a list of sentences, one for each rule that the built notebook breaks."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = length_problems(cells)
    for number, cell in enumerate(cells, start=1):
        found += [f"code cell {number} {problem}" for problem in output_problems(cell)]
    return found + exercise_problems("\n".join(cell.source for cell in notebook.cells))


def exercise_problems(text):
    """A learner who follows a chapter's word to an exercise must find it; grading cells name a set, too."""
    there = {(each.set, each.name) for each in catalog.exercises()}
    sets, names = ({pair[k] for pair in there} for k in (0, 1))
    found = [f"there is no set of exercises {each}" for each in set(EXERCISE_SET.findall(text)) - sets]
    for pattern in EXERCISE_IN_SET:
        pairs = {(match["set"], match["name"]) for match in pattern.finditer(text)}
        found += [f"there is no exercise {name} in {folder}" for folder, name in pairs - there]
    for pattern in EXERCISE:
        found += [f"there is no exercise {name}" for name in set(pattern.findall(text)) - names]
    return sorted(found)


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
    yield from listing_problems(cell)


def listing_problems(cell):
    """A cell that grades a set shows all of its exercises with their points, as they are by now."""
    shown = "\n".join(text for output in cell.outputs for text in texts(output))
    worth = {name: int(points) for points, name in WORTH.findall(shown)}
    for graded in GRADED_SET.findall(cell.source):
        for each in catalog.exercises():
            if each.set == graded and each.name not in shown.split():
                yield f"does not show exercise {each.name} of {graded}"
            elif each.set == graded and worth.get(each.name, each.points) != each.points:
                yield f"shows {worth[each.name]} points for {each.name}, which is worth {each.points}"


def announced(notebook):
    """The names of the exercises that the chapter's text sends its reader to."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return {name for words in ANNOUNCEMENT.findall(text) for name in re.findall(r"`(\w+)`", words)}


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
