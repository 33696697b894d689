"""Matches the shapes from the left."""

FAILS = "test_from_the_right"
SAYS = "RuntimeError"


def broadcast_shapes(*shapes):
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for dim, size in enumerate(shape):
            if size == 1:
                continue
            if result[dim] not in (1, size):
                raise RuntimeError("sizes do not fit")
            result[dim] = size
    return tuple(result)


def dim_at_fault(a, b):
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return -back
    return None


def stretched_dims(shape, result):
    own = (1,) * (len(result) - len(shape)) + tuple(shape)
    return tuple(dim for dim, (mine, size) in enumerate(zip(own, result)) if mine == 1 and size != 1)
