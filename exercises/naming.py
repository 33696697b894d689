"""What the words of a command line name: exercises, sets, folders of learners, saved reports."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path

from exercises import catalog


class UsageError(Exception):
    """The command cannot be done as asked; the text says why and what to do."""


@dataclass
class Words:
    """The words of `report`, sorted by what they name. names: exercises and sets; files: saved reports."""

    names: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def one(name: str) -> catalog.Exercise:
    """The exercise of that name; UsageError suggests names that look like it."""
    try:
        return catalog.find(name)
    except KeyError:
        names = [*(each.name for each in catalog.exercises()), *catalog.sets()]
        near = difflib.get_close_matches(name, names)
        advice = f"did you mean {', '.join(near)}?" if near else "see `list`"
        raise UsageError(f"there is no exercise {name!r}; {advice}") from None


def chosen(names: list[str]) -> list[catalog.Exercise]:
    """The exercises of these names of exercises and sets, each once; all of them without a name."""
    found = {each.name: each for name in names for each in catalog.of_set(name) or (one(name),)}
    return list(found.values()) if names else list(catalog.exercises())


def sort(words: list[str]) -> Words:
    """What each word names: first an exercise or a set, then a folder, then a file."""
    sorted_words = Words()
    for word in words:
        if is_name(word):
            sorted_words.names.append(word)
        elif Path(word).is_dir():
            sorted_words.folders.append(Path(word))
        elif Path(word).exists():
            sorted_words.files.append(Path(word))
        else:
            raise UsageError(f"{word!r} is no exercise, no set, no folder and no saved report; see `list`")
    return sorted_words


def is_name(word: str) -> bool:
    """Whether this is the name of an exercise or a set."""
    try:
        return bool(catalog.of_set(word) or catalog.find(word))
    except KeyError:
        return False
