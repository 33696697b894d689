"""Counts every size of 1 as stretched."""

FAILS = "test_stretched"
SAYS = "a 1 that stays 1"


def broadcast_shapes(*shapes):
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if shape[-back] == 1:
                continue
            if result[-back] not in (1, shape[-back]):
                raise RuntimeError("sizes do not fit")
            result[-back] = shape[-back]
    return tuple(result)


def dim_at_fault(a, b):
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return -back
    return None


def stretched_dims(shape, result):
    own = (1,) * (len(result) - len(shape)) + tuple(shape)
    return tuple(dim for dim, (mine, size) in enumerate(zip(own, result)) if mine == 1)
