"""Building a chapter: the same file after every run, and nothing in it that only this machine has."""

import base64
import json

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("jupytext")

from exercises import catalog  # noqa: E402
from notebooks import build  # noqa: E402
from notebooks.rules import announced, problems  # noqa: E402
from notebooks.stored_outputs import keep_varying_outputs, reduce_bundle, reduce_output  # noqa: E402

SVG = base64.b64encode(b"<svg><title>a graph</title></svg>").decode()
PICTURE = f"<div><img src='data:image/svg+xml;base64,{SVG}'></div>"

CHAPTER = f"""\
---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# A question

```{{code-cell}} ipython3
print("first", end=" ")
print("second")
{{word: hash(word) for word in ("a", "b")}}
```

Twice the same cell:

```{{code-cell}} ipython3
class Picture:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {{"text/html": "{PICTURE}<script>play()</script>", "text/plain": "a graph", "x/widget": "1"}}
Picture()
```

```{{code-cell}} ipython3
:tags: [raises-exception]
1 / 0
```

```{{code-cell}} ipython3
:tags: [varies]
import time
time.perf_counter_ns()
```
"""


@pytest.fixture
def source(tmp_path):
    """A chapter in a notebooks folder of its own."""
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "01_example.md"
    path.write_text(CHAPTER, encoding="utf-8")
    return path


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_a_built_chapter_stores_what_a_reader_needs_and_reruns_without_a_diff(source):
    assert build.build(source) == 0
    notebook = nbformat.read(build.stored_path(source), as_version=4)
    nbformat.validate(notebook)
    first, picture, error, _ = code_cells(notebook)
    assert first.outputs[0].text == "first second\n"
    assert picture.outputs[0].data == {"text/html": PICTURE, "text/plain": "a graph"}
    assert error.outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert build.changes(source) == ""


def test_a_failing_cell_stores_nothing(source, capsys):
    source.write_text("```{code-cell}\nprint(undefined)\n```\n", encoding="utf-8")
    assert build.build(source) == 1
    assert "code cell 1 fails: NameError" in capsys.readouterr().err
    assert not build.stored_path(source).exists()


def test_a_changed_result_shows_up_as_a_diff(source):
    source.write_text("```{code-cell}\nprint(1 + 1)\n```\n", encoding="utf-8")
    assert build.build(source) == 0
    stored = build.stored_path(source)
    stored.write_text(stored.read_text().replace('"2\\n"', '"3\\n"'))
    assert '+      "2\\n"' in build.changes(source)


def test_a_chapter_that_was_never_built_differs(source):
    assert "has not been built" in build.changes(source)


def test_cell_ids_stay_when_a_cell_is_inserted(source):
    before = {cell.id for cell in build.read_source(source).cells}
    source.write_text(CHAPTER.replace("Twice", "```{code-cell}\n2\n```\n\nTwice"), encoding="utf-8")
    after = {cell.id for cell in build.read_source(source).cells}
    assert before < after and len(after) == len(before) + 1


def test_equal_cells_have_ids_of_their_own(source):
    source.write_text("```{code-cell}\nx\n```\n" * 3, encoding="utf-8")
    ids = [cell.id for cell in build.read_source(source).cells]
    assert len(set(ids)) == 3


def test_outputs_that_only_a_live_page_can_show_are_dropped():
    script = "<SCRIPT type='module'>a\nb</SCRIPT >"
    assert reduce_bundle({"application/vnd.widget": "x", "text/html": script}) == {}
    assert reduce_output({"output_type": "display_data", "data": {"application/javascript": "x"}}) is None


def test_terminal_colours_are_dropped():
    stream = {"output_type": "stream", "name": "stdout", "text": "\x1b[1;31mred\x1b[0m"}
    assert reduce_output(stream)["text"] == "red"


def notebook_of(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


def cell_of(source="x", text=None, tags=(), **fields):
    outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text is not None else []
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)}, **fields)


def varying(text, cell_id):
    return cell_of(text=text, tags=["varies"], id=cell_id)


def texts_kept(new, stored, **options):
    keep_varying_outputs(new, stored, **options)
    return [cell.outputs[0].text for cell in new.cells if cell.cell_type == "code"]


def test_a_varying_output_stays_as_stored_until_its_kind_changes():
    stored = notebook_of(cell_of(text="12 ms", id="a"), cell_of(text="1", id="b"), cell_of(id="c"))
    new = notebook_of(varying("13 ms", "a"), cell_of(text="2", id="b"), varying("3", "c"))
    assert texts_kept(new, stored) == ["12 ms", "2", "3"]


def test_a_varying_output_goes_when_a_code_cell_before_it_changes():
    words = nbformat.v4.new_markdown_cell("other words")
    stored = notebook_of(varying("12 ms", "a"), cell_of(text="1", id="b"), varying("5 ms", "c"))
    new = notebook_of(words, varying("13 ms", "a"), cell_of(text="1", id="changed"), varying("6 ms", "c"))
    assert texts_kept(new, stored) == ["12 ms", "1", "6 ms"]


def test_a_varying_output_that_breaks_a_rule_is_not_kept():
    stored, new = (notebook_of(varying(text, "a"), varying(text, "b")) for text in ("old", "new"))
    assert texts_kept(new, stored, is_stale=lambda cell: cell.id == "a") == ["new", "old"]


def test_a_grading_cell_shows_every_exercise_of_its_set_and_what_it_is_worth():
    source = 'chosen = [each for each in catalog.exercises() if each.set == "ch13_freezing"]'
    worth = {each.name: each.points for each in catalog.exercises() if each.set == "ch13_freezing"}
    lines = {name: f"not started    0/{points}  {name}  Its title" for name, points in worth.items()}
    assert set(lines) == {"who_moves", "freeze"}
    assert problems(notebook_of(cell_of(source, "\n".join(lines.values())))) == []
    found = problems(notebook_of(cell_of(source, lines["who_moves"])))
    assert found == ["code cell 1 does not show exercise freeze of ch13_freezing"]
    stale = f"{lines['who_moves']}\nnot started    0/3  freeze  Its title"
    found = problems(notebook_of(cell_of(source, stale)))
    assert found == [f"code cell 1 shows 3 points for freeze, which is worth {worth['freeze']}"]


def test_an_announcement_names_one_exercise_or_several():
    text = """> **Exercises `a` and `b`** (`exercises/ch05_graph`) **and `c`**. Not `d`.

> **Exercise `e`.** Neither `f`."""
    assert announced(notebook_of(nbformat.v4.new_markdown_cell(text))) == {"a", "b", "c", "e"}


@pytest.mark.parametrize(
    "text, problem",
    [
        ("saved to /home/ann/graph.html", "path of this machine: /home/ann/graph.html"),
        ("saved to C:\\Users\\ann", "path of this machine"),
        (str(build.FOLDER), "path of this machine"),
        ("<Node object at 0x7f1139ccf190>", "an address"),
    ],
)
def test_what_only_this_machine_has_is_a_problem(text, problem):
    assert problem in problems(notebook_of(cell_of(text=text)))[0]


def test_text_inside_pictures_is_read_too():
    hidden = base64.b64encode(b"<svg><title>/root/x</title></svg>").decode()
    html = f"<img src='data:image/svg+xml;base64,{hidden}'>"
    output = nbformat.v4.new_output("display_data", {"text/html": html})
    cell = nbformat.v4.new_code_cell("x", outputs=[output])
    assert "/root/x" in problems(notebook_of(cell))[0]


def test_warnings_and_unexpected_errors_are_problems():
    stderr = nbformat.v4.new_output("stream", name="stderr", text="UserWarning: slow")
    error = nbformat.v4.new_output("error", ename="KeyError", evalue="'x'", traceback=[])
    found = problems(notebook_of(nbformat.v4.new_code_cell("x", outputs=[stderr, error])))
    assert ["UserWarning: slow" in found[0], "KeyError" in found[1]] == [True, True]


def test_cells_that_are_too_long_are_a_problem():
    def chapter_of(*sources):
        return notebook_of(*map(cell_of, sources))

    long, short = "x\n" * 6, "x\n\n\n\n\n\n"
    assert problems(chapter_of(long, short, short)) == []
    assert "median code cell has 6" in problems(chapter_of(long, long, short))[0]


@pytest.mark.parametrize(
    "text, problem",
    [
        ("grade `ch05_engine`", "there is no set of exercises ch05_engine"),
        ('if each.set == "ch99_nothing"', "there is no set of exercises ch99_nothing"),
        ("**Exercise `offset`** (`exercises/ch05_graph`)", "there is no exercise offset in ch05_graph"),
        ("edit exercises/ch02_strides/nothing.py", "there is no exercise nothing in ch02_strides"),
        ("    teachtorch exercises hint nothing", "there is no exercise nothing"),
        ("**Exercise `nothing`** is for you", "there is no exercise nothing"),
    ],
)
def test_an_exercise_that_does_not_exist_is_a_problem(text, problem):
    words = nbformat.v4.new_markdown_cell(text)
    assert problems(notebook_of(words, cell_of())) == [problem]


def test_exercises_that_exist_are_none():
    text = "**Exercise `offset`** (`exercises/ch02_strides`): teachtorch exercises watch offset, or list"
    assert problems(notebook_of(nbformat.v4.new_markdown_cell(text), cell_of())) == []


def test_every_set_of_exercises_has_some():
    """A grading cell takes the exercises of one set."""
    from exercises import catalog

    folders = {path.parent.name for path in catalog.PACKAGE.glob("ch*/exercises.toml")}
    assert folders == {each.set for each in catalog.exercises()}


def test_the_kernel_finds_this_checkout_first(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    folders = build.kernel_environment("settings")["PYTHONPATH"].split(build.os.pathsep)
    assert folders == [str(build.FOLDER.parent), "elsewhere"]


def test_the_file_names_no_version_of_python(source):
    notebook = build.read_source(source)
    assert "version" not in json.dumps(notebook.metadata)
