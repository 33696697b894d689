"""The learner's function that was called last, as text, for the messages."""

from __future__ import annotations

import re

# Two runs of the same mistake should read the same.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_last = ""


def note(name: str, arguments: tuple, keywords: dict) -> None:
    """Remember a call as it was written, before the callee can change its arguments."""
    global _last
    parts = [_short(each) for each in arguments] + [f"{key}={_short(each)}" for key, each in keywords.items()]
    _last = f"{name}({', '.join(parts)})"


def mention(name: str) -> None:
    """Remember a class of the learner's, whose calls are not noted, until a call is."""
    global _last
    _last = _last or name


def forget() -> None:
    """Start a test without a call."""
    global _last
    _last = ""


def last() -> str:
    """The call that was noted last, or an empty text."""
    return _last


def _short(value) -> str:
    text = ADDRESS.sub("", " ".join(repr(value).split()))
    return text if len(text) <= 120 else text[:117] + "..."
