"""Warnings that PyTorch gives once per program."""
import warnings

_given = set()


def warn_once(topic, message):
    """Warn the first time that this topic comes up; the place is that of the caller of the caller's caller."""
    if topic not in _given:
        _given.add(topic)
        warnings.warn(message, UserWarning, stacklevel=4)
