"""Pictures as files and as notebook output."""

import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import viz
from viz import dot
from viz.trace import Trace

LAYOUT = pytest.mark.skipif(
    not shutil.which("graphviz-pure") and not dot._installed("graphviz-pure"), reason="needs graphviz-pure"
)


@pytest.fixture
def graph(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.retain_grad()
    return viz.graph((y * x).sum())


@pytest.fixture
def grid(lib):
    return viz.strides(lib.arange(12).reshape(3, 4).t(), view=(2, 6))


@LAYOUT
def test_html_and_json_give_the_trace_back(graph, grid, tmp_path):
    for name, picture in {"graph": graph, "grid": grid}.items():
        for ending in (".html", ".json"):
            path = picture.save(tmp_path / (name + ending))
            assert viz.load(path).trace == picture.trace


@LAYOUT
def test_html_is_one_small_file_that_asks_the_network_for_nothing(graph, grid, tmp_path):
    for picture in (graph, grid):
        content = picture.save(tmp_path / "x.html").read_text(encoding="utf-8")
        assert len(content) < 150_000
        addresses = set(re.findall(r"https?://[^\"'\s<>)]+", content))
        assert addresses == {"http://www.w3.org/2000/svg"}


@LAYOUT
def test_svg_is_well_formed_and_has_every_node(graph, grid):
    for picture in (graph, grid):
        root = ElementTree.fromstring(picture.svg)
        drawn = {part.get("data-id") for part in root.iter()}
        assert {node["id"] for node in picture.trace.nodes} <= drawn
        assert {edge["id"] for edge in picture.trace.edges} <= drawn


@LAYOUT
def test_every_step_speaks_of_something_drawn(graph, grid):
    for picture in (graph, grid):
        drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
        for step in picture.trace.steps:
            assert set(step["ids"]) <= drawn
            assert set(step["set"]) <= drawn


@LAYOUT
def test_the_notebook_bundle_shows_an_image_without_scripts_and_a_player_with(graph):
    bundle = graph._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert '<img alt="backward graph' in bundle["text/html"]
    assert bundle == graph._repr_mimebundle_()
    assert bundle["text/plain"] == graph.text


@LAYOUT
def test_a_name_cannot_break_out_of_the_page(lib, tmp_path):
    x = lib.tensor([1.0], requires_grad=True)
    nasty = '</script><b onclick="x">&'
    picture = viz.graph(x.exp(), names={nasty: x})
    content = picture.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "</script><b" not in content
    assert viz.load(tmp_path / "x.html").trace == picture.trace
    ElementTree.fromstring(picture.svg)


def test_dot_has_numbered_ports_on_its_edges(graph):
    assert re.search(r"n\d:o0:s -> n\d:i0:n", graph.source)
    assert "MulBackward0" in graph.source


def test_dot_of_strides_links_every_element_to_its_slot(grid):
    assert grid.source.count("->") == 12


def test_the_same_trace_makes_the_same_picture(graph):
    copy = viz.Picture(Trace.from_json(graph.trace.to_json()))
    assert (copy.text, copy.source, copy.key) == (graph.text, graph.source, graph.key)


def test_a_picture_does_not_change_with_its_tensor(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    loss = x.exp().sum()
    before = viz.graph(loss)
    words = before.text
    loss.backward()
    assert before.text == words
    assert viz.graph(loss).text != words


def test_without_a_layout_program_the_text_is_shown_and_says_why(graph, monkeypatch):
    monkeypatch.setenv("TEACHTORCH_DOT", "no-such-program")
    bundle = graph._repr_mimebundle_()
    assert set(bundle) == {"text/plain"}
    assert bundle["text/plain"].startswith(graph.text)
    assert "no-such-program" in bundle["text/plain"]
    with pytest.raises(dot.LayoutError):
        graph.svg  # noqa: B018


def test_strides_need_no_layout_program(grid, monkeypatch):
    monkeypatch.setenv("TEACHTORCH_DOT", "no-such-program")
    assert "text/html" in grid._repr_mimebundle_()


def test_an_unknown_ending_names_those_that_work(grid, tmp_path):
    with pytest.raises(ValueError, match=r"\.svg, \.html, \.txt, \.dot, \.json"):
        grid.save(tmp_path / "x.png")


def test_a_file_without_a_picture_is_refused(tmp_path):
    (tmp_path / "x.html").write_text("<p>hello</p>")
    with pytest.raises(ValueError, match="holds no picture"):
        viz.load(tmp_path / "x.html")
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(ValueError, match="not a viz trace"):
        viz.load(tmp_path / "x.json")


def test_text_and_dot_files_hold_what_the_picture_shows(grid, tmp_path):
    assert grid.save(tmp_path / "x.txt").read_text(encoding="utf-8") == grid.text + "\n"
    assert grid.save(tmp_path / "x.dot").read_text(encoding="utf-8") == grid.source


def test_show_opens_a_page_that_gives_the_trace_back(grid, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = grid.show()
    assert opened == [path.as_uri()]
    assert viz.load(path).trace == grid.trace


def test_a_plain_shell_is_told_once_how_to_see_the_drawing(grid, monkeypatch):
    assert repr(grid) == grid.text
    monkeypatch.setattr(viz.Picture, "_hinted", False)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(sys, "displayhook", sys.__displayhook__)
    assert str(grid) == grid.text
    assert '.save("x.html")' in repr(grid)
    assert repr(grid) == grid.text


def test_help_names_every_picture():
    functions = set(viz.__all__) - {"Picture", "Trace"}
    assert functions == {name for name in functions if f"viz.{name}(" in viz.__doc__}


def test_importing_viz_imports_no_engine_and_no_renderer():
    code = "import sys, viz; print({'torch', 'teachtorch', 'graphviz', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_unknown_name_lists_what_viz_has():
    with pytest.raises(AttributeError, match="it has Picture, Trace, .*graph, .*strides"):
        viz.histogram  # noqa: B018
