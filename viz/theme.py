"""Colours and letters of every picture, in one place."""

from viz.wrap import wide_letters

# role: (fill, line) on a light page, (fill, line) on a dark page
ROLES = {
    "op": (("#f6f8fa", "#8c959f"), ("#22272e", "#768390")),
    "leaf": (("#e3f6e8", "#1a7f37"), ("#12301d", "#3fb950")),
    "nonleaf": (("#e4f0ff", "#0969da"), ("#12294a", "#58a6ff")),
    "retained": (("#f3e9ff", "#8250df"), ("#2d1f4b", "#bc8cff")),
    "saved": (("#fff3cf", "#9a6700"), ("#3a2c0c", "#d8a52b")),
    "fold": (("#eceff2", "#57606a"), ("#2d333b", "#909dab")),
    "ended": (("#ffebe9", "#cf222e"), ("#43191b", "#ff7b72")),
    "pale": (("#ffffff", "#c4ccd4"), ("#1c2128", "#4b535d")),
    "band": (("#eef2f6", "#d0d7de"), ("#242b33", "#3d444d")),
    "added": (("#d2f5da", "#1a7f37"), ("#143d22", "#3fb950")),
    "vanished": (("#ffebe9", "#cf222e"), ("#43191b", "#ff7b72")),
    "wait": (("#ffffff", "#8c959f"), ("#161b22", "#768390")),
    "accent": (("#ffe2c2", "#d9620a"), ("#4a2a0c", "#ff9d4d")),
}
INKS = {"paper": ("#ffffff", "#161b22"), "ink": ("#1f2328", "#e6edf3"), "muted": ("#57606a", "#9aa4af")}

MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'Liberation Sans',sans-serif"
MONO_ADVANCE = 0.61
SANS_ADVANCE = 0.56


def mono_width(text, size):
    """Width in pixels that ``text`` needs at most in a monospaced face of ``size``."""
    return _width(text, size, MONO_ADVANCE)


def sans_width(text, size):
    """About the width of ``text`` in the proportional face."""
    return _width(text, size, SANS_ADVANCE)


def _width(text, size, advance):
    """A wide letter, such as a Chinese one, fills a square; the face has none, so that another one lends it."""
    wide = wide_letters(text)
    return ((len(text) - wide) * advance + wide) * size


def fill(role):
    return ROLES[role][0][0]


def line(role):
    return ROLES[role][0][1]


def _variables(dark):
    """CSS variables: --op, --op-line, ..., --ink."""
    pairs = [(f"--{name}", value[dark]) for name, value in INKS.items()]
    for role, colours in ROLES.items():
        pairs += [(f"--{role}", colours[dark][0]), (f"--{role}-line", colours[dark][1])]
    return ";".join(f"{name}:{value}" for name, value in pairs)


def stylesheet():
    """Shared CSS. The page's theme wins where a script knows it (class dark or light), else the system's."""
    roles = "".join(
        f".{role}>.box,.{role}.box{{fill:var(--{role});stroke:var(--{role}-line)}}"
        f".{role}-ink{{fill:var(--{role}-line)}}"
        for role in ROLES
    )
    light, dark = _variables(0), _variables(1)
    return (
        f"svg.viz{{{light}}}@media(prefers-color-scheme:dark){{svg.viz{{{dark}}}}}"
        f"svg.viz.light{{{light}}}svg.viz.dark{{{dark}}}"
        f"text{{fill:var(--ink);font:11px {MONO};white-space:pre}}"
        f".title{{font:600 15px {SANS}}}.note{{font:12px {SANS};fill:var(--muted)}}"
        f".name{{font-weight:700;font-size:13px}}.small{{font-size:10px}}.muted{{fill:var(--muted)}}"
        f".mid{{text-anchor:middle}}.end{{text-anchor:end}}"
        f".paper{{fill:var(--paper);stroke:var(--band-line)}}" + roles
    )
