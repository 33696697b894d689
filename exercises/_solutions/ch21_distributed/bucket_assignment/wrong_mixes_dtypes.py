"""Puts different dtypes into one bucket."""

FAILS = "test_dtypes"
SAYS = "flat tensor"


def bucket_assignment(sizes, dtypes, limits):
    """Return the buckets as lists of indices, in the order in which they will travel.

    sizes: bytes of each parameter; dtypes: its dtype, any value that can be compared; limits: bytes.
    """
    finished, still_open, closed = [], {}, {}
    for index, (size, dtype) in enumerate(zip(sizes, [None] * len(sizes))):
        bucket = still_open.setdefault(dtype, [])
        bucket.append(index)
        limit = limits[min(closed.get(dtype, 0), len(limits) - 1)]
        if sum(sizes[i] for i in bucket) >= limit:
            finished.append(still_open.pop(dtype))
            closed[dtype] = closed.get(dtype, 0) + 1
    finished += still_open.values()
    return sorted(finished, key=min)[::-1]
