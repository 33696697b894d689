"""Process-wide settings: default dtype and device, and what TEACHTORCH_LOG asks for."""
import os

from . import dtype as dt

default_dtype = dt.float32
default_device = None           # None: the CPU; set by set_default_device and `with torch.device(...)`


def set_default_dtype(d):
    """Make `d` the dtype of new float tensors. TypeError unless floating, as in PyTorch."""
    global default_dtype
    if not isinstance(d, dt.dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    default_dtype = d


def get_default_dtype():
    """The dtype of floating tensors that name none."""
    return default_dtype


def log_topics():
    """The topics of TEACHTORCH_LOG, such as {"dispatch", "autograd"}."""
    return {topic.strip() for topic in os.environ.get("TEACHTORCH_LOG", "").split(",") if topic.strip()}
