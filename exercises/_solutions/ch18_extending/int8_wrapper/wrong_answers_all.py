"""Answers every other operator with floats."""

import teachtorch as torch

FAILS = "test_others"
SAYS = "return NotImplemented"


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
            return Int8(func(w.numbers), func(w.scale))
        if func is aten.mm.default:
            x, w = args
            return (x @ w.numbers.to(x.dtype)) * w.scale
        return func(*[a.numbers * a.scale if type(a) is Int8 else a for a in args], **(kwargs or {}))
