"""Breaking sentences into lines that fit."""

import textwrap


def wrapped(sentence, width):
    """Lines of at most ``width`` characters."""
    return textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False) or [""]
