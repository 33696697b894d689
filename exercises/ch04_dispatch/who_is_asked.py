"""Whose __torch_function__ is asked? The classes of the arguments, in the right order.

f(a, b, c) was called, and some arguments are of classes that have a `__torch_function__`. Each class is asked once. They
are asked from left to right, but a subclass comes before a class that it descends from. The first answer that is not
NotImplemented counts.
"""


def overloaded(args):
    """Return the list of the arguments to ask: one for each class that has a __torch_function__, in order.

    An argument of a class that is already there is left out. A subclass goes in just before the first of its
    parents that stands in the list; else it goes to the end.
    """
    raise NotImplementedError


def call(function, *args):
    """Return the first answer that is not NotImplemented; without anybody to ask, function(*args).

    A class answers `type(arg).__torch_function__(function, types, args)`, where types is the tuple of all classes
    that are asked. TypeError if all of them return NotImplemented.
    """
    raise NotImplementedError
