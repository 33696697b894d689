"""Small pieces of SVG that every drawing uses."""

from html import escape

from viz.theme import sans_width, stylesheet
from viz.wrap import wrapped

MARGIN = 16
_NOTE_LINE = 17
_NOTE_SIZE = 12


def number(value):
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def tag(name, content=None, **attributes):
    """An element. Empty attributes are dropped, except the mark ``data-card``; numbers are shortened."""
    parts = []
    for key, value in attributes.items():
        if value is None or (value == "" and key != "data_card"):
            continue
        shown = number(value) if isinstance(value, (int, float)) else escape(str(value), quote=True)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{shown}"')
    opening = f"<{name}{''.join(parts)}"
    return f"{opening}/>" if content is None else f"{opening}>{content}</{name}>"


def rect(x, y, width, height, class_="", radius=0, **rest):
    return tag("rect", x=x, y=y, width=width, height=height, rx=radius or None, class_=class_, **rest)


def text(x, y, content, class_="", **rest):
    return tag("text", escape(str(content)), x=x, y=y, class_=class_, **rest)


def group(content, **attributes):
    return tag("g", content, **attributes)


def header(trace, width):
    """Title and notes; returns (svg, height)."""
    y, parts = MARGIN + 14, [text(MARGIN, MARGIN + 14, trace.title, "title")]
    for note in trace.notes:
        block, y = paragraph(MARGIN, y + _NOTE_LINE + 1, note, width - 2 * MARGIN)
        parts.append(block)
    return "".join(parts), y + 14


def paragraph(x, y, sentence, width, class_="note"):
    """A sentence broken into lines; returns (svg, y of the last line)."""
    lines = wrapped(sentence, max(20, int(width / sans_width("x", _NOTE_SIZE))))
    drawn = [text(x, y + k * _NOTE_LINE, line, class_) for k, line in enumerate(lines)]
    return "".join(drawn), y + (len(lines) - 1) * _NOTE_LINE


def legend(items, y, width):
    """One line per (sample svg, word, explanation); returns (svg, y below it)."""
    parts = []
    for sample, word, explanation in items:
        parts.append(group(sample, transform=f"translate({MARGIN} {number(y)})"))
        parts.append(text(MARGIN + 34, y + 11, word, "note word"))
        block, last = paragraph(MARGIN + 162, y + 11, explanation, width - MARGIN * 2 - 162)
        parts.append(block)
        y = last + 10
    return "".join(parts), y


def document(trace, content, width, height, extra_css=""):
    """The whole picture on its own paper, so that it is legible on any page."""
    paper = rect(0.5, 0.5, width - 1, height - 1, "paper", 8)
    style = f"<style>{stylesheet()}{extra_css}</style>"
    label = f"<title>{escape(trace.title)}</title>"
    return tag(
        "svg",
        label + style + paper + content,
        xmlns="http://www.w3.org/2000/svg",
        class_="viz",
        width=width,
        height=height,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        style="max-width:100%;height:auto",
    )
