"""The inverse of max pooling, as far as there is one."""
import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..tensor import Tensor
from .declare import operator
from .fake import Fake
from .node_names import capital_dimensions
from .pooling_arguments import gathered, planes, refuse_dtype, spell


def check_unpool(shape, dtype, indices_shape, indices_dtype, output_size, count):
    """PyTorch's refusals of max_unpool2d and 3d (aten/src/ATen/native/MaxUnpooling.cpp)."""
    if indices_dtype is not dt.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {scalar_type_name(indices_dtype)}"
        )
    if len(output_size) != count:
        raise RuntimeError(
            f"There should be exactly {('two', 'three')[count - 2]} elements "
            f"({', '.join(('depth', 'height', 'width')[-count:])}) in output_size, but got "
            f"{len(output_size)} elements."
        )
    if len(shape) not in (count + 1, count + 2):
        raise RuntimeError(
            f"Input to max_unpooling{count}d should be a {count + 1}d or {count + 2}d Tensor, but got a "
            f"tensor with {len(shape)} dimensions."
        )
    if shape != indices_shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(shape)}) but got indices tensor with shape: {list(indices_shape)}"
        )
    refuse_dtype(dtype, f"max_unpool{count}d", False)


def declare_unpool(count):
    """Declare max_unpool{count}d."""
    name = f"max_unpool{count}d"

    def fake(self, indices, output_size):
        check_unpool(self._shape, self._dtype, indices._shape, indices._dtype, output_size, count)
        return Fake((*self._shape[:-count], *output_size), self._dtype)

    def forward(self, indices, output_size):
        check_unpool(self.shape, dt.from_numpy(self.dtype), indices.shape, dt.from_numpy(indices.dtype),
                     output_size, count)
        found = unpooled(planes(self, count), planes(indices, count), tuple(output_size))
        return found.reshape(*self.shape[:-count], *output_size)

    forward.__doc__ = "Zeros of `output_size`, with the input's elements at their indices."
    operator(name, spaces=(), out=False, format_of=("self",) if count == 2 else (), fake=fake,
             jvp=lambda self_t, indices, output_size: registry[name].call(self_t, indices, output_size),
             vjp={"self": lambda grad, indices: gathered(grad, indices, count)})(forward)
    capital_dimensions(name)


def unpooled(values, indices, space):
    """Planes of zeros with the values at their indices. RuntimeError for an index outside of `space`."""
    size = math.prod(space)
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        raise RuntimeError(
            f"Found an invalid max index: {indices[outside][0]} (output volumes are of size "
            f"{'x'.join(map(str, space))})"
        )
    found = np.zeros((values.shape[0], size), values.dtype)
    if values.size:
        np.put_along_axis(found, indices.reshape(len(found), -1), values.reshape(len(found), -1), 1)
    return found


for _count in (2, 3):
    declare_unpool(_count)


def unpool_size(input, kernel_size, stride, padding, output_size, count):
    """The space of the result: as large as `output_size` says, which must be near what the pool would undo."""
    kernel, stride, padding = [
        (v,) * count if isinstance(v, int) else tuple(v)
        for v in (kernel_size, kernel_size if stride is None or stride == [] else stride, padding)
    ]
    default = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(input._shape[-count:], kernel, stride, padding)]
    if output_size is None:
        return default
    if len(output_size) == count + 2:
        output_size = output_size[2:]
    if len(output_size) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for d, (size, wanted, step) in enumerate(zip(output_size, default, stride)):
        if not wanted - step < size < wanted + step:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {wanted - step} and '
                f"{wanted + step})"
            )
    return list(output_size)


UNPOOL_DOC = "The inverse of max pooling as far as there is one: the maxima at their `indices`, zeros elsewhere."


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 1)
    if not isinstance(indices, Tensor):
        raise TypeError("max_unpool1d(): argument 'indices' must be Tensor")
    found = registry["max_unpool2d"].call(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return found.squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 2)
    return registry["max_unpool2d"].call(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 3)
    return registry["max_unpool3d"].call(input, indices, size)


for _function in (max_unpool1d, max_unpool2d, max_unpool3d):
    spell(_function, _function.__name__, UNPOOL_DOC, ("nn.functional",))
