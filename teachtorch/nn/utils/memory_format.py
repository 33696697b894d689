"""Giving the weights of convolutions another memory format."""
from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lay the weights of all Conv2d and ConvTranspose2d below `module` out in `memory_format`; returns the module."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Lay the weights of all Conv3d and ConvTranspose3d below `module` out in `memory_format`; returns the module."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))


def _convert(module, memory_format, kinds):
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)
    return module
