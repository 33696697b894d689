"""A picture as HTML: a fragment for notebooks, and a page that needs no network."""

import base64
import re
from functools import cache
from html import escape
from pathlib import Path

from viz.text import text

_TRACE = re.compile(r'<script type="application/json" class="viz-trace">(.*?)</script>', re.DOTALL)


@cache
def _script(name):
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _player(trace):
    """The player's source, with the file of its own that this picture asks for."""
    own = trace.options.get("player")
    return _script("player.js") + (_script(f"{own}.js") if own else "")


def fragment(svg, trace, key):
    """Notebook output: an ``<img>`` that needs no script, and a script that turns it into the player.

    key: the same for the same picture, so that running a cell again changes nothing.
    """
    encoded = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="{escape(trace.title, quote=True)}" src="data:image/svg+xml;base64,{encoded}">'
    return (
        f'<div class="viz-picture" data-viz="{key}">{image}</div>{_data(trace)}'
        f'<script type="module">{_player(trace)}\nmountAll("{key}");</script>'
    )


def page(svg, trace, key):
    """One HTML file with the picture, the player and the trace."""
    title = escape(trace.title)
    spoken = escape(text(trace))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        "<style>body{margin:24px;font-family:system-ui,sans-serif}pre{overflow:auto}"
        "@media(max-width:700px){body{margin:10px}}</style></head><body>"
        f'<div class="viz-picture" data-viz="{key}">{svg}</div>'
        f"<details><summary>As text</summary><pre>{spoken}</pre></details>{_data(trace)}"
        f'<script type="module">{_player(trace)}\nmountAll("{key}", true);</script></body></html>'
    )


def _data(trace):
    """The trace in the page. ``</`` is escaped: it would end the script element."""
    safe = trace.to_json().replace("</", "<\\/")
    return f'<script type="application/json" class="viz-trace">{safe}</script>'


def trace_text(content):
    """The JSON inside a page that ``page`` or ``fragment`` wrote, or None."""
    found = _TRACE.search(content)
    return found.group(1) if found else None
