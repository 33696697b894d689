"""Questions about tensors, dtypes and shapes, which need no kernel; and the defaults of factories."""
from ..core import device as devices
from ..core import promotion, settings
from ..core.once import warn_once
from ..dispatch.wrong_types import require_tensor
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from ..tensor import Size, Tensor, array_of, storage_of, stride_of
from .creation import legacy_types
from .declare import publish


def is_tensor(obj):
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def numel(input):
    """The number of elements."""
    return input.numel()


def result_type(tensor1, tensor2):
    """The dtype that an arithmetic operator of the two (tensors or numbers) would compute in."""
    dtypes = [None, None, None]
    for value in (tensor1, tensor2):
        is_one = isinstance(value, Tensor)
        which = (0 if value._shape else 1) if is_one else 2
        new = value._dtype if is_one else promotion.dtype_of_number(value)
        dtypes[which] = new if dtypes[which] is None else promotion.promote_types(dtypes[which], new)
    return promotion.combine(*dtypes)


def sizes_of(shape):
    if not isinstance(shape, (tuple, list)):
        raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    return shape


def broadcast_shapes(*shapes):
    """The shape that all shapes (tuples or ints) broadcast to. RuntimeError where they do not, ValueError for a
    negative size."""
    shapes = [(s,) if isinstance(s, int) else tuple(sizes_of(s)) for s in shapes]
    result = []
    for place, shape in enumerate(shapes):
        result = [1] * (len(shape) - len(result)) + result
        for dim in range(-1, -len(shape) - 1, -1):
            if shape[dim] == 1 or shape[dim] == result[dim]:
                continue
            if result[dim] == 1 and shape[dim] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if result[dim] != 1:
                raise RuntimeError(f"Attempting to broadcast a dimension of length {shape[dim]} at {dim}! "
                                   f"Mismatching argument at index {place} had {shape}; but expected shape "
                                   f"should be broadcastable to {result}")
            result[dim] = shape[dim]
    return Size(result)


def set_default_tensor_type(t):
    """Deprecated: make the dtype of a legacy type the default one. TypeError for what is no type of floats."""
    warn_once("default type", "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
                              "torch.set_default_dtype() and torch.set_default_device() as alternatives.")
    if isinstance(t, str):
        t = legacy_types.get(t.removeprefix("torch."))
    if t not in legacy_types.values():
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    settings.set_default_dtype(t.dtype)


def is_floating_point(input):
    """Whether the dtype is floating."""
    return input._dtype.is_floating_point


def is_complex(input):
    """Whether the dtype is complex: never."""
    require_tensor("is_complex", input)
    return False


def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input._dtype.is_signed


def is_inference(input):
    """Whether the tensor was made under inference_mode."""
    return input.is_inference()


def is_nonzero(input):
    """Whether the only element is not zero. RuntimeError for another number of elements."""
    require_tensor("is_nonzero", input)
    return bool(input)


def is_same_size(input, other):
    """Whether two tensors have one shape."""
    return input._shape == other._shape


def is_conj(input):
    """Whether a complex conjugation is pending: never."""
    require_tensor("is_conj", input)
    return False


def is_neg(input):
    """Whether a negation is pending: never."""
    require_tensor("is_neg", input)
    return False


def is_distributed(input):
    """Always False, as in PyTorch."""
    require_tensor("is_distributed", input)
    return False


def get_device(input):
    """The device's index, -1 on the CPU."""
    return input.get_device()


def is_storage(obj):
    """Whether `obj` is a storage."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def typename(obj):
    """The name of the object's type; of a tensor such as "torch.FloatTensor"."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = type(obj).__module__
    return type(obj).__name__ if module == "builtins" else f"{module}.{type(obj).__name__}"


def is_set_to(self, tensor):
    """Whether both look at the same elements of one storage in the same way."""
    ours, theirs = [(t._shape, stride_of(t), t._offset) for t in (self, tensor)]
    return storage_of(self) is storage_of(tensor) and ours == theirs


def dim_order(self, *, ambiguity_check=False):
    """The dimensions in the order of memory, the one with the largest stride first.

    `ambiguity_check`: RuntimeError where the strides fit more than one order.
    """
    stride = stride_of(self)
    if ambiguity_check and len(self._shape) > 1 and (1 in self._shape or len(set(stride)) < len(stride)):
        raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory "
                           "formats.")
    return tuple(sorted(range(len(stride)), key=lambda dim: -stride[dim]))


def sum_to_size(self, *size):
    """The sum over what broadcasting to this tensor's shape would have repeated."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    added = len(self._shape) - len(size)
    if added < 0 or any(n not in (1, have) for n, have in zip(size, self._shape[max(added, 0):])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self._shape)}}}.")
    if not size:
        return self.sum()
    repeated = [added + i for i, n in enumerate(size) if n == 1 and self._shape[added + i] != 1]
    summed = self.sum(tuple(repeated), keepdim=True) if repeated else self
    return summed.sum(tuple(range(added))) if added else summed


def apply_(self, callable):
    """Replace each element by `callable(element)`: slow, and for tensors without gradient only."""
    return mapped("apply_", self, self, lambda value, other: callable(value))


def map_(self, tensor, callable):
    """Replace each element by `callable(element, element of tensor)`: slow, and without gradient."""
    return mapped("map_", self, tensor, callable)


def mapped(name, target, other, function):
    if target.requires_grad:
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
                           "instead.")
    pairs = zip(array_of(target).ravel().tolist(), array_of(other.expand(target._shape)).ravel().tolist())
    found = target.new_tensor([function(a, b) for a, b in pairs])
    return target.copy_(found.reshape(target._shape))


def _assert(condition, message):
    """`assert condition, message` as a function, which a traced graph can hold (torch._assert)."""
    assert condition, message


for _function in (_assert, is_tensor, numel, result_type, broadcast_shapes, set_default_tensor_type, is_floating_point,
                  is_complex, is_signed, is_inference, is_nonzero, is_same_size, is_conj, is_neg, get_device,
                  is_distributed, is_storage, typename, settings.set_default_dtype,
                  settings.get_default_dtype, devices.set_default_device, devices.get_default_device,
                  promotion.promote_types, promotion.can_cast):
    publish(_function.__name__, _function, ("",))
for _function in (is_nonzero, is_same_size, is_conj, is_neg, is_distributed, is_set_to, dim_order,
                  sum_to_size, apply_, map_):
    publish(_function.__name__, _function, ("Tensor",))
for _name in ("detach", "detach_", "backward"):             # methods from autograd/, opened to subclasses
    publish(_name, vars(Tensor)[_name], ("Tensor",))
publish("const_data_ptr", Tensor.data_ptr, ("Tensor",))

# What no tensor is here.
for _name in ("is_quantized", "is_nested", "is_mkldnn", "is_sparse_csr", "is_xla", "is_mps", "is_xpu",
              "is_vulkan", "is_ipu", "is_maia", "is_mtia"):
    setattr(Tensor, _name, False)
Tensor.name = None
