"""Every chapter runs, and running it again leaves no diff to what is stored."""

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("jupytext")

from notebooks import build  # noqa: E402
from notebooks.rules import problems  # noqa: E402

SOURCES = build.all_sources()
each_chapter = pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])


@pytest.mark.chapter
@each_chapter
def test_running_a_chapter_again_leaves_no_diff(source):
    assert build.changes(source) == ""


@each_chapter
def test_a_stored_chapter_keeps_the_rules(source):
    assert problems(nbformat.read(build.stored_path(source), as_version=4)) == []


def test_every_stored_chapter_has_a_source():
    stored = {path.stem for path in build.FOLDER.glob("*.ipynb")}
    assert stored == {source.stem for source in SOURCES}
