"""Folding a batch norm that only evaluates into the layer before it: both are affine maps of each channel."""
import copy

from ...ops.declare import exports
from ..parameter import Parameter

ones_like, rsqrt, zeros_like = [exports[""][name] for name in ("ones_like", "rsqrt", "zeros_like")]


def check_evaluating(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def statistics_of(bn):
    """The norm's tensors. AssertionError if it has no running statistics."""
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what `conv` and then `bn` do. AssertionError unless both evaluate.

    `transpose`: whether it is a transposed one.
    """
    check_evaluating(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, *statistics_of(bn), transpose)
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The fused (weight, bias) as Parameters; conv_b, bn_w and bn_b may be None."""
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    shape = [1, -1] if transpose else [-1, 1]
    shape += [1] * (conv_w.dim() - 2)
    return fused_weights(conv_w, conv_b, bn_rm, bn_w * rsqrt(bn_rv + bn_eps), bn_b, shape)


def fused_weights(weight, bias, mean, scale, shift, shape):
    """scale (W x + b - mean) + shift as one weight and one bias."""
    bias_dtype = weight.dtype if bias is None else bias.dtype
    trains_bias = bias is not None and bias.requires_grad
    bias = zeros_like(mean) if bias is None else bias
    fused_weight = (weight * scale.reshape(shape)).to(dtype=weight.dtype)
    fused_bias = ((bias - mean) * scale + shift).to(dtype=bias_dtype)
    return Parameter(fused_weight, weight.requires_grad), Parameter(fused_bias, trains_bias)


def fuse_linear_bn_eval(linear, bn):
    """A Linear that does what `linear` and then `bn` do. AssertionError unless both evaluate and their sizes fit."""
    check_evaluating(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
                             f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *statistics_of(bn))
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The fused (weight, bias) as Parameters; linear_b may be None."""
    return fused_weights(linear_w, linear_b, bn_rm, bn_w * rsqrt(bn_rv + bn_eps), bn_b, [-1, 1])
