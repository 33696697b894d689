"""Making a module without filling its parameters."""
import inspect

from ..module import Module


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters and buffers hold whatever the memory held, made on the meta device first.

    RuntimeError for a class that is no Module or takes no `device`.
    https://pytorch.org/docs/stable/generated/torch.nn.utils.skip_init.html
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **{**kwargs, "device": "meta"}).to_empty(device=device)
