"""Asks from left to right even if a subclass stands further right."""

FAILS = "test_subclass"
SAYS = "knows more than it"


def overloaded(args):
    found = []
    for arg in args:
        cls = type(arg)
        if not hasattr(cls, "__torch_function__") or cls in [type(f) for f in found]:
            continue
        found.append(arg)
    return found


def call(function, *args):
    asked = overloaded(args)
    if not asked:
        return function(*args)
    types = tuple(type(arg) for arg in asked)
    for arg in asked:
        found = type(arg).__torch_function__(function, types, args)
        if found is not NotImplemented:
            return found
    raise TypeError(f"all __torch_function__ handlers returned NotImplemented: {[t.__name__ for t in types]}")
