"""Takes the larger size, and so a 1 instead of a 0."""

FAILS = "test_empty"
SAYS = "the larger size is not it"


def broadcast_shapes(*shapes):
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if 1 not in (shape[-back], result[-back]) and shape[-back] != result[-back]:
                raise RuntimeError("sizes do not fit")
            result[-back] = max(result[-back], shape[-back])
    return tuple(result)


def dim_at_fault(a, b):
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return -back
    return None


def stretched_dims(shape, result):
    own = (1,) * (len(result) - len(shape)) + tuple(shape)
    return tuple(dim for dim, (mine, size) in enumerate(zip(own, result)) if mine == 1 and size != 1)
