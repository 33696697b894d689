"""The object a picture function returns: a trace that can show itself."""

import hashlib
from pathlib import Path

from viz import html
from viz.dot import LayoutError, source
from viz.svg import svg
from viz.text import text
from viz.trace import Trace

_FORMATS = (".svg", ".html", ".txt", ".dot", ".json")


class Picture:
    """A picture of a trace. In a notebook, leave it as the last line of a cell.

    trace: the ``Trace`` it shows; everything else is made from it.
    """

    def __init__(self, trace):
        self.trace = trace

    @property
    def text(self):
        """The picture in Unicode, for terminals and screen readers; the steps follow as sentences."""
        return text(self.trace)

    @property
    def source(self):
        """The picture as DOT."""
        return source(self.trace)

    @property
    def svg(self):
        """The picture as SVG; raises ``viz.dot.LayoutError`` if it needs a layout program that is missing."""
        return svg(self.trace)

    @property
    def key(self):
        """A short name that is the same for the same picture."""
        return hashlib.sha256(self.trace.to_json().encode()).hexdigest()[:10]

    def save(self, path):
        """Write the picture; the ending decides: .svg, .html (one offline file), .txt, .dot or .json."""
        path = Path(path)
        writers = dict(
            zip(
                _FORMATS,
                (
                    self._svg_file,
                    self._html_file,
                    self._text_file,
                    lambda: self.source,
                    lambda: self.trace.to_json(indent=1),
                ),
                strict=True,
            )
        )
        if path.suffix not in writers:
            raise ValueError(f"cannot save as {path.suffix or path.name!r}: use {', '.join(_FORMATS)}")
        path.write_text(writers[path.suffix](), encoding="utf-8")
        return path

    def _svg_file(self):
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self.svg

    def _html_file(self):
        return html.page(self.svg, self.trace, self.key)

    def _text_file(self):
        return self.text + "\n"

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Both forms that notebooks keep; without a layout program only the text, and why."""
        try:
            rich = html.fragment(self.svg, self.trace, self.key)
        except LayoutError as error:
            return {"text/plain": f"{self.text}\n\n{error}"}
        return {"text/plain": self.text, "text/html": rich}

    def __repr__(self):
        return self.text


def load(path):
    """Read back a picture that was saved as .html or .json.

    Raises ValueError for a file that holds no trace.
    """
    path = Path(path)
    content = path.read_text(encoding="utf-8")
    found = content if path.suffix == ".json" else html.trace_text(content)
    if found is None:
        raise ValueError(
            f"{path} holds no picture: viz.load reads .html and .json files that a picture saved"
        )
    return Picture(Trace.from_json(found))
