"""The page that shows the last result of one exercise; it reloads itself while it is open."""

from __future__ import annotations

import html

from exercises.results import Result

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="color-scheme" content="light dark"><title>{name}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ overflow-x: auto; padding: .8rem; border-left: 4px solid; line-height: 1.3; }}
.pass {{ border-color: #2a8a3a; }} .fail {{ border-color: #c0392b; }}
</style></head><body>
<h1>{name}: {score} of {points} points</h1><p>{title}</p>
{body}
</body></html>
"""


def page(result: Result) -> str:
    """The page for one result."""
    if result.problem:
        body = _block("fail", result.message)
    else:
        body = "\n".join(_property(each) for each in result.outcomes)
    exercise = result.exercise
    title = html.escape(exercise.title)
    return PAGE.format(name=exercise.name, score=result.score, points=exercise.points, title=title, body=body)


def _property(outcome) -> str:
    word = "pass" if outcome.passed else "fail"
    heading = f"<h2>{word}: {html.escape(outcome.property.title)}</h2>"
    return heading + ("" if outcome.passed else _block(word, outcome.message))


def _block(kind: str, text: str) -> str:
    return f'<pre class="{kind}">{html.escape(text)}</pre>'
