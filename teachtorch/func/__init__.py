"""Functions of functions: grad, vjp, jvp, jacrev, jacfwd, hessian, vmap, functional_call (torch.func).

PyTorch interprets a function once per transform, with levels of wrapped tensors. Here the transforms use what is there:
`grad`, `vjp` and `jacrev` record and run backward, `jvp` and `jacfwd` use forward mode, `vmap` loops. They nest.
https://pytorch.org/docs/stable/func.html
"""
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state  # noqa: F401
from .transforms import (grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad,  # noqa: F401
                         vjp)
from .vectorize import vmap  # noqa: F401

__all__ = ["grad", "grad_and_value", "value_and_grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "vmap",
           "functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]
