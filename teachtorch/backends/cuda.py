"""torch.backends.cuda: there is no CUDA in this build."""
from contextlib import contextmanager

from ..ops.attention import allowed as _allowed


class Switch:
    """Attributes that may be set and read."""


matmul = Switch()
matmul.allow_tf32 = False
matmul.allow_fp16_reduced_precision_reduction = True
matmul.allow_bf16_reduced_precision_reduction = True


def is_built():
    """Whether PyTorch's own CUDA kernels are in this build: no."""
    return False


def _pair(name):
    """The functions that switch one implementation of attention on and off, and that ask for it."""
    def enable(enabled):
        _allowed[name] = bool(enabled)

    def is_enabled():
        return _allowed[name]

    enable.__doc__ = f"Allow scaled_dot_product_attention its implementation `{name}`, or forbid it."
    is_enabled.__doc__ = f"Whether scaled_dot_product_attention may take its implementation `{name}`."
    return enable, is_enabled


enable_flash_sdp, flash_sdp_enabled = _pair("flash")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = _pair("mem_efficient")
enable_math_sdp, math_sdp_enabled = _pair("math")
enable_cudnn_sdp, cudnn_sdp_enabled = _pair("cudnn")


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The switches of attention for a block; the CPU has "flash" and "math"."""
    before = dict(_allowed)
    _allowed.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _allowed.update(before)
