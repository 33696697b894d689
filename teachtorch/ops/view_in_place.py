"""Another geometry for the same tensor: views in place (`t_`, `squeeze_`), resize_ and set_."""

import copy

import numpy as np

from ..autograd.derivative import node_name
from ..autograd.meta import set_history, tracks
from ..autograd.node import InputMetadata
from ..autograd.operator_node import OperatorNode, collect_sources
from ..autograd.record import requires_grad_mask
from ..autograd.tensor_fields import bump_version
from ..autograd.views import check_inplace
from ..core import geometry
from ..core.dtype import CPP_NAMES, cpp_name, scalar_type_name
from ..core.layout import strides_in
from ..dispatch import keys as K
from ..dispatch.operator import COMPOSITE_EXPLICIT, Operator, registry
from ..dispatch.state import state
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from ..tensor import Tensor, resize_elements, storage_of
from .arguments import as_sizes
from .declare import bumping_kernel, publish
from .signature import positional
from .view import geometry_of


def inplace_geometry(name, node_number):
    """The in-place variant of a view: the tensor itself gets the new geometry."""
    of = registry[name]
    op = Operator(name + "_", of.info)
    function = positional(of.info.function, of.info.signature)

    def move(keys, self, *args):
        storage_of(self)
        self._shape, self._stride, self._offset = function(self, *args)
        self._array = None
        return self

    op.register(COMPOSITE_EXPLICIT, move)
    op.register(K.AD_INPLACE_OR_VIEW, bumping_kernel(op))
    derivatives = copy.copy(of.info.derivatives)
    base_name = node_name(name.partition(".")[0]).removesuffix("0")
    derivatives.node_class = type(base_name + node_number, (OperatorNode,),
                                  {"__slots__": (), "derivatives": derivatives})
    op.register(K.AUTOGRAD, moving_kernel(op, derivatives))
    return op


def moving_kernel(op, derivatives):
    """The Autograd kernel of an operator that changes the geometry: formulas want the one from before."""
    def autograd(keys, self, *args):
        mask = requires_grad_mask(derivatives.positions, (self,)) if state.grad_enabled else 0
        if not mask:
            return op.redispatch(keys & K.BELOW_AUTOGRAD, self, *args)
        check_inplace(self)
        plan = derivatives.plan(mask)
        node = derivatives.node_class(plan, *collect_sources(derivatives.positions, (self,)))
        node.saved = plan.save((self, *args), ())
        op.redispatch(keys & K.BELOW_AUTOGRAD, self, *args)
        node.input_metadata = [InputMetadata(self)]
        set_history(self, node)
        if self._view is not None:
            # No element changed: the base's history is as it was.
            self._view.version = self._counter.value
        return self
    return autograd


def publish_inplace(op, public):
    """Publish the method; the declared view knows it as its in-place variant."""
    public.__name__ = public.__qualname__ = op.name
    public.__doc__ = f"In-place version of `{op.info.name}`: the tensor gets the new geometry; no data moves."
    op.info.public_inplace = publish(op.name, public, ("Tensor",))


_transpose_, _t_ = inplace_geometry("transpose", "1"), inplace_geometry("t", "1")
_unsqueeze_, _as_strided_ = inplace_geometry("unsqueeze", "1"), inplace_geometry("as_strided", "1")
_squeezes_ = [inplace_geometry("squeeze", "3"), inplace_geometry("squeeze.dim", "4"),
              inplace_geometry("squeeze.dims", "5")]

publish_inplace(_t_, lambda self: _t_(self))
publish_inplace(_transpose_, lambda self, dim0, dim1: _transpose_(self, dim0, dim1))


def swapdims_(self, dim0, dim1):
    """Another name of `transpose_`."""
    return _transpose_(self, dim0, dim1)


def swapaxes_(self, axis0, axis1):
    """Another name of `transpose_`."""
    return _transpose_(self, axis0, axis1)


publish("swapdims_", swapdims_, ("Tensor",))
publish("swapaxes_", swapaxes_, ("Tensor",))
publish_inplace(_unsqueeze_, lambda self, dim: _unsqueeze_(self, dim))
publish_inplace(_as_strided_, lambda self, size, stride, storage_offset=None: _as_strided_(
    self, size, stride, storage_offset))


def squeeze_(self, dim=None):
    """In-place version of `squeeze`: this tensor gets the new geometry; no data moves."""
    if dim is None:
        return _squeezes_[0](self)
    return _squeezes_[2 if isinstance(dim, (tuple, list)) else 1](self, dim)


publish("squeeze_", squeeze_, ("Tensor",))
for _op in _squeezes_:
    _op.info.public_inplace = squeeze_


def resize_(self, *sizes, memory_format=None):
    """Give this tensor other sizes, contiguous; the storage grows if it must, without being initialised.

    RuntimeError for tensors that require grad.
    """
    if tracks(self):
        raise RuntimeError("cannot resize variables that require grad")
    size = as_sizes(sizes, "resize_")
    if min(size, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if size == self._shape and memory_format is None:
        return self
    resize_elements(self, size, strides_in(memory_format, size))
    bump_version(self)
    return self


def resize_as_(self, the_template, *, memory_format=None):
    """Resize this tensor to the sizes of another."""
    return self.resize_(the_template._shape)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Make this tensor look at another tensor's elements, or at a storage with the given geometry."""
    if state.grad_enabled:
        check_inplace(self)
    if isinstance(source, TypedStorage):
        source = untyped_for(self, source)
    if isinstance(source, Tensor) and size is None:
        if source._dtype is not self._dtype:
            raise RuntimeError("Could not set tensor of type "
                               f"{cpp_name(source._dtype)} to a tensor of type {cpp_name(self._dtype)}")
        storage, shape, steps, offset = storage_of(source), *geometry_of(source)
    else:
        storage = storage_of(source) if isinstance(source, Tensor) else source or empty_storage(self._device)
        shape = (storage.nbytes() // self._dtype.itemsize,) if size is None else tuple(size)
        steps = geometry.contiguous_strides(shape) if stride is None else tuple(stride)
        offset = storage_offset
        geometry.as_strided(shape, steps, offset, storage.nbytes(), self._dtype.itemsize)
    self._storage, self._shape, self._stride, self._offset, self._array = storage, shape, steps, offset, None
    bump_version(self)
    return self


def untyped_for(t, typed):
    """A TypedStorage's bytes. RuntimeError if its elements are not of the tensor's dtype."""
    if typed.dtype is not t._dtype:
        raise RuntimeError(f"Expected a Storage of type {CPP_NAMES[t._dtype.name]} or an UntypedStorage, but got type "
                           f"{scalar_type_name(typed.dtype)} for argument 1 'storage'")
    return typed.untyped()


def empty_storage(device):
    return UntypedStorage(np.empty(0, np.uint8), device)


for function in (resize_, resize_as_, set_):
    publish(function.__name__, function, ("Tensor",))
