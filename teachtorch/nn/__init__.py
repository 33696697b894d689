"""Neural networks: modules, their parameters, and the functions they call."""
from . import functional, init  # noqa: F401
from .activation import *  # noqa: F401,F403
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential  # noqa: F401
from .linear import Flatten, Identity, Linear, Unflatten  # noqa: F401
from .loss import CrossEntropyLoss, NLLLoss  # noqa: F401
from .module import Module  # noqa: F401
from .parameter import Buffer, Parameter  # noqa: F401
