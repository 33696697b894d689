"""Parametrization: a parameter that is computed, at every access, from another one.

    register_parametrization(layer, "weight", Symmetric())

moves the Parameter to `layer.parametrizations.weight.original`, which the optimizer trains, and makes `layer.weight` a
property: reading it calls Symmetric on the original, assigning to it stores what `right_inverse` gives. A property
belongs to a class, so the module gets a class of its own, `ParametrizedLinear`.
https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
"""
import copyreg
from collections.abc import Sequence
from contextlib import contextmanager
from copy import deepcopy

from ...autograd.grad_mode import no_grad
from ...tensor import Tensor
from ..container import ModuleDict, ModuleList
from ..parameter import Parameter

_cache = {}                     # (id of the module, tensor name) -> the computed tensor, inside cached()
_cache_depth = 0


@contextmanager
def cached():
    """Compute each parametrized tensor once for the whole block, however often it is read. Blocks nest."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


# ---- the list of parametrizations on one tensor ---------------------------------------------------------------------

class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, called one after another, and the tensor or tensors they start from.

    `original` holds what the last right_inverse gave; `original0`, `original1`, ... if that was a sequence.
    ValueError if the result has another shape or dtype than `original` had, unless `unsafe`.
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._first_inverse(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check_result(shape, dtype)

    def _first_inverse(self, original):
        """What the right_inverses make of the tensor; a parametrization without one passes it on."""
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        continue
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                             f"Got {type(new).__name__}")
        return new

    def _keep_one(self, original, new):
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(new, what):
                raise ValueError(f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                                 f"original.{what}: {getattr(original, what)}\n"
                                 f"right_inverse(original).{what}: {getattr(new, what)}")
        replace(original, new)
        register(self, "original", original)

    def _keep_several(self, original, new):
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                                 f"Got element {i} of the sequence with type {type(tensor).__name__}.")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            register(self, f"original{i}", tensor)

    def _check_result(self, shape, dtype):
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if before != after:
                raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless "
                                 f"`unsafe` flag is enabled.\nunparametrized {what}: {before}\n"
                                 f"parametrized {what}: {after}")

    def right_inverse(self, value):
        """Store the original (or originals) from which the parametrizations make `value`.

        RuntimeError if a parametrization has no right_inverse; ValueError for a result of another kind than before.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._store_one(value)
            else:
                self._store_several(value)

    def _store_one(self, value):
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has "
                             f"dtype {self.original.dtype}")
        replace(self.original, value)

    def _store_several(self, values):
        if not isinstance(values, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}.")
        if len(values) != self.ntensors:
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                             f"sequence of length {len(values)}.")
        for i, value in enumerate(values):
            self._store_part(i, value)

    def _store_part(self, i, value):
        original = getattr(self, f"original{i}")
        if not isinstance(value, Tensor):
            raise ValueError("'right_inverse' must return a sequence of tensors or reference-type opaques. Got "
                             f"element {i} of type {type(value).__name__}.")
        if original.dtype != value.dtype:
            raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {value.dtype} while `original{i}` "
                             f"has dtype {original.dtype}")
        replace(original, value)

    def _originals(self):
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self):
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def replace(tensor, new):
    """Let `tensor` look at the memory of `new`; it stays the object that the optimizer holds."""
    if tensor is not new:
        with no_grad():
            tensor.set_(new.detach())


def register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


# ---- the module's own class -----------------------------------------------------------------------------------------

def _refuse_pickling(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                       "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                       "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _deepcopy(self, memo):
    """A copy of the same class, made without __getstate__, which refuses."""
    if id(self) in memo:
        return memo[id(self)]
    replica = memo[id(self)] = self.__new__(type(self))
    replica.__dict__ = deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(type(self)):
        if hasattr(self, slot):
            setattr(replica, slot, deepcopy(getattr(self, slot), memo))
    return replica


def _give_own_class(module):
    cls = type(module)
    fields = {"__getstate__": _refuse_pickling}
    if not hasattr(cls, "__deepcopy__"):
        fields["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), fields)


def _add_property(module, name):
    def get(self):
        if not _cache_depth:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set))


# ---- for users ------------------------------------------------------------------------------------------------------

def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Compute `module.tensor_name`, a parameter or buffer, by the module `parametrization`; returns `module`.

    A second one on the same tensor is called on the first one's result. `right_inverse` of the parametrization, if it
    has one, gives the original from a value. `unsafe`: do not check that shape and dtype stay as they were.
    ValueError if they change or the module has no such tensor.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        _register_first(module, tensor_name, ParametrizationList([parametrization], original, unsafe))
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _register_first(module, tensor_name, parametrizations):
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _give_own_class(module)
        module.parametrizations = ModuleDict()
    _add_property(module, tensor_name)
    module.parametrizations[tensor_name] = parametrizations


def _check_another(module, tensor_name, parametrization):
    """Refuse a further parametrization that changes dtype or shape, forward or back."""
    value = getattr(module, tensor_name)
    result = parametrization(value)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what in ("dtype", "shape"):
        before, after = getattr(value, what), getattr(result, what)
        if before != after:
            raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless the "
                             f"`unsafe` flag is enabled.\nmodule.{tensor_name}.{what}: {before}\n"
                             f"parametrization(module.{tensor_name}).{what}: {after}")
    if hasattr(parametrization, "right_inverse"):
        _check_inverse(tensor_name, value, parametrization, result)


def _check_inverse(tensor_name, value, parametrization, result):
    try:
        inverse = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}")
    for what in ("dtype", "shape"):
        before, after = getattr(value, what), getattr(inverse, what)
        if before != after:
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                             f"module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
                             f"module.{tensor_name}.{what}: {before}\nreturned {what}: {after}")


def is_parametrized(module, tensor_name=None):
    """Whether the module has a parametrization, or has one on that tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Make `module.tensor_name` an ordinary parameter again; returns `module`.

    It gets the computed value, or, unless `leave_parametrized`, the original. ValueError if it is not parametrized, or
    if the original would be several tensors.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    tensor = _left_over(module, tensor_name, leave_parametrized)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def _left_over(module, tensor_name, leave_parametrized):
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                replace(original, getattr(module, tensor_name))
        return original
    if not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    value = getattr(module, tensor_name)
    return Parameter(value) if value.requires_grad else value


def type_before_parametrizations(module):
    """The module's class, or the one it had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Parametrize `to_module` as `from_module` is, on one tensor or all, with its originals; returns `to_module`."""
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        given = from_module.parametrizations[name]
        for parametrization in given:
            register_parametrization(to_module, name, parametrization)
        for key, original in [*given._parameters.items(), *given._buffers.items()]:
            setattr(to_module.parametrizations[name], key, original)
    return to_module
