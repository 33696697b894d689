"""Operators of one's own, on equal terms with ours: torch.library.

    @library.custom_op("mylib::scale", mutates_args=())
    def scale(x: Tensor, k: float) -> Tensor:
        return x * k

    scale.register_fake(lambda x, k: torch.empty_like(x))                    # shapes without data
    scale.register_autograd(lambda ctx, grad: (grad * ctx.k, None), setup_context=...)
    library.opcheck(scale, (x, 2.0))                                         # are the rules kept?

There is no triton_op: kernels of one's own are written with Numba or C++ (utils.cpp_extension). Effects of operators
(EffectType) are not told apart.

`schema.py` reads annotations and schemas, `user_operator.py` is the row of the dispatch table,
`custom_ops.py` and `definitions.py` are what users call. https://pytorch.org/docs/stable/library.html
"""
from .custom_ops import CustomOpDef, custom_op
from .definitions import (Library, define, get_kernel, impl, impl_abstract, register_autocast,
                          register_autograd, register_fake, register_kernel, register_torch_dispatch,
                          register_vmap)
from .fake_context import get_ctx
from .fallbacks import fallthrough_kernel
from .opcheck import OpCheckError, opcheck
from .schema import infer_schema

__all__ = ["CustomOpDef", "Library", "OpCheckError", "custom_op", "define", "fallthrough_kernel",
           "get_ctx", "get_kernel", "impl", "impl_abstract",
           "infer_schema", "opcheck", "register_autocast", "register_autograd", "register_fake", "register_kernel",
           "register_torch_dispatch", "register_vmap"]
