"""The broadcasting rule, replayed: shapes matched from the right, a dim of size 1 or a missing one stretched.

Source: infer_size in aten/src/ATen/ExpandUtils.cpp; sum_to_size there is what the backward does.
"""

from dataclasses import dataclass, field

KEPT, STRETCHED, MISSING, FAULT, WAITING = "kept", "stretched", "missing", "fault", "waiting"


@dataclass
class Broadcast:
    """shapes: of the operands. result: the sizes of the result, from the right as far as the rule came.

    columns: for each dim of the result, from the last to the first, what it is to each operand: one of the
    words above. fault: (dim counted from the end, operand, operand) where no size fits, or None.
    """

    shapes: list
    result: tuple = ()
    columns: list = field(default_factory=list)
    fault: tuple | None = None

    @property
    def dims(self):
        return max((len(shape) for shape in self.shapes), default=0)


def replay(shapes):
    """The ``Broadcast`` of a list of tuples of ints; operands join one after the other, as in PyTorch."""
    shapes, found = list(shapes), Broadcast([])
    for count in range(1, len(shapes) + 1):
        found = _joined(shapes[:count])
        if found.fault:
            break
    rest = [WAITING] * (len(shapes) - len(found.shapes))
    columns = [roles + rest for roles in found.columns]
    return Broadcast(shapes, found.result, columns, found.fault)


def _joined(shapes):
    """From the last dim to the first, all operands at once."""
    found = Broadcast(shapes)
    for back in range(1, found.dims + 1):
        sizes = [shape[-back] if back <= len(shape) else None for shape in shapes]
        size, at_fault = _common(sizes)
        if at_fault:
            found.fault = (-back, *at_fault)
            found.columns.append([FAULT if k in at_fault else WAITING for k in range(len(sizes))])
            return found
        found.result = (size, *found.result)
        found.columns.append([_role(each, size) for each in sizes])
    return found


def _common(sizes):
    """(the size of the result, None), or (None, the first two operands that contradict each other)."""
    size, owner = 1, None
    for operand, each in enumerate(sizes):
        if each is None or each == 1 or each == size:
            continue
        if owner is not None:
            return None, (owner, operand)
        size, owner = each, operand
    return size, None


def _role(own, size):
    if own is None:
        return MISSING
    return KEPT if own == size else STRETCHED


def summed_dims(shape, result):
    """What the backward sums for an operand: (dims of the result that vanish, dims that stay with size 1)."""
    added = len(result) - len(shape)
    stretched = tuple(d for d in range(added, len(result)) if shape[d - added] == 1 and result[d] != 1)
    return tuple(range(added)), stretched


def stretched_strides(shape, strides, result):
    """Strides of the operand once it is stretched to ``result``: 0 where it was."""
    added = len(result) - len(shape)
    kept = [
        0 if own == 1 and size != 1 else stride
        for own, stride, size in zip(shape, strides, result[added:], strict=True)
    ]
    return (0,) * added + tuple(kept)


def sentence_of_fault(found):
    """What PyTorch says of it."""
    back, first, second = found.fault
    a, b = found.shapes[first][back], found.shapes[second][back]
    dims = max(len(shape) for shape in found.shapes[: second + 1])
    return (
        f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension "
        f"{dims + back}"
    )
