"""Kernels for CUDA, from the same one-element functions as the CPU's (kernels/scalar.py, kernels/codegen.py).

    source.py         one-element functions as CUDA device functions; the fold of a block, written once
    grid.py           how many threads and blocks, on a GPU and in Numba's simulator
    arrays.py         Strided: what a kernel gets of a tensor
    pointwise.py      one element at a time, with broadcasting and strides
    reduce.py         a tree in shared memory, then across blocks
    softmax.py        softmax and log_softmax, forward and backward, one block per row
    normalization.py  layer norm, batch norm
    picking.py        gather, scatter_add (atomics)
    optim.py          fused optimizer steps
    matmul.py         naive and tiled products

They need the package numba-cuda (`pip install teachtorch[cuda]`) and a GPU, or Numba's simulator
(NUMBA_ENABLE_CUDASIM=1), which runs every thread as a Python thread: slow, but exact in what it computes.
These kernels have been run in the simulator alone. What it cannot show: whether a missing barrier loses (it
usually does not), how memory accesses coalesce, how long anything takes.
"""
