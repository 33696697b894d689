"""Lets any dimension grow to a multiple."""

FAILS = "test_only_size_one_grows"
SAYS = "RuntimeError"


def expand(sizes, strides, new_sizes):
    added = len(new_sizes) - len(sizes)
    if added < 0 or -1 in new_sizes[:added]:
        raise RuntimeError("expand")
    out_sizes, out_strides = list(new_sizes[:added]), [0] * added
    for size, stride, new in zip(sizes, strides, new_sizes[added:]):
        if new != -1 and new % size:
            raise RuntimeError("expand")
        grows = new not in (size, -1)
        out_sizes.append(new if grows else size)
        out_strides.append(0 if grows else stride)
    return tuple(out_sizes), tuple(out_strides)
