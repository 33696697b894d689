"""Operators on `cuda`: the kernels of kernels/cuda where there is one, else the CPU's kernel on copies.

    launch(op, ...) of ops/launch.py → launch_on_cuda
      a kernel of our own takes the operator and these dtypes  → it goes into the current stream
      no kernel does                                           → the host waits, copies, computes, copies back

The second way is slow, and always right (PyTorch has it for Apple's GPUs, PYTORCH_ENABLE_MPS_FALLBACK). The
observer's topic "stream" tells the two apart: the name of such a launch ends in " on the host".
`operators_with_kernels()` lists those of the first way; `teachtorch.ops[name].cuda` says it of one.

    launching.py   the choice between the two ways, and what all kernels of tensors use
    elements.py    one element at a time: pointwise operators, filling
    copies.py      copies into views: cat, stack, pads, triangles, the backwards of views
    rows.py        along dimensions: folds, extremes, running folds, softmax, losses
    picking.py     places that data choose: gather, scatter, index, embedding, classes
    norms.py       layer, batch and group norm
    products.py    matrix products and sums with them
    windows.py     convolutions, pools, columns
    draws.py       random numbers
    optim.py       optimizer steps, foreach

Kernels take bool, the integers and float32 and float64 (`takes`); 16-bit floats go over the host.
"""

from ...dispatch import keys as K
from ...dispatch.operator import makers
from ..launch import device_kernel, launchers
from . import copies, draws, elements, norms, optim, picking, products, rows, windows  # noqa: F401
from .launching import kernel_of, launch_on_cuda, native, operators_with_kernels

__all__ = ["kernel_of", "launch_on_cuda", "native", "operators_with_kernels"]

launchers["cuda"] = launch_on_cuda
makers[K.CUDA] = device_kernel
