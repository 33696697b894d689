"""Warnings that PyTorch gives once per program."""
import warnings

_given = set()
_always = False


def set_warn_always(enabled):
    """Give such warnings each time, as torch.set_warn_always does; for tests."""
    global _always
    _always = bool(enabled)


def is_warn_always_enabled():
    """Whether warnings that are given once are given each time."""
    return _always


def warn_once(topic, message):
    """Warn the first time that this topic comes up; the place is that of the caller of the caller's caller."""
    if _always or topic not in _given:
        _given.add(topic)
        warnings.warn(message, UserWarning, stacklevel=4)
