"""torch.nn.attention: which implementation of scaled dot-product attention runs, and masks made for it."""
import contextlib
import enum

from ...ops.attention import allowed
from . import bias  # noqa: F401

__all__ = ["SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """The implementations. On the CPU there are MATH, made of operators, and FLASH_ATTENTION, one operator."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self):
        return f"SDPBackend.{self.name}"


SWITCHES = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
            "mem_efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH,
            "overrideable": SDPBackend.OVERRIDEABLE}


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """In the block scaled_dot_product_attention uses only these implementations (an SDPBackend or a list of them).

    `set_priority`: taken as in PyTorch; with one fused implementation on the CPU there is no order to choose.
    AssertionError for other types. A call for which none of them serves is a RuntimeError.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")
    chosen = {backends} if isinstance(backends, SDPBackend) else set(backends)
    before = dict(allowed)
    allowed.update({name: backend in chosen for name, backend in SWITCHES.items()})
    try:
        yield {}
    finally:
        allowed.update(before)
