"""vmap: a function of one example made a function of a batch.

PyTorch batches each operator by a rule of its own. This vmap loops: it calls the function once per example and stacks
what it returns. The results are the same; it is no faster than a loop. `.item()`, an `if` on data and results whose
size the data decide are refused, as in PyTorch (batched.py); in-place changes of captured tensors, which PyTorch
refuses, work.
"""
import functools
from typing import NamedTuple

from ..autograd.function import FunctionMeta, has_vmap_rule
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..dispatch.state import excluding
from ..ops.generators import get_rng_state, set_rng_state
from ..tensor import Tensor
from .active import transform
from .batched import mark, unmark
from .tree import flatten, shown, spec_text, spread, unflatten

RANDOMNESS = ("error", "different", "same")


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps `func` over a dimension of its tensor arguments.

    `in_dims`: that dimension, for each argument (a nest like the arguments; None: not mapped over). `out_dims`: where
    it goes in the outputs. `randomness`: whether random draws are refused ("error"), made anew for each example
    ("different") or once for all ("same"). `chunk_size`: how many examples PyTorch takes at once; without effect here.
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, structure = flatten(args)
        dims = checked_in_dims(func, in_dims, leaves, structure, args)
        size = batch_size(leaves, dims)
        rule = rule_of(func)
        if rule is not None and not kwargs and len(leaves) == len(args):
            return by_rule(func, rule, VmapInfo(size, randomness), dims, args, out_dims)
        with transform("vmap"):
            if not size:
                return of_no_examples(func, leaves, dims, structure, kwargs, out_dims)
            results = [call_one(func, leaves, dims, structure, kwargs, i, randomness) for i in range(size)]
        is_inside_another = any([isinstance(leaf, Tensor) and leaf._keys & K.FUNCTORCH for leaf in leaves])
        with excluding(K.FUNCTORCH):
            found = stacked_results(func, results, out_dims)
        for leaf in flatten(found)[0]:
            mark(leaf) if is_inside_another else unmark(leaf)
        return found
    return wrapped


def rule_of(func):
    """The rule that an operator of the user's, or the `apply` of a Function, has for batches; else None."""
    owner = getattr(func, "__self__", None)
    if isinstance(owner, FunctionMeta) and has_vmap_rule(owner) and not owner.generate_vmap_rule:
        return owner.vmap
    return getattr(func, "vmap_rule", None)


def check_randomness(randomness):
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def name_of(func):
    return getattr(func, "__name__", repr(func))


# ---- the arguments --------------------------------------------------------------------------------------------------

def checked_in_dims(func, in_dims, leaves, structure, args):
    """A dimension or None for each leaf of the arguments. ValueError, in PyTorch's words, for what does not fit."""
    call = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            call + "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not leaves:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
            "to vmap over a function with no inputs. The latter is unsupported."
        )
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(call + "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                         f"{spec_text(flatten(in_dims)[1])} but inputs has structure {spec_text(structure)}.")
    return [checked_dim(call, dim, leaf) for dim, leaf in zip(dims, leaves)]


def checked_dim(call, dim, leaf):
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            call + f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            call + f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(
            call + f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} "
            f"so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
        )
    return dim % leaf.dim()


def batch_size(leaves, dims):
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sizes} for the mapped dimension")
    return sizes[0]


# ---- the loop -------------------------------------------------------------------------------------------------------

def call_one(func, leaves, dims, structure, kwargs, i, randomness):
    """What the function makes of example i."""
    before = get_rng_state()
    args = unflatten([leaf if dim is None else example(leaf, dim, i) for leaf, dim in zip(leaves, dims)], structure)
    result = func(*args, **kwargs)
    if randomness != "different" and get_rng_state().tolist() != before.tolist():
        if randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        if i + 1 < batch_size(leaves, dims):
            set_rng_state(before)
    return result


def example(leaf, dim, i):
    """Example i, marked as what the results depend on."""
    found = leaf.select(dim, i)
    mark(found)
    return found


class VmapInfo(NamedTuple):
    """What a rule of torch.library.register_vmap is told of the batch."""

    batch_size: int
    randomness: str


def by_rule(func, rule, info, dims, args, out_dims):
    """What an operator's own rule makes of the batch, its results moved to `out_dims`."""
    found = rule(info, tuple(dims), *args)
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got a {type(found)}."
        )
    leaves, structure = flatten(found[0])
    made, wanted = spread(found[1], structure), spread(out_dims, structure)
    if made is None or wanted is None:
        raise ValueError(
            f"vmap({name_of(func)}): the out_dims {found[1]} and {out_dims} are not compatible with the structure "
            f"of the rule's output, {shown(structure)}"
        )
    # what the rule did not batch is the same for every example
    batched = [leaf.unsqueeze(0).expand(info.batch_size, *leaf.shape) if dim is None else leaf.movedim(dim, 0)
               for leaf, dim in zip(leaves, made)]
    return unflatten(
        [leaf[0] if dim is None else leaf.movedim(0, dim) for leaf, dim in zip(batched, wanted)], structure
    )


def of_no_examples(func, leaves, dims, structure, kwargs, out_dims):
    """The outputs for an empty batch: shaped like those for one example, of zeros, and then without it."""
    one = [leaf if dim is None else leaf.new_zeros(leaf.shape[:dim] + leaf.shape[dim + 1:])
           for leaf, dim in zip(leaves, dims)]
    found, outputs = flatten(stacked_results(func, [func(*unflatten(one, structure), **kwargs)], out_dims))
    places = spread(out_dims, outputs)
    return unflatten([leaf if dim is None else leaf.narrow(dim, 0, 0) for leaf, dim in zip(found, places)], outputs)


def stacked_results(func, results, out_dims):
    """The outputs of all examples, side by side along `out_dims`."""
    rows = [flatten(result) for result in results]
    structure = rows[0][1]
    for leaf in rows[0][0]:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name_of(func)}, ...): `{name_of(func)}` must only return Tensors, got type {type(leaf)}. "
                "Did you mean to set out_dims= to None for output?"
            )
    dims = spread(out_dims, structure)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {spec_text(flatten(out_dims)[1])} but outputs has "
            f"structure {spec_text(structure)}."
        )
    columns = zip(*[leaves for leaves, _ in rows])
    return unflatten([column[0] if dim is None else stacked_along(column, dim) for column, dim in zip(columns, dims)],
                     structure)


def stacked_along(tensors, dim):
    return registry["stack"](list(tensors), dim)
