"""Takes a negative bound as it is."""

FAILS = "test_negative_bounds"
SAYS = "counts from the end"


def slice_dim(size, stride, storage_offset, start, stop, step):
    if step <= 0:
        raise ValueError("step")
    begin = 0 if start is None else start
    end = size if stop is None else stop
    begin, end = min(max(begin, 0), size), min(max(end, 0), size)
    length = max((end - begin + step - 1) // step, 0)
    return length, stride * step, storage_offset + begin * stride
