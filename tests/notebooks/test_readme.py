"""What the README says and shows is there."""

import re
from pathlib import Path

import pytest

import viz
from viz import dot

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_link_leads_to_a_file():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_chapter_is_listed():
    chapters = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert chapters == set(re.findall(r"\((notebooks/\w+\.ipynb)\)", README))


def test_every_picture_it_names_is_there():
    assert set(re.findall(r"viz\.(\w+)\(", README)) == set(viz.__all__) - {"Picture", "Trace", "load"}


@pytest.mark.skipif(not dot._installed("graphviz-pure"), reason="needs graphviz-pure")
def test_its_picture_is_what_viz_draws_today(tmp_path):
    from notebooks.readme_graph import PICTURE, picture

    assert picture().save(tmp_path / "x.svg").read_text("utf-8") == PICTURE.read_text("utf-8")
