"""DataParallel where there is no GPU: the module itself, called as it is, as in PyTorch."""
from ..module import Module


class DataParallel(Module):
    """Calls `module` with what it is called with; on several GPUs PyTorch would split the batch (`dim`) among them.

    The module is at `.module`, so that keys of the state dict begin with "module.".
    https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.device_ids, self.dim = module, [], dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """The function of the same: `module(*inputs)`."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
