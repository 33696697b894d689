"""Names that PyTorch keeps in its C++ module and that Python code reads there."""
from .dispatch.overriding import disabled_torch_function as _disabled_torch_function_impl  # noqa: F401
from .dispatch.torch_function import DisableTorchFunction, DisableTorchFunctionSubclass  # noqa: F401
from .ops.random import Generator  # noqa: F401
