"""Reductions of runs of neighbours along a dimension (torch.segment_reduce), made of other operators."""
import math

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from .declare import composite, exports, publish

_torch = exports[""]

# {name: (the kind of scatter_reduce, what an empty run gives)}
KINDS = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0), "max": ("amax", -math.inf),
         "min": ("amin", math.inf)}
NAMES = {"amax": "max", "amin": "min"}
COMBINED = {"sum": lambda found, initial: found + initial, "prod": lambda found, initial: found * initial,
            "amax": lambda found, initial: found.clamp(min=initial),
            "amin": lambda found, initial: found.clamp(max=initial)}


@composite("segment_reduce", spaces=("",))
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """The sum, mean, product, largest or smallest element of each run of neighbours along a dimension.

    Args:
        data: a tensor of floats.
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: how long the runs are, integers (*data.shape[:axis], n).
        offsets: in its place, where they begin and the last one ends, (*data.shape[:axis], n + 1).
        axis: the dimension along which the runs lie.
        unsafe: let the lengths have another sum than that dimension's size; what is left over is in no run.
        initial: a number to begin each run with; else empty runs give 0, NaN, 1, -inf and inf.

    Returns:
        (*data.shape[:axis], n, *data.shape[axis + 1:]).

    RuntimeError: neither lengths nor offsets, of another shape, negative, of another sum; a `reduce` that there is not.
    NotImplementedError: integers as data, floats as lengths.
    """
    axis = geometry.wrap_dim(axis, data.dim())
    kind, start = kind_of(reduce)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    ends, counts = runs_of(data, lengths, offsets, axis, unsafe)
    if not data._dtype.is_floating_point:
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{scalar_type_name(data._dtype)}'")
    found = reduced(data, runs_containing(data, ends, counts, axis), counts, axis, kind, start)
    if initial is not None:
        found = COMBINED[kind](found, initial)
    return averaged(found, counts, initial) if reduce == "mean" else found


def kind_of(reduce):
    name = NAMES.get(reduce, reduce)
    if name not in KINDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return KINDS[name]


def runs_of(data, lengths, offsets, axis, unsafe):
    """(where the runs end, how long they are), both (*data.shape[:axis], n)."""
    given = lengths if offsets is None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name = "lengths" if offsets is None else "offsets"
    if given.dim() > data.dim():
        raise RuntimeError(f"segment_reduce(): Expected data to have as many dimensions as {name}, but it has "
                           f"{data.dim()} and {name} {given.dim()}.")
    if given.dim() != axis + 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given._dtype not in (dt.int32, dt.int64):
        kernel = f"_segment_reduce_{name}_cpu_kernel1"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(given._dtype)}'")
    if offsets is not None:
        return offsets.narrow(-1, 1, offsets._shape[-1] - 1), offsets.diff()
    if not unsafe:
        check_lengths(data, lengths, axis)
    return lengths.cumsum(-1), lengths


def check_lengths(data, lengths, axis):
    if (lengths < 0).any():
        raise RuntimeError("lengths contains negative value!")
    if (lengths.sum(-1) != data._shape[axis]).any():
        raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                           "data.size(lengths.dim()-1) when !unsafe.")


def runs_containing(data, ends, counts, axis):
    """For each place along the axis the number of its run, n for a place that is in none: (*data.shape[:axis + 1])."""
    size, n = data._shape[axis], ends._shape[-1]
    places = _torch["arange"](size, device=data._device).expand(*data._shape[:axis], size).contiguous()
    if n == 0:
        return places * 0
    numbers = _torch["searchsorted"](ends.contiguous(), places, right=True)
    first = (ends - counts).narrow(-1, 0, 1)
    return numbers.masked_fill(places < first, n)


def reduced(data, numbers, counts, axis, kind, start):
    """Each element scattered to its run; one run more takes what is in none."""
    shape = (*data._shape[:axis], counts._shape[-1] + 1, *data._shape[axis + 1:])
    index = numbers.reshape(*numbers._shape, *[1] * (data.dim() - axis - 1)).expand(data._shape)
    found = data.new_full(shape, start).scatter_reduce(axis, index, data, kind)
    return found.narrow(axis, 0, shape[axis] - 1).contiguous()


def averaged(total, counts, initial):
    """Sums divided by the lengths; an empty run keeps `initial`, NaN if there is none."""
    counts = counts.reshape(*counts._shape, *[1] * (total.dim() - counts.dim()))
    if initial is None:
        return total / counts
    return total / counts.clamp(min=1)


publish("_segment_reduce", segment_reduce, ("",))
