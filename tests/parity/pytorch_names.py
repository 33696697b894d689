"""The public names of PyTorch, as teachtorch/cli/pytorch_names.txt lists them.

`python -m tests.parity.pytorch_names` writes the file from the PyTorch that is installed.
"""
import importlib
import inspect

from teachtorch.cli.names import LIST

SPACES = """
    torch torch.Tensor torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn
    torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.stateless
    torch.nn.parallel torch.nn.attention torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.utils
    torch.utils.data torch.utils.data.distributed torch.utils.checkpoint torch.utils.dlpack torch.autograd
    torch.autograd.functional torch.autograd.forward_ad torch.autograd.graph torch.special torch.linalg torch.func
    torch.fft torch.cuda torch.cuda.amp torch.random torch.amp torch.backends torch.backends.cuda
    torch.backends.cudnn torch.backends.mps torch.distributions torch.distributed torch.fx torch.jit torch.export
    torch.compiler torch.profiler torch.multiprocessing torch.accelerator torch.testing torch.types torch.version
    torch.library torch.overrides torch.sparse torch.serialization torch.hub
    torch.onnx torch.nested torch.masked torch.quantization torch.signal.windows torch.futures torch.package torch.cpu
    torch.mps torch.xpu torch.storage
""".split()
HEAD = """\
# The public names of PyTorch 2.13, by namespace: what `teachtorch coverage` takes for PyTorch's.
# Written by tests/parity/pytorch_names.py.
"""


def namespace(torch, space):
    if space == "torch.Tensor":
        return torch.Tensor
    return importlib.import_module(space)


def is_public(name, value):
    """Whether a name belongs to the interface: not private, not a helper that happened to be imported."""
    if name.startswith("_"):
        return False
    if inspect.ismodule(value):
        return value.__name__.startswith("torch.")
    home = getattr(value, "__module__", None) or "torch"
    return home.partition(".")[0] in ("torch", "builtins") and not (home == "builtins" and inspect.isfunction(value))


def public_names(torch, space):
    found = namespace(torch, space)
    return sorted(name for name in dir(found) if is_public(name, getattr(found, name, None)))


def listing(torch):
    """The text of the file."""
    lines = [HEAD]
    for space in SPACES:
        lines.append(f"{space}: {' '.join(public_names(torch, space))}\n")
    return "".join(lines)


def same_names(text):
    """A listing as {space: names}, to be compared whatever its layout."""
    return {line.partition(":")[0]: line.partition(":")[2].split() for line in text.splitlines()
            if line and not line.startswith("#")}


if __name__ == "__main__":
    import torch

    LIST.write_text(listing(torch), encoding="utf-8")
    print(f"wrote {LIST}")
