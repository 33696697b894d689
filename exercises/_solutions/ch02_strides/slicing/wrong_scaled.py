"""Moves the offset by steps of the new stride."""

FAILS = "test_offset_uses_old_stride"
SAYS = "old stride"


def slice_dim(size, stride, storage_offset, start, stop, step):
    if step <= 0:
        raise ValueError("step")
    begin = 0 if start is None else start
    end = size if stop is None else stop
    begin = begin + size if begin < 0 else begin
    end = end + size if end < 0 else end
    begin, end = min(max(begin, 0), size), min(max(end, 0), size)
    length = max((end - begin + step - 1) // step, 0)
    return length, stride * step, storage_offset + begin * stride * step
