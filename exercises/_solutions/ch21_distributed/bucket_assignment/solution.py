"""Which gradients travel together: DistributedDataParallel's buckets.

Parameters are put into buckets in the order in which they were registered. A parameter is added to the open
bucket of its dtype first; then the bucket is closed if its size has reached the limit. The first bucket of a
dtype has the first limit, the second one the next, and all further ones the last limit. What is still open at
the end is closed, too. The buckets are sorted by their first parameter, and then the list is turned round:
gradients become ready from the last layer to the first.
"""


def bucket_assignment(sizes, dtypes, limits):
    """Return the buckets as lists of indices, in the order in which they will travel.

    sizes: bytes of each parameter; dtypes: its dtype, any value that can be compared; limits: bytes.
    """
    # solution
    finished, still_open, closed = [], {}, {}
    for index, (size, dtype) in enumerate(zip(sizes, dtypes)):
        bucket = still_open.setdefault(dtype, [])
        bucket.append(index)
        limit = limits[min(closed.get(dtype, 0), len(limits) - 1)]
        if sum(sizes[i] for i in bucket) >= limit:
            finished.append(still_open.pop(dtype))
            closed[dtype] = closed.get(dtype, 0) + 1
    finished += still_open.values()
    return sorted(finished, key=min)[::-1]
    # end of solution
