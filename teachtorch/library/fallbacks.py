"""One function for every operator: a boxed fallback of a dispatch key."""
from ..dispatch import operator as dispatch
from ..dispatch.keys import name_of
from ..dispatch.torch_function import as_written
from ..ops.namespaces import overload_of

_replaced = {}                               # key with a fallback -> the maker of its kernels before, or None


def set_fallback(key, function, with_keyset=False):
    """Let function(overload, *args, **kwargs) serve `key` where an operator has no kernel of its own;
    with_keyset: function(keys, overload, ...). RuntimeError if a function serves the key already."""
    if key in _replaced:
        raise RuntimeError("Tried to register multiple backend fallbacks for the same dispatch key "
                           f"{name_of(key)}; take the previous one back first, by the _destroy() of its "
                           "Library")
    _replaced[key] = dispatch.makers.get(key)
    serve(key, None if function is fallthrough_kernel else maker_of(function, with_keyset))


def maker_of(function, with_keyset):
    """What makes the fallback a kernel of each operator."""
    def make(op):
        return boxed(op, function, with_keyset)
    make.is_fallback = True
    return make


def remove_fallback(key):
    """What served the key before serves it again."""
    serve(key, _replaced.pop(key))


def serve(key, maker):
    if maker is None:
        dispatch.makers.pop(key, None)
    else:
        dispatch.makers[key] = maker
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


def fallthrough_kernel():
    """A mark: the key is skipped (torch.library.fallthrough_kernel)."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")
