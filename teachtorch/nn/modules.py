"""The modules' files under PyTorch's name for their folder: `nn.modules.linear.Linear` is `nn.Linear`."""
from . import activation, container, dropout, linear, loss, module, normalization, sparse  # noqa: F401
from .module import Module  # noqa: F401
