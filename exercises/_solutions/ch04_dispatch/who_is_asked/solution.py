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
    # solution
    found = []
    for arg in args:
        cls = type(arg)
        if not hasattr(cls, "__torch_function__") or cls in [type(f) for f in found]:
            continue
        parents = [i for i, f in enumerate(found) if issubclass(cls, type(f))]
        found.insert(parents[0] if parents else len(found), arg)
    return found
    # end of solution


def call(function, *args):
    """Return the first answer that is not NotImplemented; without anybody to ask, function(*args).

    A class answers `type(arg).__torch_function__(function, types, args)`, where types is the tuple of all classes
    that are asked. TypeError if all of them return NotImplemented.
    """
    # solution
    asked = overloaded(args)
    if not asked:
        return function(*args)
    types = tuple(type(arg) for arg in asked)
    for arg in asked:
        found = type(arg).__torch_function__(function, types, args)
        if found is not NotImplemented:
            return found
    raise TypeError(f"all __torch_function__ handlers returned NotImplemented: {[t.__name__ for t in types]}")
    # end of solution
