"""Contractions made of einsum and of matrix products: tensordot, kron, bilinear."""

import math

from ..core.dtype import cpp_name
from ..tensor import Tensor
from .declare import composite, publish
from .fake import require_tensor
from .einsum import einsum_of


def contracted_dims(a, b, dims):
    """The two lists of dimensions that tensordot sums over."""
    if isinstance(dims, (tuple, list)) and len(dims) == 2:
        return [list(d) if isinstance(d, (tuple, list)) else [d] for d in dims]
    count = dims
    if isinstance(dims, Tensor):
        if dims.numel() > 1:
            return [[int(v) for v in row] for row in dims.tolist()]
        count = int(dims.item())
    if isinstance(count, bool) or not isinstance(count, int):
        raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or "
                           f"list[list[int]] containing two lists, but got dims={dims}")
    if count < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if count > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-count, 0)), list(range(count))


def wrapped_dims(t, dims):
    found = []
    for d in dims:
        rank = max(t.dim(), 1)
        if not -rank <= d < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but "
                             f"got {d})")
        found.append(d % rank)
    return found


def refuse_repetition(dims):
    for place, d in enumerate(dims):
        if d in dims[:place]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")


def contract_dims(a, b, first, second):
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    given = list(zip(first, second))
    first, second = wrapped_dims(a, first), wrapped_dims(b, second)
    for d, e in given:
        if a.shape[d] == 1 or b.shape[e] == 1:
            a, b = (a.sum(d, True), b) if b.shape[e] == 1 else (a, b.sum(e, True))
        elif a.shape[d] != b.shape[e]:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[d]} in dim "
                               f"{d} and second has size {b.shape[e]} in dim {e}")
    refuse_repetition(first)
    refuse_repetition(second)
    rows = [d for d in range(a.dim()) if d not in first]
    columns = [d for d in range(b.dim()) if d not in second]
    left = a.permute(rows + first).reshape(math.prod(a.shape[d] for d in rows),
                                           math.prod(a.shape[d] for d in first))
    right = b.permute(second + columns).reshape(left.shape[1], math.prod(b.shape[d] for d in columns))
    return left.mm(right).reshape([a.shape[d] for d in rows] + [b.shape[d] for d in columns])


@composite("tensordot", out=True, spaces=("",))
def tensordot(a, b, dims=2):
    """The sum of products over several dimensions: the last `dims` of `a` with the first of `b`, or two lists
    of dimensions that belong together."""
    return contract_dims(a, b, *contracted_dims(a, b, dims))


@composite("kron", out=True)
def kron(self, other):
    """The Kronecker product: every element of `self` times all of `other`, in blocks; ranks are made equal."""
    require_tensor(other, "kron", "other", 2)
    rank = max(self.dim(), other.dim())
    a = self.reshape((1,) * (rank - self.dim()) + tuple(self.shape))
    b = other.reshape((1,) * (rank - other.dim()) + tuple(other.shape))
    blocks = a.reshape([s for size in a.shape for s in (size, 1)])
    outer = blocks * b.reshape([s for size in b.shape for s in (1, size)])
    return outer.reshape([m * n for m, n in zip(a.shape, b.shape)])


def check_bilinear(input1, input2, weight, bias):
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and "
                           f"{input2.dim()}")
    for d, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1])):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {m} and {n}")
    for number, t in ((1, input1), (2, input2)):
        if t.shape[-1] != weight.shape[number]:
            raise RuntimeError(f"bilinear(): input{number} size does not match weight size: got "
                               f"{t.shape[-1]} but expected {weight.shape[number]}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but "
                           f"expected {weight.shape[0]}")
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: cpp_name(t.dtype) for name, t in given.items() if t is not None}
    if len(set(kinds.values())) > 1:
        raise RuntimeError("All tensors must have the same dtype, got "
                           + ", ".join([f"{name}: {kind}" for name, kind in kinds.items()]))


@composite("bilinear", spaces=("nn.functional",))
def bilinear(input1, input2, weight, bias=None):
    """x1^T W x2 + bias for every output feature; inputs (..., in1) and (..., in2), `weight` (out, in1, in2)."""
    check_bilinear(input1, input2, weight, bias)
    found = einsum_of("...i,oij,...j->...o", [input1, weight, input2])
    return found if bias is None else found + bias


publish("bilinear", bilinear, ("",))
