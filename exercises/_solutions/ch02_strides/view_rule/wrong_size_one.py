"""Lets the stride of a dimension of size 1 break a chunk."""

FAILS = "test_size_one"
SAYS = "whatever its stride"


def compute_view_strides(sizes, strides, new_sizes):
    if 0 in sizes:
        return tuple(strides) if tuple(sizes) == tuple(new_sizes) else contiguous(new_sizes)
    if not sizes:
        return (1,) * len(new_sizes)
    chunks = [(sizes[-1], strides[-1])]
    for size, stride in zip(reversed(sizes[:-1]), reversed(strides[:-1])):
        numel, base = chunks[-1]
        if stride == numel * base:
            chunks[-1] = (numel * size, base)
        else:
            chunks.append((size, stride))
    new_strides, rest = [], list(new_sizes)
    for numel, base in chunks:
        tiled = 1
        while rest and tiled < numel:
            new_strides.insert(0, tiled * base)
            tiled *= rest.pop()
        if tiled != numel:
            return None
    return tuple(new_strides) if not rest else None


def contiguous(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)
