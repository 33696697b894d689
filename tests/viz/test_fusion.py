"""viz.fusion: what was fused, in which kernels, and the bytes that saves."""

import re
from xml.etree import ElementTree

import pytest

import teachtorch as torch
import viz

TEXT = """\
chain: what was fused
4 operators became 1 kernel. One by one they would move 35.16 KiB, the kernels move 7.812 KiB.

forward: 35.16 KiB before, 7.812 KiB after
  ■ group_1
      mul → add → tanh → sub
      ← arg_0 [1000] 3.906 KiB
      → sub [1000] 3.906 KiB
      before ████████████████████████████████████████ 35.16 KiB
      after  █████████ 7.812 KiB

Steps"""


def chain(x):
    return (x * 2 + 1).tanh() - x


@pytest.fixture(scope="module")
def compiled():
    f = torch.compile(chain)
    f(torch.zeros(1000))
    return f


@pytest.fixture(scope="module")
def model_picture():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    return viz.fusion(torch.compiler.explain(model)(torch.ones(3, 4)))


def test_a_chain_in_words(compiled):
    assert viz.fusion(compiled).text.startswith(TEXT)


def test_bytes_are_those_of_the_tensors(compiled):
    node, = viz.fusion(compiled).trace.nodes
    assert (node["before"], node["after"]) == (9 * 4000, 2 * 4000)
    assert [t["shape"] for t in node["reads"] + node["writes"]] == [[1000], [1000]]


def test_calls_stand_between_the_kernels(model_picture):
    forward = [(n["kind"], n["operators"]) for n in model_picture.trace.nodes if n["graph"] == "forward"]
    assert forward == [("call", ["aten.addmm"]), ("kernel", ["relu"]), ("call", ["aten.addmm"])]
    assert {g["name"] for g in model_picture.trace.groups} == {"forward", "backward"}


def test_all_is_drawn_and_read_back(model_picture, tmp_path):
    drawn = {part.get("data-id") for part in ElementTree.fromstring(model_picture.svg).iter()}
    assert {part["id"] for part in [*model_picture.trace.nodes, *model_picture.trace.groups]} <= drawn
    for ending in (".svg", ".html", ".txt", ".dot", ".json"):
        path = model_picture.save(tmp_path / f"x{ending}")
        if ending in (".html", ".json"):
            assert viz.load(path).trace == model_picture.trace
    assert max(map(len, model_picture.text.splitlines())) <= 110


def test_dot_connects_what_flows(model_picture):
    edges = re.findall(r'"forward (\w+)" -> "forward (\w+)"', model_picture.source)
    assert ("addmm", "group_1") in edges and ("group_1", "addmm_1") in edges


def test_many_kernels_collapse():
    def function(x, w):
        for _ in range(20):
            x = torch.mm(x, w)
        return x
    picture = viz.fusion(torch.compiler.explain(function)(torch.ones(2, 2), torch.ones(2, 2)))
    assert "showing 14 of 20" in picture.text and len(picture.trace.nodes) == 14


def test_without_a_graph_it_says_why():
    def function(x):
        return x if x.sum() > 0 else -x
    picture = viz.fusion(torch.compiler.explain(function)(torch.ones(2)))
    assert "asks a tensor for its value" in picture.text and "<svg" in picture.svg


def test_what_was_never_called_is_refused():
    with pytest.raises(ValueError, match="nothing is captured yet"):
        viz.fusion(torch.compile(chain))
    with pytest.raises(ValueError, match="what torch.compile returned"):
        viz.fusion(chain)
