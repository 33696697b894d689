"""How a test function says what it is worth."""

from __future__ import annotations

from collections.abc import Callable


def points(worth: int, title: str) -> Callable:
    """Declare a test function as one property of the exercise.

    worth: points for passing it. title: what it asks, in the terms of the chapter.
    """

    def declare(test: Callable) -> Callable:
        test.worth, test.title = worth, title
        return test

    return declare
