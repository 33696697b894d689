"""What a trace does not see: Python that asks a tensor for its numbers. Each place is warned of, with its line."""
import warnings
from contextlib import contextmanager

from ..fx.proxy import user_frame
from ..tensor import Tensor

ASKING = {"__bool__": "boolean", "__int__": "integer", "__index__": "index", "__float__": "float",
          "item": "number",
          "tolist": "list", "numpy": "NumPy array", "__iter__": "sequence of tensors", "__len__": "length"}
MESSAGE = ("Converting a tensor to a Python {} might cause the trace to be incorrect. We can't record the "
           "data flow of Python values, so this value will be treated as a constant in the future. This "
           "means that the trace might not generalize to other inputs!")
ITERATION = ("Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different "
             "shape won't change the number of iterations executed (and might lead to errors or silently "
             "give incorrect results).")


LENGTH = ("Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
          "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect "
          "results.")

OF_ITS_OWN = {"__iter__": ITERATION, "__len__": LENGTH}


class TracerWarning(Warning):
    """A trace may not hold for other inputs."""


def warn(message):
    """Warn at the user's line."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, TracerWarning, stacklevel=2)
    else:
        warnings.warn_explicit(message, TracerWarning, frame.filename, frame.lineno)


@contextmanager
def warning_of_lost_values(is_traced):
    """Within the block, asking a tensor for its numbers warns if `is_traced(tensor)`."""
    before = {name: getattr(Tensor, name) for name in ASKING if hasattr(Tensor, name)}
    asking = []                                  # bool() may ask item(): one question, one warning

    def noisy(name, method):
        def asked(self, *args, **kwargs):
            if not asking and is_traced(self):
                warn(OF_ITS_OWN.get(name) or MESSAGE.format(ASKING[name]))
            asking.append(name)
            try:
                return method(self, *args, **kwargs)
            finally:
                asking.pop()
        return asked
    try:
        for name, method in before.items():
            setattr(Tensor, name, noisy(name, method))
        yield
    finally:
        for name, method in before.items():
            setattr(Tensor, name, method)
