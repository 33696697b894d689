"""The object a picture function returns: a trace that can show itself."""

import hashlib
import sys
import tempfile
import webbrowser
from pathlib import Path

from viz import html
from viz.dot import LayoutError, source
from viz.svg import svg
from viz.text import text
from viz.trace import Trace

_FORMATS = (".svg", ".html", ".txt", ".dot", ".json")
_HINT = 'This is its text: .show() opens the picture in a browser, .save("x.html") keeps it.'


class Picture:
    """A picture of a trace. In a notebook, leave it as the last line of a cell; elsewhere, call ``show()``.

    trace: the ``Trace`` it shows; everything else is made from it.
    """

    _hinted = False  # one for all pictures: a shell says once where the drawing is

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

    def show(self):
        """Open the picture in the web browser and return the path of its page, a temporary file.

        Without a browser nothing opens; the page is written all the same.
        """
        path = self.save(Path(tempfile.mkdtemp(prefix="viz-")) / f"{self.trace.kind}.html")
        webbrowser.open(path.as_uri())
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
        if Picture._hinted or not _in_plain_shell():
            return self.text
        Picture._hinted = True
        return f"{self.text}\n\n{_HINT}"

    def __str__(self):
        return self.text


def _in_plain_shell():
    """Python's own shell, which shows a value by its repr; IPython has a display of its own."""
    return hasattr(sys, "ps1") and sys.displayhook is sys.__displayhook__


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
