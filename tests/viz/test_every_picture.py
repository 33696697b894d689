"""What holds for the pictures of gradients, saved tensors and changes alike."""

import importlib
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import viz
from viz import dot, trace

LAYOUT = pytest.mark.skipif(
    not shutil.which("graphviz-pure") and not dot._installed("graphviz-pure"), reason="needs graphviz-pure"
)
KINDS = ("play", "why", "grads", "versions", "holders", "diff", "modules", "gather", "scatter", "index", "sparse", "broadcast",
         "loader", "optimizer",
         "module", "memory", "dispatch", "kernels", "profile", "fx")


def picture_of(kind, lib):
    x, w = (lib.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    h = x.exp()
    h.retain_grad()
    loss = (h * w).sum()
    if kind == "versions":
        with viz.versions.watch(h) as seen:
            h.add_(1)
        return seen.picture
    if kind == "modules":
        layer = lib.nn.Linear(2, 1)
        return viz.graph(layer(h), modules=layer)
    makers = {
        "play": lambda: viz.play(loss),
        "why": lambda: viz.why(h, loss),
        "grads": lambda: viz.grads(loss),
        "holders": lambda: viz.holders(h),
        "diff": lambda: viz.diff(loss, (h.detach() * w).sum()),
        "gather": lambda: viz.gather(x, 0, lib.tensor([1, 1, 0])),
        "scatter": lambda: viz.scatter(x, 0, lib.tensor([1, 1]), w, "sum"),
        "sparse": lambda: viz.sparse(lib.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [1.0, 2.0, 3.0], (2, 3),
                                                           check_invariants=False)),
        "index": lambda: viz.index(x)[[1, 1]],
        "broadcast": lambda: viz.broadcast(x, (3, 1)),
        "loader": lambda: viz.loader(lib.utils.data.DataLoader(lib.arange(8), 2, num_workers=1)),
        "module": lambda: viz.module(shared_layers(lib), lib.ones(1, 2)),
        "memory": lambda: viz.memory(some_memory()),
        "dispatch": lambda: viz.dispatch(lib.nn.functional.linear, x, w),
        "kernels": lambda: viz.dispatch.table("add", "linear", "transpose"),
        "profile": lambda: viz.profile(some_profile(lib, x)),
        "optimizer": lambda: viz.optimizer(lib.optim.Adam([x, w])),
        "fx": lambda: viz.fx(importlib.import_module(f"{lib.__name__}.fx").symbolic_trace(lambda a: a.exp() + 1)),
    }
    return makers[kind]()


def some_profile(lib, x):
    with lib.profiler.profile(activities=[lib.profiler.ProfilerActivity.CPU]) as prof:
        (x * 2).sum().backward()
    return prof


def some_memory():
    """An allocator's snapshot; its shape is that of both libraries."""
    from teachtorch.memory.caching import CachingAllocator
    from tests.memory.bookkeeping import BookkeepingRuntime

    allocator = CachingAllocator(BookkeepingRuntime())
    allocator.record_history()
    allocator.free(allocator.malloc(3000))
    allocator.malloc(5 * 2**20)
    return allocator.snapshot()


def shared_layers(lib):
    layer = lib.nn.Linear(2, 2)
    return lib.nn.Sequential(layer, lib.nn.BatchNorm1d(2), *[lib.nn.Linear(2, 2) for _ in range(5)], layer)


@pytest.fixture(params=KINDS)
def picture(request, lib):
    return picture_of(request.param, lib)


@LAYOUT
def test_every_format_is_written_and_read_back(picture, tmp_path):
    for ending in (".svg", ".html", ".txt", ".dot", ".json"):
        path = picture.save(tmp_path / f"x{ending}")
        assert path.stat().st_size > 100
        if ending in (".html", ".json"):
            assert viz.load(path).trace == picture.trace
            assert viz.load(path).text == picture.text


@LAYOUT
def test_html_is_small_and_asks_the_network_for_nothing(picture, tmp_path):
    content = picture.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert len(content) < 150_000
    assert set(re.findall(r"https?://[^\"'\s<>)]+", content)) == {"http://www.w3.org/2000/svg"}


@LAYOUT
def test_every_step_speaks_of_something_drawn(picture):
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    again = picture.trace.options.get("again", {})
    for step in [*picture.trace.steps, *again.get("freed", ()), *again.get("kept", ())]:
        flown = {edge for edge, _ in step.get("fly", ())}
        for ids in (step["ids"], step["set"], step.get("land", ()), step.get("frees", ()), flown):
            assert set(ids) <= drawn


@LAYOUT
def test_every_node_and_edge_is_drawn(picture):
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    parts = [*picture.trace.nodes, *picture.trace.edges, *picture.trace.groups]
    assert {part["id"] for part in parts} <= drawn


@LAYOUT
def test_the_same_picture_is_the_same_page(picture):
    copy = viz.Picture(viz.Trace.from_json(picture.trace.to_json()))
    assert (copy.svg, copy.text, copy.key) == (picture.svg, picture.text, picture.key)


def test_lines_of_text_fit_a_terminal(picture):
    assert max(map(len, picture.text.splitlines())) <= 110


@LAYOUT
def test_the_largest_run_still_fits(lib, tmp_path):
    made = [lib.ones(9, requires_grad=True) for _ in range(6)]
    for k in range(12):
        made.append((made[k] * made[-1]).tanh())
    picture = viz.play(made[-1].sum())
    assert picture.save(tmp_path / "x.html").stat().st_size < 150_000


@pytest.mark.parametrize("kind", ["why", "grads", "versions", "holders", "loader", "optimizer"])
def test_tables_and_chains_need_no_layout_program(kind, lib, monkeypatch):
    monkeypatch.setenv("TEACHTORCH_DOT", "no-such-program")
    assert "text/html" in picture_of(kind, lib)._repr_mimebundle_()


FOLDER = Path(viz.__file__).parent
DRAWERS = ("text", "svg", "dot")


@pytest.mark.parametrize("kind", trace.KINDS)
def test_every_kind_has_a_file_for_its_text_its_svg_and_its_dot(kind):
    assert [d for d in DRAWERS if not (FOLDER / f"{kind}_{d}.py").exists()] == []


def test_every_public_picture_is_made_in_a_trace_file_and_stands_in_the_readme():
    pictures = [name for name in viz.__all__ if name[0].islower() and name != "load"]
    assert [name for name in pictures if not viz._HOME[name].endswith("_trace")] == []
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in pictures if f"`viz.{name}(" not in readme and f"`viz.{name}(x)[" not in readme] == []


def test_the_files_that_the_package_describes_are_there():
    named = set(re.findall(r"``(\w+\.(?:py|js))``|\b(\w+\.py)\b", viz.__doc__))
    named = {name for pair in named for name in pair if name and not name.startswith(("x_", "test_"))}
    assert [name for name in sorted(named) if not (FOLDER / name).exists()] == []
