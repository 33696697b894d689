"""PyTorch's paths of the module classes: `nn.modules.linear.Linear` is `nn.Linear`.

PyTorch keeps its modules in a folder `nn/modules`, here they lie in `nn/` itself, partly under other file names. This
package makes every path of PyTorch importable; it holds no code of its own.
"""
import importlib
import sys
import types

# PyTorch's file -> the files here that hold its classes
FILES = {
    "activation": ("activation", "multihead_attention"), "adaptive": ("adaptive",),
    "batchnorm": ("batchnorm", "sync_batchnorm"), "channelshuffle": ("upsampling",), "container": ("container",),
    "conv": ("conv",), "distance": ("distance",), "dropout": ("dropout",), "flatten": ("linear",),
    "fold": ("upsampling",), "instancenorm": ("batchnorm",), "lazy": ("lazy",), "linear": ("linear", "bilinear"),
    "loss": ("loss", "loss_ranking"), "module": ("module",),
    "normalization": ("normalization", "batchnorm"), "padding": ("padding",), "pixelshuffle": ("upsampling",),
    "pooling": ("pooling",), "rnn": ("rnn",), "sparse": ("sparse",), "transformer": ("transformer",),
    "upsampling": ("upsampling",),
}


def under_pytorchs_name(name, files):
    """The one file itself, or a module that gathers the names of several."""
    parts = [importlib.import_module(f"..{file}", __name__) for file in files]
    if len(parts) == 1:
        return parts[0]
    gathered = types.ModuleType(f"{__name__}.{name}", f"The classes of PyTorch's nn/modules/{name}.py.")
    for part in reversed(parts):
        gathered.__dict__.update({key: value for key, value in vars(part).items() if not key.startswith("__")})
    return gathered


for _name, _files in FILES.items():
    _module = under_pytorchs_name(_name, _files)
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
    globals().update({key: value for key, value in vars(_module).items()
                      if isinstance(value, type) and value.__module__.startswith("teachtorch.nn.") and key[0] != "_"})
