"""A function's run, noted once and kept as a static graph: torch.jit.trace, save and load.

    traced = jit.trace(model, example)      # runs the model; every operator becomes a node
    print(traced.graph)                     # one line for each: types, shapes, where it came from
    print(traced.code)                      # the Python that the graph means
    jit.save(traced, "model.pt")            # a zip of text and raw bytes; jit.load needs no code of yours

`trace.py` notes a run, `sizes.py` the sizes that it asks for, `warn.py` tells what a trace cannot see, `graph.py` is
the graph as text, `module.py` what `trace` returns, `archive.py` the file, `freezing.py` what runs on it for
inference, `script.py` what is not here.

Tracing listens below autograd, as a TorchDispatchMode, while real operators run on the example's numbers. The
capture of `teachtorch.compile` runs on tensors without numbers and must stop where Python asks for one; a
trace is to go on, take the branch that these numbers lead to, and say so. torch.jit is deprecated in PyTorch,
which points to torch.compile and torch.export. https://pytorch.org/docs/stable/jit.html
"""
from .archive import load, save
from .freezing import freeze, optimize_for_inference
from .module import ScriptFunction, ScriptModule
from .script import (Attribute, Final, annotate, export, ignore, is_scripting, isinstance, script,
                     script_method, unused)
from .trace import TracingCheckError, is_tracing, trace, trace_module
from .warn import TracerWarning

__all__ = ["Attribute", "Final", "ScriptFunction", "ScriptModule", "TracerWarning", "TracingCheckError",
           "annotate",
           "export", "freeze", "ignore", "is_scripting", "is_tracing", "isinstance", "load",
           "optimize_for_inference",
           "save", "script", "script_method", "trace", "trace_module", "unused"]
