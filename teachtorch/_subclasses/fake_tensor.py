"""FakeTensor: shape, strides, dtype and device of a real tensor, without its data.

    with FakeTensorMode() as mode:
        x = torch.ones(4096, 4096, device="cuda")      no GPU, no memory
        y = x @ x                                      a FakeTensor on cuda:0

A meta tensor knows no device; a FakeTensor is a wrapper of a meta tensor that does. An operator runs on the meta
tensors (its fake rule), and the results are wrapped again, once the devices have been checked. What needs a value has
no answer: DataDependentOutputException; neither has a result whose size depends on values:
DynamicOutputShapeException. torch/_subclasses/fake_tensor.py. There an item() can also become a symbol, and operators
without a rule can be run on zeros; not here.
"""
import weakref

from ..core import device as devices
from ..core import settings
from ..core.device import as_device
from ..dispatch import keys as K
from ..dispatch.data_dependence import DataDependentSizeError
from ..dispatch.overriding import disabled_torch_function
from ..memory.storage import UntypedStorage
from ..ops.torch_dispatch import TorchDispatchMode, is_factory
from ..tensor import Tensor, meta_tensor, stride_of
from ..utils._pytree import tree_flatten, tree_map, tree_map_only

ITEM = "aten._local_scalar_dense.default"
DYNAMIC_SHAPE = frozenset(("nonzero", "masked_select", "unique", "unique_dim", "unique_consecutive", "bincount"))
# Operators that take tensors of several devices: the first one's device is the result's.
ACROSS_DEVICES = frozenset(("copy_", "index", "index_put", "index_put_"))
MOST_CONSTANT_ELEMENTS = 1


class _OfOperator(RuntimeError):
    """What an operator cannot do without data. `func`: the operator."""

    def __init__(self, func):
        super().__init__(str(func))
        self.func = func


class DataDependentOutputException(_OfOperator):
    """An operator returns a value of the data, which is not there. `func`: the operator."""


class DynamicOutputShapeException(_OfOperator):
    """The result's shape depends on the data. `func`: the operator."""


class UnsupportedOperatorException(_OfOperator):
    """An operator without a rule for tensors without data. `func`: the operator."""


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor that cannot be faked."""


class FakeTensorDeviceMismatchError(RuntimeError):
    """Tensors of two devices meet in one operator."""


# ---- the tensor --------------------------------------------------------------------------------------------

class NoData(UntypedStorage):
    """The storage of a FakeTensor: it has a size, and whoever reads it asks for a value of the data."""

    __slots__ = ()

    def __init__(self, device, nbytes):
        super().__init__(None, device, nbytes)

    @property
    def buffer(self):
        raise DataDependentOutputException(ITEM)

    @buffer.setter
    def buffer(self, value):
        """There is none to set."""

    def data_ptr(self):
        return 0


class FakeTensor(Tensor):
    """A tensor without data that claims a device. Made by a FakeTensorMode.

    `meta`: the meta tensor behind it; `fake_mode`: who made it; `constant`: the real tensor, for single numbers that
    were written out in the program, whose value is known after all; else None.
    """

    __torch_function__ = classmethod(disabled_torch_function)

    @staticmethod
    def __new__(cls, fake_mode, meta, device, constant=None, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls, meta.shape, strides=meta.stride(), storage_offset=meta.storage_offset(), dtype=meta.dtype,
            device=device, requires_grad=requires_grad,
        )

    def __init__(self, fake_mode, meta, device, constant=None, requires_grad=False):
        self.fake_mode, self.meta, self.constant = fake_mode, meta, constant
        self._storage = NoData(self._device, self._storage.nbytes())

    @property
    def fake_device(self):
        """The device it claims to be on."""
        return self.device

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        mode = next(t for t in tree_flatten((args, kwargs or {}))[0] if isinstance(t, FakeTensor)).fake_mode
        return mode.dispatch(func, args, kwargs or {})

    def item(self):
        """The value of a constant. DataDependentOutputException for anything else."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        if self.constant is None:
            raise DataDependentOutputException(ITEM)
        return self.constant.item()

    def tolist(self):
        return self.item() if self.ndim == 0 else [part.tolist() for part in self]

    def numpy(self, *, force=False):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def data_ptr(self):
        return 0

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        return self.item().__index__()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            made = FakeTensor(self.fake_mode, like(self.meta), self.device, self.constant, self.requires_grad)
            memo[id(self)] = mark_parameter(made, self)
        return memo[id(self)]

    def __repr__(self, *, tensor_contents=None):
        shown = f"FakeTensor(..., {', '.join(self._described())})"
        return f"Parameter({shown})" if getattr(self, "_is_param", False) else shown

    __str__ = __repr__

    def _described(self):
        if self.device != devices.CPU:
            yield f"device='{self.device}'"
        yield f"size={tuple(self.shape)}"
        if self.dtype is not settings.default_dtype:
            yield f"dtype={self.dtype}"
        if self.grad_fn is not None:
            yield f"grad_fn=<{self.grad_fn.name()}>"
        elif self.requires_grad:
            yield "requires_grad=True"


def mark_parameter(made, t):
    if getattr(t, "_is_param", False):
        made._is_param = True
    return made


def like(t):
    """A meta tensor of the same geometry."""
    return meta_tensor(t._shape, t._dtype, stride_of(t))


# ---- the mode ----------------------------------------------------------------------------------------------

class FakeTensorMode(TorchDispatchMode):
    """In its block factories make FakeTensors; operators on FakeTensors work out shapes, in the block or outside.

    Args:
        allow_non_fake_inputs: turn real tensors that meet fake ones into fake ones, instead of refusing them.
    """

    def __init__(self, *, allow_non_fake_inputs=False):
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self._known = {}                        # id of a real tensor -> (weak reference to it, its FakeTensor)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.dispatch(func, args, kwargs or {})

    def from_tensor(self, tensor, *, static_shapes=None, source=None):
        """The FakeTensor of a real tensor: the same one each time for the same tensor."""
        found = self._known.get(id(tensor))
        if found is None or found[0]() is not tensor:
            fake = FakeTensor(self, like(tensor), tensor.device, requires_grad=tensor.requires_grad)
            mark_parameter(fake, tensor)
            found = self._known[id(tensor)] = weakref.ref(tensor), fake
        return found[1]

    # ---- one operator --------------------------------------------------------------------------------------

    def dispatch(self, func, args, kwargs):
        """The results of an operator, as FakeTensors."""
        if is_factory(func):
            return self.fresh(func, args, kwargs)
        args, kwargs = tree_map(lambda a: self.admitted(a, func, args, kwargs), (args, kwargs))
        fakes = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, FakeTensor)]
        refuse_data_dependence(func, args)
        known = self.of_constants(func, fakes, args, kwargs)
        if known is not None:
            return known
        device, args, kwargs = device_of_result(func, fakes, args, kwargs)
        found = on_meta(func, args, kwargs)
        behind = {id(t.meta): t for t in fakes}
        return tree_map_only(Tensor, lambda t: self.wrapped(t, device, behind), found)

    def fresh(self, func, args, kwargs):
        """What a factory makes, or what was made of data."""
        if func._op.name == "lift_fresh":
            real = args[0]
            is_constant = real.numel() <= MOST_CONSTANT_ELEMENTS and not real.is_meta
            return FakeTensor(self, like(real), real.device, real if is_constant else None, real.requires_grad)
        device = kwargs.get("device") or devices.CPU
        made = func(*args, **{**kwargs, "device": "meta", "pin_memory": False})
        return FakeTensor(self, made, as_device(device))

    def admitted(self, a, func, args, kwargs):
        """An argument, real tensors made fake if that is allowed."""
        if not isinstance(a, Tensor):
            return a
        if isinstance(a, FakeTensor):
            if a.fake_mode is not self:
                raise AssertionError(f"Mixing fake modes NYI x.fake_mode={a.fake_mode} vs self={self}")
            return a
        if not self.allow_non_fake_inputs:
            raise AssertionError("Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                                 f"'allow_non_fake_inputs'. Found in {rendered(func, args, kwargs)}")
        return self.from_tensor(a)

    def of_constants(self, func, fakes, args, kwargs):
        """The result where all tensors are constants and it is small; what changes in place is a constant no more."""
        if func._op.name.endswith("_"):
            args[0].constant = None
            return None
        if not fakes or any(t.constant is None for t in fakes) or func._op.name == "_to_copy":
            return None
        found = func(*tree_map_only(FakeTensor, lambda t: t.constant, args),
                     **tree_map_only(FakeTensor, lambda t: t.constant, kwargs))
        if not isinstance(found, Tensor) or found.numel() > MOST_CONSTANT_ELEMENTS:
            return None
        return FakeTensor(self, like(found), found.device, found)

    def wrapped(self, t, device, behind):
        """A result: the argument itself if that was changed, else a new FakeTensor."""
        if id(t) not in behind:
            return FakeTensor(self, t, device)
        changed = behind[id(t)]
        changed._shape, changed._stride = t._shape, stride_of(t)
        return changed


def on_meta(func, args, kwargs):
    """Run an operator on the meta tensors. UnsupportedOperatorException if it has no rule for them."""
    args, kwargs = tree_map_only(FakeTensor, lambda t: t.meta, (args, kwargs))
    if func._op.service(K.META)[0] == "fallthrough":
        raise UnsupportedOperatorException(func)
    try:
        return func(*args, **kwargs)
    except DataDependentSizeError as error:
        raise DynamicOutputShapeException(func) from error
    except NotImplementedError as error:
        raise UnsupportedOperatorException(func) from error


def refuse_data_dependence(func, args):
    """The operators whose result, or its size, the data decides."""
    name = func._op.name
    if name in DYNAMIC_SHAPE:
        raise DynamicOutputShapeException(func)
    if name in ("index", "index_put", "index_put_"):
        indices = [t for t in tree_flatten(args[1])[0] if isinstance(t, Tensor)]
        if name == "index" and any(str(t.dtype) in ("torch.bool", "torch.uint8") for t in indices):
            raise DynamicOutputShapeException("aten.nonzero.default")


def rendered(func, args, kwargs):
    """A call as text: "aten.add.Tensor(FakeTensor(..., size=(2, 3)), tensor([...], size=(2, 3)))"."""
    def one(a):
        if isinstance(a, Tensor) and not isinstance(a, FakeTensor):
            return f"tensor([...], size={tuple(a.shape)})" if a.ndim else f"{a.detach()!r}"[:-1] + ", size=())"
        return repr(a)
    return f"{func}({', '.join([*map(one, args), *[f'{k}={one(v)}' for k, v in kwargs.items()]])})"


# ---- devices -----------------------------------------------------------------------------------------------

def device_of_result(func, fakes, args, kwargs):
    """(device, args, kwargs): where the results are; an explicit device is replaced by meta."""
    if func._op.name == "_to_copy":
        asked = args[2] if len(args) > 2 else kwargs.get("device")
        device = fakes[0].device if asked is None else as_device(asked)
        return (
            device,
            [*args[:2], devices.device("meta"), *args[3:]],
            {k: v for k, v in kwargs.items() if k != "device"},
        )
    if getattr(func._op.info, "kind", None) == "like":
        asked = kwargs.get("device")
        kept = {k: v for k, v in kwargs.items() if k not in ("device", "pin_memory")}
        return fakes[0].device if asked is None else as_device(asked), args, kept
    return common_device(func, fakes), args, kwargs


def common_device(func, fakes):
    """The device of all tensors; numbers on the CPU (0-dim tensors) go with any. FakeTensorDeviceMismatchError."""
    if func._op.name in ACROSS_DEVICES:
        return fakes[0].device
    found = None
    for t in sorted(fakes, key=lambda t: t.ndim == 0 and t.device == devices.CPU):
        if found is None:
            found = t.device
        elif t.device != found and not (t.ndim == 0 and t.device == devices.CPU):
            raise FakeTensorDeviceMismatchError("Expected all tensors to be on the same device, but found at least two "
                                                f"devices, {found} and {t.device}!")
    return found
