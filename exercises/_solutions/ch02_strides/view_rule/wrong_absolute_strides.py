"""Groups the chunks rightly, but forgets the base stride of a chunk."""

FAILS = "test_expanded"
SAYS = "multiples of the chunk's base stride"


def compute_view_strides(sizes, strides, new_sizes):
    if 0 in sizes:
        return tuple(strides) if tuple(sizes) == tuple(new_sizes) else contiguous(new_sizes)
    if not sizes:
        return (1,) * len(new_sizes)
    chunks = [(sizes[-1], strides[-1])]
    for size, stride in zip(reversed(sizes[:-1]), reversed(strides[:-1])):
        numel, base = chunks[-1]
        if size == 1 or stride == numel * base:
            chunks[-1] = (numel * size, base)
        else:
            chunks.append((size, stride))
    new_strides, rest = [], list(new_sizes)
    for numel, _ in chunks:
        tiled = 1
        while rest and (tiled < numel or rest[-1] == 1):
            new_strides.insert(0, tiled)
            tiled *= rest.pop()
        if tiled != numel:
            return None
    return tuple(new_strides)


def contiguous(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)
