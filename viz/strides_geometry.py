"""The geometry of a tensor: where in storage each element lives."""

from math import prod

from viz.strides_cells import holds, slot_of
from viz.tensors import dtype_name, has_values, number_text

CACHE_LINE = 64


class Geometry:
    """Sizes, strides and storage of a tensor, in elements, and its values slot by slot."""

    def __init__(self, tensor):
        self.shape, self.strides = tuple(tensor.shape), tuple(tensor.stride())
        self.offset, self.itemsize = tensor.storage_offset(), tensor.element_size()
        self.dtype, self.numel = dtype_name(tensor.dtype), prod(tensor.shape)
        self.slots = tensor.untyped_storage().nbytes() // self.itemsize
        readable = has_values(tensor) and self.slots
        self._flat = tensor.detach().as_strided((self.slots,), (1,), 0) if readable else None

    def value(self, slot):
        return "" if self._flat is None else number_text(self._flat[slot].item(), digits=3)

    def line(self, slot):
        """The cache line of a slot, counted from the start of the storage."""
        return slot * self.itemsize // CACHE_LINE

    def holds(self, slot):
        return holds(self.shape, self.strides, slot - self.offset)

    def slot(self, index):
        return slot_of(self.offset, self.strides, index)


def formula(geometry, index):
    """``offset 3 + 1*4 + 2*1 = 9``"""
    terms = [f"offset {geometry.offset}", *(f"{i}*{s}" for i, s in zip(index, geometry.strides, strict=True))]
    return " + ".join(terms) + f" = {geometry.slot(index)}"
