"""Refuses bounds that lie outside."""

FAILS = "test_outside_bounds"
SAYS = "your code raised IndexError"


def slice_dim(size, stride, storage_offset, start, stop, step):
    if step <= 0:
        raise ValueError("step")
    begin = 0 if start is None else start
    end = size if stop is None else stop
    begin = begin + size if begin < 0 else begin
    end = end + size if end < 0 else end
    if not (0 <= begin <= size and 0 <= end <= size):
        raise IndexError("slice out of range")
    length = max((end - begin + step - 1) // step, 0)
    return length, stride * step, storage_offset + begin * stride
