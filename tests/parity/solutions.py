"""The reference solutions of exercises, which parity tests compare with PyTorch."""

from exercises import catalog
from exercises.grading.loading import load


def solution(name):
    """The reference solution of an exercise, as a module."""
    return load(catalog.find(name).solutions / "solution.py", None)
