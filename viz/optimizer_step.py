"""What one step costs in each implementation: launches and bytes, from teachtorch's own counter.

The step is run on stand-ins: parameters of one element each, with the dtypes and options of the real ones. Where
all kernels go through their tensors element by element, their number does not depend on the sizes, and the bytes
follow from the real sizes. Else (Adafactor, Muon) only the number is counted, on stand-ins of the real sizes.
"""

from dataclasses import dataclass, replace
from importlib import import_module

from viz.tensors import element_count

WAYS = {"for-loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
ELEMENTWISE = frozenset(
    ("add", "add_", "sub", "mul", "mul_", "div", "div_", "neg", "abs", "abs_", "sign", "sqrt", "sqrt_")
    + ("reciprocal_", "addcmul", "addcmul_", "addcdiv_", "lerp_", "copy_", "clone", "maximum", "maximum_")
    + ("minimum_", "fused_sgd_", "fused_adam_", "fused_adamw_", "fused_adagrad_")
)
KERNEL_BYTES = 32768  # for a kernel's arguments: CUDA 12.1 on compute capability 7.0 and later


@dataclass
class Launch:
    """One kernel. op: its name. lists: tensor lists it goes through. words: per element, read and written.

    first, last: the columns (``columns_of``) that it updates: first up to before last.
    """

    op: str
    lists: int
    has_scalars: bool
    words: int | None
    first: int = 0
    last: int = 0


@dataclass
class Way:
    """One implementation. launches: in order. count: what the counter said of a step over all parameters.

    bytes_moved: None if a kernel is not element by element. cuda: launches on a GPU, None if not known.
    """

    name: str
    launches: list
    count: int
    bytes_moved: int | None
    cuda: int | None


def columns_of(optimizer):
    """The parameters with a gradient; those of one group and dtype, which share launches, side by side."""
    return [p for _, params in _buckets(optimizer) for p in params]


def _buckets(optimizer):
    """(group, its parameters of one dtype that have a gradient)."""
    found = {}
    for g, group in enumerate(optimizer.param_groups):
        for p in group["params"]:
            if p.grad is not None:
                found.setdefault((g, p.dtype), (group, []))[1].append(p)
    return list(found.values())


def ways(optimizer):
    """A ``Way`` per implementation that the optimizer has; none for one that steps by a closure."""
    found = [_way(optimizer, name, options) for name, options in WAYS.items()]
    return [way for way in found if way is not None]


def _way(optimizer, name, options):
    buckets = _buckets(optimizer)
    try:
        launches = _placed(optimizer, name, options, buckets)
        is_elementwise = all(launch.words is not None for launch in launches)
        _, count = _second_step(_twin(optimizer, buckets, options, is_elementwise))
    except (TypeError, RuntimeError, ValueError, AssertionError):
        return None  # it has no such implementation, or its step needs a closure
    columns = columns_of(optimizer)
    cuda = count if name == "for-loop" else _cuda(launches, columns)
    return Way(name, launches, count, _bytes(launches, columns), cuda)


def _placed(optimizer, name, options, buckets):
    """The launches with their columns: of the for-loop per parameter, else per bucket."""
    found, first, known = [], 0, {}
    for b, (group, params) in enumerate(buckets):
        parts = [[p] for p in params] if name == "for-loop" else [params]
        for part in parts:
            key = (b, len(part), len(part[0].shape))
            if key not in known:
                known[key] = _second_step(_twin(optimizer, [(group, part)], options))[0]
            found += [replace(each, first=first, last=first + len(part)) for each in known[key]]
            first += len(part)
    return found


# Stand-ins


def _twin(optimizer, buckets, options, is_small=True):
    """The same optimizer over stand-ins that have a gradient; small ones have one element."""
    return type(optimizer)([_stand_in_group(group, params, options, is_small) for group, params in buckets])


def _stand_in_group(group, params, options, is_small):
    kept = {name: value for name, value in group.items() if name not in ("params", "param_names", "foreach", "fused")}
    switches = {name: None for name in ("foreach", "fused") if name in group}
    if not options.keys() <= group.keys():
        raise TypeError("the optimizer has no such option")
    return {**kept, **switches, **options, "params": [_stand_in(p, is_small) for p in params]}


def _stand_in(p, is_small):
    library = import_module("teachtorch")
    shape = (1,) * len(p.shape) if is_small else tuple(p.shape)
    made = library.nn.Parameter(library.ones(shape, dtype=p.dtype))
    made.grad = library.ones_like(made)
    return made


def _second_step(twin):
    """(launches in order, their number): of the second step, since the first one makes the state."""
    counting = import_module("teachtorch.optim.launches")
    observer = import_module("teachtorch.core.observer")
    seen = []

    def note(topic, event):
        if event["key"] in counting.BACKENDS:
            seen.append(_launch(event))

    twin.step()
    with counting.counting_launches() as counts, observer.watching(note, "dispatch"):
        twin.step()
    return seen, sum(counts.values())


# One launch


def plain_name(op):
    """``mul_`` of ``_foreach_mul_.Scalar``."""
    return op.split(".")[0].removeprefix("_foreach_").lstrip("_")


def _launch(event):
    name, lists = plain_name(event["op"]), _tensor_lists(event["args"])
    makes_new = not name.endswith("_")
    scalars = any(_is_numbers(argument) for argument in event["args"])
    return Launch(name, len(lists) + makes_new, scalars, _words(name, lists))


def _tensor_lists(arguments):
    """The arguments that are tensors or lists of them; lists of lists (a fused one's states) are opened."""
    found = []
    for argument in arguments:
        if hasattr(argument, "untyped_storage"):
            found.append([argument])
        elif isinstance(argument, (list, tuple)) and argument:
            found += [list(argument)] if hasattr(argument[0], "untyped_storage") else _tensor_lists(argument)
    return found


def _is_numbers(argument):
    return isinstance(argument, (list, tuple)) and bool(argument) and isinstance(argument[0], float)


def _words(name, lists):
    """Words read and written per element: each different tensor once, and the result."""
    if name not in ELEMENTWISE:
        return None
    read = len({id(tensors[0]) for tensors in lists})
    if name == "copy_":
        return 2
    if name.startswith("fused"):
        return read + read - 1  # all are written but the gradients
    return read + 1


# Sums


def _bytes(launches, columns):
    """Bytes of one step over the real sizes; None if some kernel is not element by element."""
    if any(launch.words is None for launch in launches):
        return None
    sizes = [element_count(p.shape) * p.element_size() for p in columns]
    return sum(launch.words * sum(sizes[launch.first : launch.last]) for launch in launches)


def _cuda(launches, columns):
    """Launches on a GPU: one operator on many tensors takes several."""
    if any(launch.words is None or launch.lists > 5 for launch in launches):
        return None
    planned = import_module("teachtorch.optim.launches").multi_tensor_launches
    sizes = [element_count(p.shape) for p in columns]
    return sum(planned(sizes[each.first : each.last], each.lists, each.has_scalars, KERNEL_BYTES) for each in launches)
