"""t[start:stop:step] is a view: three new numbers.

Slicing one dimension copies nothing. It gives that dimension another size and another stride, and the
tensor another storage_offset.

    t = arange(10)      size 10, stride 1, storage_offset 0
    t[2:9:3]            size 3,  stride 3, storage_offset 2     (elements 2, 5, 8)
"""


def slice_dim(size, stride, storage_offset, start, stop, step):
    """Return (size, stride, storage_offset) after slicing a dimension, three ints.

    size, stride: of the dimension; storage_offset: of the tensor; all in elements. start, stop: ints or
    None (from the beginning, to the end); a negative one counts from the end. As in Python, a bound that
    lies outside is moved to the nearest end, and nothing is left when stop <= start. step: int; PyTorch has
    no negative strides, so a step that is not positive raises ValueError. A slice begins at `start`, after
    it was moved, even when nothing is left.
    """
    # solution
    if step <= 0:
        raise ValueError("slice step must be positive")
    begin = _clamped(0 if start is None else start, size)
    end = max(_clamped(size if stop is None else stop, size), begin)
    length = (end - begin + step - 1) // step
    return length, stride * step, storage_offset + begin * stride
    # end of solution


# solution
def _clamped(bound, size):
    from_begin = bound + size if bound < 0 else bound
    return min(max(from_begin, 0), size)


# end of solution
