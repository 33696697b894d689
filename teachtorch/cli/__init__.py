"""The console script `teachtorch`: the roof over the engine, the pictures, the chapters and the exercises.

Nothing of these is imported before a command needs it.
"""

from teachtorch.cli.commands import main

__all__ = ["main"]
