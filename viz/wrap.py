"""Words: breaking sentences into lines, counting things in them, and how wide letters are."""

import textwrap
from unicodedata import combining, east_asian_width


def wide_letters(text):
    """How many letters are as wide as two others: Chinese, Japanese, Korean ones, emoji."""
    return 0 if text.isascii() else sum(east_asian_width(letter) in "WF" for letter in text)


def columns(text):
    """How many columns of a terminal ``text`` takes; an accent that is put on the letter before takes none."""
    return len(text) if text.isascii() else len(text) + wide_letters(text) - sum(map(bool, map(combining, text)))


def cut(text, width):
    """``text``, or as much of it as takes at most ``width`` columns together with the mark ``…``."""
    if columns(text) <= width:
        return text
    end = min(len(text), width)
    while end and columns(text[:end]) > width - 1:
        end -= 1
    return text[:end] + "…"


def padded(text, width):
    """``text`` with spaces behind it, so that it takes at least ``width`` columns."""
    return text + " " * (width - columns(text))


def wrapped(sentence, width):
    """Lines of at most ``width`` characters."""
    return textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False) or [""]


def counted(number, singular, plural=None):
    """``1 leaf``, ``12 leaves``, ``10 000 nodes``."""
    word = singular if number == 1 else plural or singular + "s"
    return f"{number:,} {word}".replace(",", " ")
