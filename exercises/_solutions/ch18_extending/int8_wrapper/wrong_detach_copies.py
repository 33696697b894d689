"""detach copies the numbers, as clone does."""

import teachtorch as torch

FAILS = "test_clone"
SAYS = "only clone copies"


aten = torch.ops.aten


def quantize(weight):
    scale = weight.abs().amax(dim=1, keepdim=True) / 127
    return (weight / scale).round().to(torch.int8), scale


class Int8(torch.Tensor):

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=scale.dtype)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    def __repr__(self):
        return f"Int8({tuple(self.shape)})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func in (aten.detach.default, aten.clone.default, aten.t.default):
            w = args[0]
            parts = w.numbers.clone(), w.scale.clone()
            return Int8(*parts if func is not aten.t.default else map(func, parts))
        if func is aten.mm.default:
            x, w = args
            return (x @ w.numbers.to(x.dtype)) * w.scale
        return NotImplemented
