"""Switches of the libraries that PyTorch computes with (torch.backends), so that scripts may set and ask them.

None of these libraries is used here: `is_available()` and `is_built()` say so, and what is set has no effect.
https://docs.pytorch.org/docs/stable/backends.html
"""
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum  # noqa: F401
