"""Kernels for CUDA, from the same one-element functions as the CPU's (kernels/scalar.py, kernels/codegen.py).

    source.py         one-element functions as CUDA device functions; the fold of a block, written once
    grid.py           how many threads and blocks, on a GPU and in Numba's simulator; the launch
    direct.py         a launch on a GPU with little of the host's time
    arrays.py         Strided: what a kernel gets of a tensor
    pointwise.py      one element at a time, with broadcasting and strides
    walk.py           one thread per element of a shape: the frame of picking, windows, losses
    reduce.py         a tree in shared memory, then across blocks
    extremes.py       where the largest and the smallest element is
    scan.py           running sums, products, extremes
    softmax.py        softmax and log_softmax, forward and backward, one block per row
    normalization.py  layer norm, batch norm
    picking.py        gather, scatter, several index tensors, classes and their losses (atomics)
    windows.py        columns for convolutions, pools
    philox.py         random numbers from a counter
    optim.py          fused optimizer steps
    matmul.py         naive and tiled products
    gemm.py           a product for tensors: cuBLAS (cublas.py) where it is there, else the tiled one

They need the package numba-cuda (`pip install teachtorch[cuda]`) and a GPU, or Numba's simulator
(NUMBA_ENABLE_CUDASIM=1), which runs every thread as a Python thread: slow, but exact in what it computes.
These kernels have been run in the simulator alone, and compiled for a GPU (tests/gpu/compiled.py). What the
simulator cannot show: whether a missing barrier loses (it usually does not), how memory accesses coalesce, how
long anything takes. viz.threads shows the second from the addresses.
"""
