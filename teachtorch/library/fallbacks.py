"""One function for every operator: a boxed fallback of a dispatch key."""
from ..dispatch import operator as dispatch
from ..dispatch.torch_function import as_written
from ..ops.namespaces import overload_of


def set_fallback(key, function, with_keyset=False):
    """Let function(overload, *args, **kwargs) serve `key` where an operator has no kernel of its own; with_keyset:
    function(keys, overload, ...). `fallthrough_kernel` takes the key out again."""
    if function is fallthrough_kernel:
        dispatch.makers.pop(key, None)
    else:
        dispatch.makers[key] = lambda op: boxed(op, function, with_keyset)
    for op in dispatch.registry.values():
        op._chosen.clear()


def boxed(op, function, with_keyset):
    """The fallback as a kernel of one operator."""
    if op.info is None:
        return None

    def kernel(keys, *args):
        positional, keywords = as_written(op.info.signature, args)
        first = (keys,) if with_keyset else ()
        return function(*first, overload_of(op, args), *positional, **keywords)
    return kernel


def fallthrough_kernel(*args, **kwargs):
    """A mark: the key is skipped (torch.library.fallthrough_kernel)."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")
