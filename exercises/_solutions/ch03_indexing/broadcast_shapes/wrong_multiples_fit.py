"""Lets a size repeat that divides the other."""

FAILS = "test_refuses"
SAYS = "only 1 can be stretched"


def broadcast_shapes(*shapes):
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if shape[-back] == 1:
                continue
            small, large = sorted((result[-back], shape[-back]))
            if small == 0 or large % small:
                raise RuntimeError("sizes do not fit")
            result[-back] = large
    return tuple(result)


def dim_at_fault(a, b):
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return -back
    return None


def stretched_dims(shape, result):
    own = (1,) * (len(result) - len(shape)) + tuple(shape)
    return tuple(dim for dim, (mine, size) in enumerate(zip(own, result)) if mine == 1 and size != 1)
