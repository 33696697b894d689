"""Einstein summation, composed of permute, reshape, mul and bmm.

Labels are numbers: A-Z are 0 to 25, a-z are 26 to 51, and the ellipsis is 52. Every operand gets the same
dimensions, the output's first and then those that are summed; pairs are contracted from left to right.
"""
import collections
import functools
import math

from ..dispatch.state import state
from ..tensor import Tensor
from .declare import composite, publish

ELLIPSIS = 52


# ---- reading the equation ----------------------------------------------------------------------------------

def name_of(label):
    return chr(label + ord("A")) if label < 26 else chr(label - 26 + ord("a"))


def label_of(letter, place):
    if "A" <= letter <= "Z":
        return ord(letter) - ord("A")
    if "a" <= letter <= "z":
        return ord(letter) - ord("a") + 26
    raise RuntimeError(f"einsum(): invalid subscript given at index {place} in the equation string, "
                       "subscripts must be in [a-zA-Z]")


def read_operand(text, start, number):
    """The labels of one operand's subscripts; `start` is their place in the equation."""
    labels, i = [], 0
    while i < len(text):
        if text[i] == ".":
            if ELLIPSIS in labels:
                raise RuntimeError(f"einsum(): found '.' for operand {number} for which an ellipsis was "
                                   "already found")
            if text[i:i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for operand {number} that is not part of any "
                                   "ellipsis")
            labels.append(ELLIPSIS)
            i += 2
        elif text[i] != " ":
            labels.append(label_of(text[i], start + i))
        i += 1
    return labels


def read_inputs(text, count):
    """The labels of every operand."""
    parts = text.split(",")
    found, start = [], 0
    for number, part in enumerate(parts):
        if number >= count:
            raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        found.append(read_operand(part, start, number))
        start += len(part) + 1
    if len(found) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return found


def read_output(text, start, counts):
    """The labels of the output, each of which must occur in some operand. `start`: its place in the equation."""
    labels, i = [], 0
    while i < len(text):
        if text[i] == ".":
            if ELLIPSIS in labels:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
            if text[i:i + 3] != "...":
                raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)")
            labels.append(ELLIPSIS)
            i += 2
        elif text[i] != " ":
            labels.append(output_label(label_of(text[i], start + i), labels, counts))
        i += 1
    return labels


def output_label(label, seen, counts):
    if label in seen:
        raise RuntimeError(f"einsum(): output subscript {name_of(label)} appears more than once in the "
                           "output")
    if label not in counts:
        raise RuntimeError(f"einsum(): output subscript {name_of(label)} does not appear in the equation for "
                           "any input operand")
    return label


def equation_of(args):
    """(equation, operands) from any way of calling: an equation first, or operands with lists of subscripts."""
    if args and isinstance(args[0], str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        if operands:
            return args[0], list(operands)
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least "
                         "one operand and its subscripts list")
    if not isinstance(args[0], Tensor):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not "
                        f"{type(args[0]).__name__}")
    return equation_of_lists(args)


def equation_of_lists(args):
    """The equation of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    equation = ",".join(subscripts_of(labels) for labels in args[1::2])
    if len(args) % 2:
        equation += "->" + subscripts_of(args[-1])
    return equation, list(args[0:len(args) - len(args) % 2:2])


def subscripts_of(labels):
    return "".join("..." if label is Ellipsis else name_of(checked(label)) for label in labels)


def checked(label):
    if not 0 <= label < 52:
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return label


# ---- aligning the operands ---------------------------------------------------------------------------------

class Layout:
    """Where each label's dimension lies in the aligned operands.

    `places`: label -> first dimension; the ellipsis covers `width` of them. Dimensions from `kept` on are
    summed.
    """

    def __init__(self, inputs, output, width):
        self.width = width
        self.places, self.size = {}, 0
        for label in output:
            self.add(label)
        self.kept = self.size
        for label in sorted({label for labels in inputs for label in labels}):
            if label not in self.places:
                self.add(label)

    def add(self, label):
        self.places[label] = self.size
        self.size += self.width if label == ELLIPSIS else 1


def ellipsis_width(ranks, inputs):
    """How many dimensions the widest ellipsis covers."""
    width = 0
    for number, (rank, labels) in enumerate(zip(ranks, inputs)):
        covered = rank - len(labels) + (ELLIPSIS in labels)
        if covered < 0 or covered > 0 and ELLIPSIS not in labels:
            hint = "is more than" if ELLIPSIS in labels else "does not match"
            rest = "" if ELLIPSIS in labels else " and no ellipsis was given"
            raise RuntimeError(f"einsum(): the number of subscripts in the equation "
                               f"({len(labels) - (ELLIPSIS in labels)})"
                               f" {hint} the number of dimensions ({rank}) for operand "
                               f"{number}{rest}")
        width = max(width, covered)
    return width


def implicit_output(inputs, counts):
    """Without an arrow: the ellipsis, then the labels that occur once, in alphabetical order."""
    has_ellipsis = any(ELLIPSIS in labels for labels in inputs)
    return ([ELLIPSIS] if has_ellipsis else []) + sorted(n for n, count in counts.items() if count == 1)


def aligned(operand, labels, layout, number):
    """The operand with the layout's dimensions: diagonals of repeated labels, size 1 where it lacks a label."""
    source = [None] * layout.size
    dim = 0
    for label in labels:
        place = layout.places[label]
        if label == ELLIPSIS:
            operand, dim = ellipsis_dimensions(operand, len(labels), source, place, layout.width, dim)
        elif source[place] is None:
            source[place], dim = dim, dim + 1
        else:
            operand = repeated(operand, source[place], dim, label, number)
    for place, at in enumerate(source):
        if at is None:
            operand = operand.unsqueeze(dim)
            source[place], dim = dim, dim + 1
    return operand.permute(source)


def ellipsis_dimensions(operand, label_count, source, place, width, dim):
    """Pad a narrower ellipsis with dimensions of size 1 in front, and note its places."""
    remaining = sum(at is not None for at in source)
    covered = operand.dim() - (label_count - 1) - (dim - remaining)
    for _ in range(width - covered):
        operand = operand.unsqueeze(dim)
    source[place:place + width] = range(dim, dim + width)
    return operand, dim + width


def repeated(operand, first, second, label, number):
    """The diagonal of two dimensions with the same label, at the first one's place."""
    sizes = operand.shape
    if sizes[first] != sizes[second]:
        raise RuntimeError(f"einsum(): subscript {name_of(label)} is repeated for operand {number} but the "
                           f"sizes don't match, {sizes[second]} != {sizes[first]}")
    return operand.diagonal(0, first, second).movedim(-1, first)


def check_sizes(operands, layout):
    """Sizes of a dimension are equal, or 1."""
    names = {place: label for label, place in layout.places.items()}
    for dim in range(layout.size):
        seen = 1
        for number, operand in enumerate(operands):
            size = operand._shape[dim]
            if size != 1 and seen != 1 and size != seen:
                raise RuntimeError(mismatch(names, layout, dim, number, size, seen))
            seen = size if size != 1 else seen


def mismatch(names, layout, dim, number, size, seen):
    start = layout.places.get(ELLIPSIS)
    if start is not None and start <= dim < start + layout.width:
        return (f"einsum(): dimension {dim - start} covered by ellipsis in operand {number}has size {size} which does "
                f"not broadcast with previously seen ellipsis with size {seen} for the respective dimension")
    return (f"einsum(): subscript {name_of(names[dim])} has size {size} for operand {number} which does not "
            f"broadcast with previously seen size {seen}")


# ---- contracting -------------------------------------------------------------------------------------------

def contract(operands, kept):
    """Multiply the aligned operands from left to right; a dimension from `kept` on is summed as soon as no
    later operand has it. Summed dimensions stay, with size 1."""
    found = operands[0]
    for number, operand in enumerate(operands[1:], 1):
        alone, together = [], []
        for dim in range(kept, found.dim()):
            if any(later._shape[dim] != 1 for later in operands[number + 1:]):
                continue
            sizes = found._shape[dim], operand._shape[dim]
            if 1 not in sizes:
                together.append(dim)
            elif sizes != (1, 1):
                alone.append(dim)
        found, operand = (t.sum(dims, True) if dims else t for t, dims in (
            (found, [d for d in alone if found._shape[d] != 1]),
            (operand, [d for d in alone if operand._shape[d] != 1])))
        found = product_sum(found, operand, together)
    return found


def product_sum(left, right, summed):
    """The sum over the dimensions `summed` of left * right, as one batched matrix product.

    The other dimensions are the batch (in both operands), the left's or the right's own.
    """
    if not summed:
        return left * right
    groups = {"batch": [], "left": [], "right": []}
    for dim in range(left.dim()):
        if dim not in summed:
            shared = left._shape[dim] != 1 and right._shape[dim] != 1
            groups["batch" if shared else "right" if left._shape[dim] == 1 else "left"].append(dim)
    batch, own, others = groups.values()
    if own and others and own[-1] > others[-1]:
        return product_sum(right, left, summed)      # so that the result's last dimension is contiguous
    a = as_batch(left, batch, own, summed)
    b = as_batch(right, batch, summed, others)
    order = batch + own + summed + others
    sizes = [left._shape[d] for d in batch + own] + [1] * len(summed) + [right._shape[d] for d in others]
    return a.bmm(b).view(sizes).permute([order.index(d) for d in range(left.dim())])


def as_batch(t, batch, rows, columns):
    """A tensor as (batch, rows, columns), each group of dimensions flattened; the others have size 1."""
    rest = [d for d in range(t.dim()) if d not in (*batch, *rows, *columns)]
    sizes = [math.prod(t._shape[d] for d in group) for group in (batch, rows, columns)]
    return t.permute(batch + rows + columns + rest).reshape(sizes)


@functools.lru_cache(1024)
def plan_of(equation, ranks):
    """(labels of each operand, Layout) for operands of these ranks. An equation mostly comes back."""
    inputs, arrow, output = equation.partition("->")
    inputs = read_inputs(inputs, len(ranks))
    counts = collections.Counter(label for labels in inputs for label in labels if label != ELLIPSIS)
    width = ellipsis_width(ranks, inputs)
    if arrow:
        output = read_output(output, equation.find("->") + 2, counts)
    else:
        output = implicit_output(inputs, counts)
    return inputs, Layout(inputs, output, width)


# ---- the usual case: two operands, one matrix product ------------------------------------------------------

class Product:
    """Two operands whose labels are all different within each, as one product of matrices.

    `batch`: labels of both and of the output; `rows`, `columns`: of one operand and of the output; `summed`: of
    both only. `is_swapped`: the second operand has the rows.
    """

    def __init__(self, first, second, output, is_swapped):
        left, right = (second, first) if is_swapped else (first, second)
        self.is_swapped = is_swapped
        self.batch = [n for n in output if n in left and n in right]
        self.rows = [n for n in output if n in left and n not in right]
        self.columns = [n for n in output if n in right and n not in left]
        self.summed = [n for n in left if n not in output]
        self.left_order = [left.index(n) for n in self.batch + self.rows + self.summed]
        self.right_order = [right.index(n) for n in self.batch + self.summed + self.columns]
        found = self.batch + self.rows + self.columns
        self.order = [found.index(n) for n in output]

    def run(self, first, second):
        """The result; None where a shared label has two sizes, or size 1 (broadcast), and for unlike dtypes."""
        left, right = (second, first) if self.is_swapped else (first, second)
        a, b = in_order(left, self.left_order), in_order(right, self.right_order)
        p, r, s = len(self.batch), len(self.rows), len(self.summed)
        shared = a._shape[:p] + a._shape[p + r:]
        if shared != b._shape[:p + s] or 1 in shared or a._dtype is not b._dtype:
            return None
        batch, rows, columns = a._shape[:p], a._shape[p:p + r], b._shape[p + s:]
        sizes = [math.prod(group) for group in (batch, rows, a._shape[p + r:], columns)]
        a, b = in_shape(a, sizes[:p > 0] + sizes[1:3]), in_shape(b, sizes[:p > 0] + sizes[2:])
        found = a.bmm(b) if p else a.mm(b)
        return in_order(in_shape(found, [*batch, *rows, *columns]), self.order)


def in_order(t, order):
    return t if order == list(range(len(order))) else t.permute(order)


def in_shape(t, sizes):
    return t if list(t._shape) == sizes else t.reshape(sizes)


@functools.lru_cache(1024)
def product_of(equation, ranks):
    """The Product of an equation; None if it asks for more: an ellipsis, a diagonal, a sum of one operand."""
    inputs, layout = plan_of(equation, ranks)
    if len(inputs) != 2 or layout.width or any([ELLIPSIS in n or len(set(n)) < len(n) for n in inputs]):
        return None
    output = sorted([n for n, place in layout.places.items() if place < layout.kept], key=layout.places.get)
    summed = {n for n in layout.places if n not in output}
    if not summed or not summed <= set(inputs[0]) & set(inputs[1]):
        return None
    own, others = [[n for n in output if n in one and n not in other] for one, other in (inputs, inputs[::-1])]
    # The result's last dimension is to be contiguous.
    is_swapped = bool(own and others) and layout.places[own[-1]] > layout.places[others[-1]]
    return Product(*inputs, output, is_swapped)


def is_recorded(operands):
    return state.grad_enabled and any([t.requires_grad for t in operands])


@composite("einsum", spaces=())
def einsum_of(equation, operands):
    """The sum of products that an equation such as "ij,jk->ik" describes."""
    ranks = tuple([len(t._shape) for t in operands])
    # A recorded graph is to have PyTorch's nodes, those of the general way.
    product = None if is_recorded(operands) else product_of(equation, ranks)
    found = None if product is None else product.run(*operands)
    return general_einsum(equation, ranks, operands) if found is None else found


def general_einsum(equation, ranks, operands):
    """Any operands, aligned first and multiplied from left to right."""
    inputs, layout = plan_of(equation, ranks)
    operands = [aligned(t, labels, layout, number)
                for number, (t, labels) in enumerate(zip(operands, inputs))]
    check_sizes(operands, layout)
    found = contract(operands, layout.kept)
    if layout.kept == layout.size:
        return found
    if len(operands) > 1:
        return found.reshape(found._shape[:layout.kept])
    return found.sum(list(range(layout.kept, layout.size)))


def einsum(*args):
    """The sum of products that an equation describes.

    `einsum("ij,jk->ik", a, b)`, or with lists of labels `einsum(a, [0, 1], b, [1, 2])`.

    A repeated label within an operand takes the diagonal; `...` covers any dimensions; labels that the output
    lacks are summed; without `->` the output has the labels that occur once, in alphabetical order.
    https://pytorch.org/docs/stable/generated/torch.einsum.html
    """
    equation, operands = equation_of(args)
    for number, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 1, but got "
                            f"{type(operand).__name__}")
    return einsum_of(equation, operands)


publish("einsum", einsum, ("",))
