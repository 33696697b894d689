"""A wrapper tensor: a matrix that is kept as int8 numbers and one scale for each row.

`Int8` has a shape, a dtype and no data; what it keeps are two ordinary tensors. `nn.functional.linear(x, w)` calls the
operators t and mm; __torch_dispatch__ answers them.
"""

import teachtorch as torch

aten = torch.ops.aten


def quantize(weight):
    """Return (numbers, scale) of a matrix: int8 of its shape, and floats of shape (rows, 1).

    The element of each row that is largest in magnitude becomes 127 or -127, the others are rounded:
    weight is nearly numbers * scale. No row is all zeros.
    """
    # solution
    scale = weight.abs().amax(dim=1, keepdim=True) / 127
    return (weight / scale).round().to(torch.int8), scale
    # end of solution


class Int8(torch.Tensor):
    """numbers: int8; scale: floats, of shape (rows, 1), or (1, columns) once transposed."""

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
        """Answer four operators; return NotImplemented for any other one.

        - aten.detach.default and aten.clone.default: an Int8 again, as detach or clone of both parts.
        - aten.t.default: an Int8 of the transposed matrix. Which shape has its scale?
        - aten.mm.default(x, w): x an ordinary tensor, w an Int8 whose scale has the shape (1, columns):
          x times the numbers, then times the scale.
        """
        # solution
        if func in (aten.detach.default, aten.clone.default, aten.t.default):
            w = args[0]
            return Int8(func(w.numbers), func(w.scale))
        if func is aten.mm.default:
            x, w = args
            return (x @ w.numbers.to(x.dtype)) * w.scale
        return NotImplemented
        # end of solution
