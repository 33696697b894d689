"""Takes None for no answer."""

FAILS = "test_first"
SAYS = "which is an answer"


def overloaded(args):
    found = []
    for arg in args:
        cls = type(arg)
        if not hasattr(cls, "__torch_function__") or cls in [type(f) for f in found]:
            continue
        parents = [i for i, f in enumerate(found) if issubclass(cls, type(f))]
        found.insert(parents[0] if parents else len(found), arg)
    return found


def call(function, *args):
    asked = overloaded(args)
    if not asked:
        return function(*args)
    types = tuple(type(arg) for arg in asked)
    for arg in asked:
        found = type(arg).__torch_function__(function, types, args)
        if found not in (None, NotImplemented):
            return found
    raise TypeError(f"all __torch_function__ handlers returned NotImplemented: {[t.__name__ for t in types]}")
