"""Rounds the number of elements down."""

FAILS = "test_step_rounds_up"
SAYS = "elements 0, 3, 6, 9"


def slice_dim(size, stride, storage_offset, start, stop, step):
    if step <= 0:
        raise ValueError("step")
    begin = 0 if start is None else start
    end = size if stop is None else stop
    begin = begin + size if begin < 0 else begin
    end = end + size if end < 0 else end
    begin, end = min(max(begin, 0), size), min(max(end, 0), size)
    length = max((end - begin) // step, 0)
    return length, stride * step, storage_offset + begin * stride
