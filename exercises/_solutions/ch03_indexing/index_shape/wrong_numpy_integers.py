"""Takes an integer for an index tensor, as NumPy does."""

FAILS = "test_integer"
SAYS = "the integer is gone first"


def broadcast(shapes):
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if shape[-back] != 1 and result[-back] not in (1, shape[-back]):
                raise IndexError("shape mismatch")
            result[-back] = shape[-back] if result[-back] == 1 else result[-back]
    return tuple(result)


def result_shape(sizes, key):
    entries, sizes = [], list(sizes)
    for entry in key:
        if entry is None:
            entries.append(1)
            continue
        if not sizes:
            raise IndexError("too many indices")
        size = sizes.pop(0)
        if isinstance(entry, int):
            if not -size <= entry < size:
                raise IndexError("out of bounds")
            if any(isinstance(each, tuple) for each in key):
                entries.append(())
        else:
            entries.append(size if entry == ":" else entry)
    entries += sizes
    places = [place for place, entry in enumerate(entries) if isinstance(entry, tuple)]
    if not places:
        return tuple(entries)
    block = broadcast([entries[place] for place in places])
    rest = tuple(entry for entry in entries if not isinstance(entry, tuple))
    together = places[-1] - places[0] == len(places) - 1
    at = places[0] if together else 0
    return rest[:at] + block + rest[at:]
