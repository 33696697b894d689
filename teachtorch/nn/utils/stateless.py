"""functional_call under its first name (torch.nn.utils.stateless)."""
import warnings

from ...func import modules


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Deprecated: the same as func.functional_call."""
    warnings.warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
                  "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
                  "replacement.", FutureWarning, stacklevel=2)
    return modules.functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
