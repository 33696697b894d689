"""The rule by which ``view`` decides, replayed. Source: computeStride in aten/src/ATen/TensorUtils.cpp."""

from dataclasses import dataclass, field
from math import prod


@dataclass
class Chunk:
    """Old dims that lie in memory like one. base: stride of its last dim. new: the new dims it takes."""

    dims: list
    numel: int
    base: int
    new: list = field(default_factory=list)


@dataclass
class Replay:
    """shape: the new sizes. strides: the new strides, None if view fails. straddles: the new dim at fault."""

    shape: tuple
    strides: tuple | None = None
    chunks: list = field(default_factory=list)
    sentences: list = field(default_factory=list)
    straddles: int | None = None


def resolve(numel, shape):
    """Replace the one -1 in ``shape``; ValueError, in PyTorch's words, if it cannot fit ``numel``."""
    shape = tuple(int(size) for size in shape)
    known = prod(size for size in shape if size != -1)
    if min(shape, default=0) < -1 or shape.count(-1) > 1:
        raise ValueError(f"invalid shape {list(shape)}: sizes are not negative, except for one -1")
    if -1 in shape and known == 0:
        raise ValueError(
            f"cannot reshape tensor of {numel} elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if numel % known if -1 in shape else numel != known:
        raise ValueError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if size == -1 else size for size in shape)


def replay(sizes, strides, shape):
    """Replay ``view(shape)`` on a tensor of these sizes and strides (both in elements)."""
    shape = resolve(prod(sizes), shape)
    if prod(sizes) == 0:
        return _empty(sizes, strides, shape)
    if not sizes:
        said = "A 0-d tensor has one element: every new dim has size 1, and any stride would do."
        return Replay(shape, (1,) * len(shape), [], [said])
    result = Replay(shape)
    _find_chunks(result, sizes, strides)
    _deal(result)
    return result


def _empty(sizes, strides, shape):
    if tuple(sizes) == shape:
        return Replay(shape, tuple(strides), [], ["The shape is the same: the strides stay."])
    said = "There are no elements, so any view works; the strides are those of a contiguous tensor."
    return Replay(shape, contiguous_strides(shape), [], [said])


def contiguous_strides(sizes):
    """Strides of a contiguous tensor, as PyTorch writes them: a size of 0 counts as 1."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _find_chunks(result, sizes, strides):
    """From the last dim to the first: a dim joins if one step along it is one whole sweep of the chunk."""
    last = len(sizes) - 1
    chunk = Chunk([last], sizes[last], strides[last])
    result.sentences.append(f"Dim {last} (size {sizes[last]}, stride {strides[last]}) opens a chunk.")
    for dim in range(last - 1, -1, -1):
        sweep = chunk.numel * chunk.base
        if sizes[dim] == 1 or strides[dim] == sweep:
            result.sentences.append(_joins(dim, sizes, strides, chunk))
            chunk.dims.insert(0, dim)
            chunk.numel *= sizes[dim]
        else:
            result.sentences.append(
                f"Dim {dim} cannot join: its stride is {strides[dim]}, and {chunk.numel} x "
                f"{chunk.base} = {sweep} was needed; it opens a new chunk."
            )
            result.chunks.insert(0, chunk)
            chunk = Chunk([dim], sizes[dim], strides[dim])
    result.chunks.insert(0, chunk)


def _joins(dim, sizes, strides, chunk):
    if sizes[dim] == 1:
        return f"Dim {dim} joins: it has size 1, so its stride is never used."
    return (
        f"Dim {dim} joins: its stride {strides[dim]} = {chunk.numel} x {chunk.base}, one sweep of the chunk."
    )


def _deal(result):
    """Give each chunk, from the last, a run of new dims with exactly its number of elements."""
    strides, dim = [0] * len(result.shape), len(result.shape) - 1
    for chunk in reversed(result.chunks):
        filled = 1
        while dim >= 0 and (filled < chunk.numel or result.shape[dim] == 1):
            strides[dim] = filled * chunk.base
            filled *= result.shape[dim]
            chunk.new.insert(0, dim)
            dim -= 1
        if filled != chunk.numel:
            return _fail(result, chunk, filled)
        result.sentences.append(_dealt(result.shape, strides, chunk))
    result.strides = tuple(strides)


def _dealt(shape, strides, chunk):
    dims = ", ".join(f"{d} (size {shape[d]}, stride {strides[d]})" for d in chunk.new) or "none"
    return f"{_dims(chunk)}, {chunk.numel} elements, is tiled exactly by new dims {dims}."


def _dims(chunk):
    numbers = ", ".join(map(str, chunk.dims))
    return f"The chunk of dim {numbers}" if len(chunk.dims) == 1 else f"The chunk of dims {numbers}"


def _fail(result, chunk, filled):
    result.straddles = chunk.new[0]
    result.sentences.append(
        f"New dim {chunk.new[0]} (size {result.shape[chunk.new[0]]}) would straddle two chunks: with it the "
        f"new dims hold {filled} elements, but the chunk has {chunk.numel}. So view fails."
    )
