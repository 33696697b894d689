"""The modules' files under PyTorch's name for their folder: `nn.modules.linear.Linear` is `nn.Linear`."""
from . import (activation, batchnorm, container, conv, dropout, linear, loss, module, normalization,  # noqa: F401
               padding, pooling, sparse, upsampling)
from .module import Module  # noqa: F401
