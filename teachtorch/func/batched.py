"""What depends on the example of a vmap is marked, so that Python cannot look into it: PyTorch's vmap sees all examples
at once, and no number, branch or size could be right for all of them.

    the example's tensors carry the key FuncTorch  →  its kernel runs the operator below, and marks the results
    item(), bool(), tolist() ... of a marked tensor  →  refused, in PyTorch's words
"""
from ..dispatch import keys as K
from ..dispatch.batched import DYNAMIC, MASK, is_batched
from ..dispatch.nested import tensors_in
from ..dispatch.operator import COMPOSITE_IMPLICIT, makers
from ..dispatch.state import excluding

# Operators whose result has a size that the data decide, by the names PyTorch gives them.
DYNAMIC_SIZES = {"nonzero": "nonzero", "unique": "_unique2", "unique_dim": "unique_dim",
                 "unique_consecutive": "unique_consecutive"}
BELOW = K.FUNCTORCH - 1


def mark(found):
    """Tensors that depend on the example."""
    for t in tensors_in(found if isinstance(found, (tuple, list)) else [found]):
        t._keys |= K.FUNCTORCH


def unmark(leaf):
    """What leaves the map is like any other tensor."""
    leaf._keys &= ~K.FUNCTORCH
    return leaf


def batched_kernel(op):
    """The kernel of an operator under the key FuncTorch; None for a composition, whose parts are looked at."""
    if op.info is None or COMPOSITE_IMPLICIT in op.kernels and len(op.kernels) == 1:
        return None

    def batched(keys, *args):
        refuse(op.name, args)
        with excluding(K.FUNCTORCH):
            found = op.redispatch(keys & BELOW, *args)
        mark(found)
        return found
    return batched


makers[K.FUNCTORCH] = batched_kernel


def refuse(name, args):
    """RuntimeError for an operator that would give each example a result of another size."""
    if name in DYNAMIC_SIZES:
        raise RuntimeError(DYNAMIC.format(DYNAMIC_SIZES[name]))
    if name == "one_hot" and args[1] == -1:
        raise RuntimeError("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes "
                           "argument.")
    if name == "masked_select":
        raise RuntimeError(MASK)
    if name == "index" and any([is_batched(t) and t.dtype.name in ("bool", "uint8") for t in tensors_in(args[1:])]):
        raise RuntimeError("vmap: We do not support batching operators that can support dynamic shape. Attempting to "
                           "batch over indexing with a boolean mask.")
