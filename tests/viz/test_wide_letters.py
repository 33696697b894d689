"""Letters that are as wide as two others, and words that are wider than their box used to be."""

from xml.etree import ElementTree

import pytest

import viz
from viz.theme import mono_width
from viz.wrap import columns, cut, padded


@pytest.fixture
def torch():
    return pytest.importorskip("teachtorch")


@pytest.mark.parametrize("text, wide", [("", 0), ("abc", 3), ("权重", 4), ("w权", 3), ("é", 1), ("e\u0301", 1), ("🔥", 2)])
def test_columns_of_a_terminal(text, wide):
    assert columns(text) == wide
    assert columns(padded(text, 9)) == 9


@pytest.mark.parametrize("text, width, expected", [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("权重", 4, "权重"), ("权重w", 4, "权…"), ("权重w", 3, "权…"), ("权", 1, "…"),
])
def test_what_does_not_fit_is_cut(text, width, expected):
    assert cut(text, width) == expected
    assert columns(expected) <= width


def test_a_wide_letter_fills_a_square():
    assert mono_width("权重", 10) == 20
    assert mono_width("a权", 10) == pytest.approx(mono_width("a", 10) + 10)


def texts(picture):
    """{content: x} of the text elements."""
    found = ElementTree.fromstring(picture.svg).findall(".//{http://www.w3.org/2000/svg}text")
    return {element.text: float(element.get("x")) for element in found}


def test_a_class_stands_behind_the_name_of_its_module(torch):
    net = torch.nn.Module()
    net.编码器 = torch.nn.Linear(3, 2)
    at = texts(viz.module(net))
    assert at["Linear"] - at["编码器"] > 3 * 13


@pytest.mark.parametrize("a, b", [((1, 3), (2, 3)), ((1_000_000, 1, 3), (12_345_678, 3)), ((1,), (99_999_999_999,))])
def test_sizes_fit_their_boxes(a, b):
    cards = ElementTree.fromstring(viz.broadcast(a, b).svg).findall(".//*[@data-card]")
    assert cards
    for card in cards:
        box, words = card.find("{*}rect"), card.find("{*}text")
        assert mono_width(words.text or "", 13) <= float(box.get("width"))


def test_a_table_in_a_terminal_is_aligned(torch):
    权重 = torch.ones(2, 3, requires_grad=True)
    w = (权重 * 2).sum()
    rows = [line for line in viz.grads(w).text.splitlines() if "float32" in line]
    assert len(rows) == 3
    assert len({columns(row.partition("float32")[0]) for row in rows}) == 1
