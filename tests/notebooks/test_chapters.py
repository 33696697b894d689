"""Every chapter runs, and running it again leaves no diff to what is stored."""

import subprocess
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("jupytext")

from exercises import catalog  # noqa: E402
from notebooks import build  # noqa: E402
from notebooks.rules import announced, problems  # noqa: E402

THREE_LINES = {
    "import teachtorch as torch": "import torch",
    "from teachtorch import nn": "from torch import nn",
    "from teachtorch.utils.data import": "from torch.utils.data import",
}
SOURCES = build.all_sources()
each_chapter = pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])


@pytest.mark.chapter
@each_chapter
def test_running_a_chapter_again_leaves_no_diff(source):
    assert build.changes(source) == ""


@each_chapter
def test_a_stored_chapter_keeps_the_rules(source):
    assert problems(nbformat.read(build.stored_path(source), as_version=4)) == []


def test_every_exercise_is_announced_where_a_chapter_explains_it():
    named = set().union(*(announced(build.read_source(source)) for source in SOURCES))
    assert sorted(each.name for each in catalog.exercises() if each.name not in named) == []


@pytest.mark.chapter
def test_the_tour_runs_on_pytorch_with_three_lines_changed():
    pytest.importorskip("torch")
    cells = build.read_source(build.SOURCES / "00_tour.md").cells
    seventh = next(k for k, cell in enumerate(cells) if "## 7. " in cell.source)
    lines = "\n".join(cell.source for cell in cells[:seventh] if cell.cell_type == "code")
    for ours, theirs in THREE_LINES.items():
        assert lines.count(ours) == 1
        lines = lines.replace(ours, theirs)
    done = subprocess.run(
        [sys.executable, "-c", lines],
        env=build.kernel_environment(""),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_stored_chapter_has_a_source():
    stored = {path.stem for path in build.FOLDER.glob("*.ipynb")}
    assert stored == {source.stem for source in SOURCES}
