"""Elements in another order: flip, roll, rot90."""

import numpy as np

from ..core import geometry
from ..dispatch.operator import registry
from .arguments import method_of_sizes, size_argument
from .declare import LINEAR, composite, operator, publish
from .fake import Fake, preserved_like, preserved_stride


def fake_flip(self, dims):
    geometry.wrap_dims(dims, len(self._shape))
    return preserved_like(self)


@operator("flip", jvp=LINEAR, out=False, spaces=(), fake=fake_flip,
          vjp={"self": lambda grad, dims: grad.flip(dims)})
def flip(self, dims):
    """The order of elements reversed along the dimensions."""
    dims = geometry.wrap_dims(dims, self.ndim)
    return np.copy(np.flip(self, dims) if self.ndim else self, order="K")


def torch_flip(input, dims):
    """The order of elements reversed along the dimensions."""
    return registry["flip"](input, size_argument(dims, "flip", "dims", 2))


registry["flip"].info.public = publish("flip", torch_flip, ("",))
publish("flip", method_of_sizes(registry["flip"], "dims", flip.__doc__), ("Tensor",))


@composite("fliplr")
def fliplr(self):
    """Columns in reversed order: dimension 1 flipped."""
    if len(self._shape) < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


@composite("flipud")
def flipud(self):
    """Rows in reversed order: dimension 0 flipped."""
    if not self._shape:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def roll_pairs(shape, shifts, dims):
    """(shifts, dims) as tuples of one length. Without dims there is one shift, of the flattened tensor."""
    shifts = tuple([geometry.as_int(shift, "shifts") for shift in as_tuple(shifts)])
    dims = () if dims is None else as_tuple(dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return shifts, tuple([geometry.wrap_dim(d, len(shape)) for d in dims])


def fake_roll(self, shifts, dims=()):
    roll_pairs(self._shape, shifts, dims)
    return Fake(self._shape, self._dtype)


@operator("roll", jvp=LINEAR, out=False, fake=fake_roll, vjp={"self": lambda grad, shifts, dims: grad.roll(
    tuple([-s for s in as_tuple(shifts)]), dims)})
def roll(self, shifts, dims=()):
    """Elements shifted along the dimensions; those pushed out at the end come in at the start."""
    shifts, dims = roll_pairs(self.shape, shifts, dims)
    if not self.size:
        return self.copy()
    if not dims:
        return np.copy(np.roll(self, shifts[0]), order="C")
    for shift, dim in zip(shifts, dims):
        self = np.roll(self, shift, dim)
    return np.copy(self, order="C")


def check_rotation(shape, dims):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if len(shape) < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {len(shape)}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == len(shape):
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return [geometry.wrap_dim(d, len(shape)) for d in dims]


def fake_rot90(self, k=1, dims=(0, 1)):
    first, second = check_rotation(self._shape, dims)
    shape, stride = self._shape, preserved_stride(self)
    if k % 2:
        shape, stride, _ = geometry.transpose(shape, stride, 0, first, second)
    return Fake(shape, self._dtype, stride)


@operator("rot90", jvp=LINEAR, out=False, fake=fake_rot90,
          vjp={"self": lambda grad, k, dims: grad.rot90(-k, dims)})
def rot90(self, k=1, dims=(0, 1)):
    """The plane of two dimensions rotated by 90 degrees, k times, from the first towards the second."""
    return np.copy(np.rot90(self, k, check_rotation(self.shape, dims)), order="K")
