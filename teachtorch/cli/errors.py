"""The error of a command that cannot do what it was asked."""


class CommandError(Exception):
    """Ends a command; its message is for the user and says what to do."""
