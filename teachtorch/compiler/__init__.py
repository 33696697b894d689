"""torch.compile: capturing functions as graphs and running them as fused kernels.

    compiled.py     the function users call: guards, graphs captured so far, falling back
    environment.py  what a function reads besides its arguments, from its bytecode
    guards.py       the test whether a captured graph serves a call
    capture.py      running a function on tensors without data; every operator becomes a node
    partition.py    forward and backward apart; what is kept and what is computed again (training.py: as one
                    Function)
    lowering.py     operators taken apart into pointwise values and reductions (rules.py, ir.py, effects.py)
    fuse.py         which of them one kernel computes
    kernel_text.py  the kernel's source; launch.py runs it on arrays
    program.py      kernels and remaining calls as straight Python; backends.py: other ways to run a graph
    explain.py      what was captured, fused, or not, and why
"""
from .backends import list_backends
from .compiled import Compiled, OptimizedModule, Unsupported, compile, reset
from .explain import Explanation, explain, explanation_of

__all__ = ["Compiled", "Explanation", "OptimizedModule", "Unsupported", "compile", "explain",
           "explanation_of",
           "list_backends", "reset"]
