"""PyTorch's names and teachtorch's: what there is of a dotted name such as torch.nn.Linear, and what is nearest."""
import difflib
import functools
import importlib
import inspect
from pathlib import Path

LIST = Path(__file__).with_name("pytorch_names.txt")

# Complex numbers: no dtype, so none of what makes or names them either.
COMPLEX = ("torch.complex", "torch.complex32", "torch.complex64", "torch.complex128", "torch.chalf", "torch.cfloat",
           "torch.cdouble", "torch.polar", "torch.view_as_complex", "torch.Tensor.chalf", "torch.Tensor.cfloat",
           "torch.Tensor.cdouble")

# What to do instead, where that is no name that looks alike.
INSTEAD = {
    "torch.compile": "call the model as it is: everything runs eagerly",
    "torch.jit": "call the function as it is: everything runs eagerly",
    "torch.fx": "viz.graph(loss) shows the graph behind a result",
    "torch.export": "torch.save(model.state_dict(), path)",
    "torch.onnx": "torch.save(model.state_dict(), path)",
    "torch.hub": "torch.load of a downloaded state dict",
    "torch.profiler": "TEACHTORCH_LOG=dispatch,autograd prints each call",
    "torch.autograd.profiler": "TEACHTORCH_LOG=dispatch,autograd prints each call",
    "torch.utils.tensorboard": "print the numbers, or write a CSV file",
    "torch.quantization": "torch.bfloat16 or torch.float16",
    "torch.ao": "torch.bfloat16 or torch.float16",
    **dict.fromkeys(("torch.sparse_csr_tensor", "torch.sparse_csc_tensor", "torch.sparse_bsr_tensor"),
                    "torch.sparse_coo_tensor"),
    "torch.nested": "padding (torch.nn.utils.rnn.pad_sequence) and a mask",
    **dict.fromkeys(("torch.masked.masked_tensor", "torch.masked.as_masked_tensor", "torch.masked.MaskedTensor"),
                    "a tensor and its mask apart, as torch.masked's functions take them"),
    "torch.fft": "numpy.fft on tensor.numpy(), without gradients",
    "torch.stft": "Tensor.unfold and numpy.fft, without gradients",
    "torch.distributed": "torch.distributed's collectives, DistributedDataParallel, Join and ZeroRedundancyOptimizer",
    **dict.fromkeys(COMPLEX, "a pair of real tensors (there are no complex dtypes)"),
    "torch.xpu": "the CPU",
    "torch.mps": "the CPU",
}


def resolve(name):
    """What a dotted name beginning with `torch` stands for in teachtorch.

    Returns:
        (object, None), or (None, the shortest part of the name that is missing).
    """
    import teachtorch

    found, parts = teachtorch, name.split(".")
    for i, part in enumerate(parts[1:], start=1):
        try:
            found = member(found, part)
        except (AttributeError, ImportError):
            return None, ".".join(parts[: i + 1])
    return found, None


def member(parent, name):
    """An attribute, or a sub-module that nobody has imported yet."""
    try:
        return getattr(parent, name)
    except AttributeError:
        if not inspect.ismodule(parent):
            raise
        return importlib.import_module(f"{parent.__name__}.{name}")


def has(name):
    return resolve(name)[1] is None


@functools.cache
def pytorch_names():
    """{"torch.nn": {"Linear", ...}, ...}: the public names of PyTorch 2.13 that this file lists."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    entries = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {space: frozenset(names.split()) for space, _, names in entries}


def is_pytorchs(name):
    """Whether PyTorch has the name; None where the list does not say."""
    space, _, last = name.rpartition(".")
    if name in pytorch_names():
        return True
    if space not in pytorch_names():
        return None
    return last in pytorch_names()[space]


def nearest(name):
    """The nearest thing in teachtorch to a name that it lacks: advice or a name; None if there is nothing like it."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        advice = INSTEAD.get(".".join(parts[:length]))
        if advice:
            return advice
    return same_name_elsewhere(name) or alike_beside(name)


def same_name_elsewhere(name):
    """torch.nn.functional.tanh for torch.nn.tanh: the last word of the name, in another namespace."""
    space, _, last = name.rpartition(".")
    for other in ("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.utils", "torch.linalg",
                  "torch.special", "torch.optim", "torch.utils.data", "torch.autograd", "torch.func", "torch.amp"):
        if other != space and has(f"{other}.{last}"):
            return f"{other}.{last}"
    return None


def alike_beside(name):
    """A name in the same namespace that is spelt nearly the same."""
    space, _, last = name.rpartition(".")
    parent, missing = resolve(space) if space else (None, space)
    if missing is not None:
        return None
    there = [n for n in dir(parent) if not n.startswith("_")]
    close = difflib.get_close_matches(last, there, n=1, cutoff=0.8)
    return f"{space}.{close[0]}" if close else None


def sentence(name):
    """"teachtorch has no torch.xyz", with the nearest thing there is."""
    near = nearest(name)
    there = "" if near is None else f"; the nearest thing there is: {near}"
    slip = ", nor has PyTorch" if is_pytorchs(name) is False else ""
    return f"teachtorch has no {name}{slip}{there}"
