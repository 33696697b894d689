"""`record_function`: a part of a program that has a name, for whoever observes.

It stands on the lowest floor so that every package may name its parts: optimizers and DataLoaders do.
"""
import functools

from . import observer


class record_function:
    """A block, or a decorated function, that appears in profiles under a name of its own
    (torch.profiler.record_function).

    `name`: a str, else TypeError on entry. `args`: a str kept beside it.
    """

    def __init__(self, name, args=None):
        self.name = name
        self.args = args

    def __enter__(self):
        if not isinstance(self.name, str):
            raise TypeError(f"record_function: the name should be a str, not {type(self.name).__name__}")
        if observer.active:
            observer.report("annotation", phase="start", block=self, name=self.name)
        return self

    def __exit__(self, *error):
        if observer.active:
            observer.report("annotation", phase="end", block=self, name=self.name)

    def __call__(self, function):
        @functools.wraps(function)
        def annotated(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return annotated
