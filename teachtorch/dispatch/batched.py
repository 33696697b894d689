"""Tensors that depend on the example of a vmap (func/batched.py marks them), and what Python may not ask of them."""
from . import keys as K
from .state import state

ITEM = ("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
        "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
        "internals, please file a bug report.")
BRANCH = ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
          "that yet, please file an issue at https://github.com/pytorch/pytorch/issues .")
DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. "
           "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
MASK = ("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
        "each batch this would return a differently shaped Tensor. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature.")
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
ALLCLOSE = ("vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature.")
EQUAL = "Batching rule not implemented for aten::equal. We could not generate a fallback."


def is_batched(t):
    """Whether a tensor depends on the example of a vmap that is at work, and no operator's kernel is running."""
    return t._keys & K.FUNCTORCH & ~state.excluded and "vmap" in state.transforms


def refuse_batched(t, text):
    """RuntimeError if it does."""
    if t._keys & K.FUNCTORCH and is_batched(t):
        raise RuntimeError(text)
