"""Automatic differentiation: the graph, the engine that walks it, and what records it. Knows no operator by name."""
from . import forward_ad, function, functional, graph, variable  # noqa: F401
from . import tensor_fields  # noqa: F401  (attaches requires_grad, grad, hooks ... to Tensor)
from . import mutation
from .anomaly_mode import detect_anomaly, is_anomaly_enabled, set_detect_anomaly  # noqa: F401
from .api import backward, grad  # noqa: F401
from .function import Function  # noqa: F401
from .variable import Variable  # noqa: F401
from .gradcheck import GradcheckError, gradcheck, gradgradcheck  # noqa: F401
from .grad_mode import (_unsafe_preserve_version_counter, enable_grad, inference_mode, is_grad_enabled,  # noqa: F401
                        is_inference_mode_enabled, is_multithreading_enabled, no_grad, set_grad_enabled,
                        set_multithreading_enabled)

graph.allow_mutation_on_saved_tensors = mutation.allow_mutation_on_saved_tensors
