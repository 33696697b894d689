"""The gradients of convolutions as functions (torch.nn.grad), taken from the operators' own formulas."""
from ..autograd.api import grad
from ..autograd.grad_mode import enable_grad
from ..ops.declare import exports
from . import functional as F

zeros = exports[""]["zeros"]


def gradient_of(convolve, input, weight, wanted, grad_output, *options):
    """The gradient of one of the two, where the other's values alone matter."""
    with enable_grad():
        return grad(convolve(input, weight, None, *options), wanted, grad_output)[0]


def input_gradient(convolve):
    def conv_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        input = zeros(tuple(input_size), dtype=weight.dtype, device=weight.device, requires_grad=True)
        return gradient_of(convolve, input, weight, input, grad_output, stride, padding, dilation, groups)
    conv_input.__doc__ = "The gradient of the convolution's input, of shape `input_size`."
    return conv_input


def weight_gradient(convolve):
    def conv_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        weight = zeros(tuple(weight_size), dtype=input.dtype, device=input.device, requires_grad=True)
        return gradient_of(convolve, input, weight, weight, grad_output, stride, padding, dilation, groups)
    conv_weight.__doc__ = "The gradient of the convolution's weight, of shape `weight_size`."
    return conv_weight


conv1d_input, conv1d_weight = input_gradient(F.conv1d), weight_gradient(F.conv1d)
conv2d_input, conv2d_weight = input_gradient(F.conv2d), weight_gradient(F.conv2d)
conv3d_input, conv3d_weight = input_gradient(F.conv3d), weight_gradient(F.conv3d)
