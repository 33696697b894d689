"""Errors of the trainer."""


class MisconfigurationException(Exception):
    """Arguments, hooks or calls that do not go together."""
