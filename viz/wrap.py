"""Sentences: breaking them into lines, and counting things in them."""

import textwrap


def wrapped(sentence, width):
    """Lines of at most ``width`` characters."""
    return textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False) or [""]


def counted(number, singular, plural=None):
    """``1 leaf``, ``12 leaves``, ``10 000 nodes``."""
    word = singular if number == 1 else plural or singular + "s"
    return f"{number:,} {word}".replace(",", " ")
