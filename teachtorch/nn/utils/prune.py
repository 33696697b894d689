"""Pruning: a parameter times a mask of zeros and ones (torch.nn.utils.prune).

A method replaces the parameter `weight` by `weight_orig` and the buffer `weight_mask`; a forward pre-hook sets `weight`
to their product. Pruning a second time puts both methods in a PruningContainer, which prunes what the first left.
https://pytorch.org/docs/stable/nn.html#torch.nn.utils.prune.BasePruningMethod
"""
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ...ops.declare import exports
from .convert_parameters import parameters_to_vector

kthvalue, ones_like, rand, rand_like, topk, zeros_like = [exports[""][name] for name in (
    "kthvalue", "ones_like", "rand", "rand_like", "topk", "zeros_like")]


class BasePruningMethod(ABC):
    """The hook, and how its mask is computed. Subclasses define compute_mask and PRUNING_TYPE: "unstructured" for
    single elements, "structured" for slices along `dim`, or "global"."""

    _tensor_name: str             # set by apply

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask, on top of `default_mask`, for importance scores `t`, usually the parameter itself."""

    def apply_mask(self, module):
        """The pruned tensor."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune the parameter `name` of a module; returns the method that is now registered as its hook."""
        earlier = take_methods(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if earlier is not None:
            method = combined(earlier, method)
        scores = checked_scores(module, name, getattr(module, name), importance_scores)
        method._install(module, name, scores)
        return method

    def _install(self, module, name, scores):
        is_first = not isinstance(self, PruningContainer)
        if is_first:
            original = getattr(module, name)
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            before = ones_like(original)
        else:
            before = getattr(module, name + "_mask").detach().clone()
        try:
            module.register_buffer(name + "_mask", self.compute_mask(scores, default_mask=before))
            setattr(module, name, self.apply_mask(module))
            module.register_forward_pre_hook(self)
        except Exception:
            if is_first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor, without any module."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{importance_scores.shape} vs {t.shape}")
        scores = t if importance_scores is None else importance_scores
        default_mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """Make the pruned values the parameter again; the hook stays for the caller to remove."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def take_methods(module, name):
    """The pruning method that is registered on that parameter, whose hook is removed; None if there is none."""
    found = [(key, hook) for key, hook in module._forward_pre_hooks.items() if prunes(hook, name)]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                             "PruningContainer.")
    for key, _ in found:
        del module._forward_pre_hooks[key]
    return found[0][1] if found else None


def prunes(hook, name):
    return isinstance(hook, BasePruningMethod) and hook._tensor_name == name


def combined(earlier, method):
    container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
    container.add_pruning_method(method)
    return container


def checked_scores(module, name, original, scores):
    if scores is None:
        return original
    if scores.shape != original.shape:
        raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got "
                             f"{scores.shape} vs {original.shape}")
    return scores


class PruningContainer(BasePruningMethod):
    """Several methods on one parameter; each prunes what those before it left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method for the same parameter. TypeError or ValueError for anything else."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                             f"PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The last method's mask, on what `default_mask` leaves."""
        method = self._pruning_methods[-1]
        where = left_over(method, default_mask, t.dim())
        mask = default_mask.to(dtype=t.dtype).clone()
        mask[where] = method.compute_mask(t[where], default_mask=default_mask[where]).to(dtype=mask.dtype)
        return mask


def left_over(method, mask, dims):
    """The index of what a method may still prune."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    where = [slice(None)] * dims
    if method.PRUNING_TYPE == "structured":
        dim = pruned_dim(method, dims)
        where[dim] = mask.sum([d for d in range(dims) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(where)


def pruned_dim(method, dims):
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    if method.dim < -dims:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {dims}")
    return method.dim if method.dim >= 0 else method.dim + dims


# ---- the methods ----------------------------------------------------------------------------------------------------

class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class _ByAmount(BasePruningMethod):
    """What prunes an `amount`: a number of units, or a fraction of them."""

    def __init__(self, amount):
        check_amount(amount)
        self.amount = amount

    def _count(self, size):
        """How many of `size` units go. ValueError if there are not so many."""
        count = self.amount if isinstance(self.amount, numbers.Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


def check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_count = isinstance(amount, numbers.Integral)
    if amount < 0 or not is_count and amount > 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


class _Unstructured(_ByAmount):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._count(t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _chosen(self, t, count):
        return topk(rand_like(t).view(-1), count).indices

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements of smallest magnitude."""

    def _chosen(self, t, count):
        return topk(t.abs().view(-1), count, largest=False).indices

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_ByAmount):
    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        kept = self._kept(t, size, count)
        if not count:
            return default_mask
        mask = zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


def check_structured(t, dim):
    if t.dim() <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {t.dim()} dims")
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


class RandomStructured(_Structured):
    """Prunes slices along `dim` at random."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t, size, count):
        if not count:
            return None
        draws = rand(size)
        return draws > kthvalue(draws, count).values

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along `dim` of smallest n-norm."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _kept(self, t, size, count):
        dim = self.dim % t.dim()
        return topk(t.norm(self.n, [d for d in range(t.dim()) if d != dim]), size - count).indices

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape "
                                 f"{self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


# ---- for users ------------------------------------------------------------------------------------------------------

def identity(module, name):
    """Prune nothing, but install mask and hook; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune an amount (a count, or a fraction) of elements at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the amount of elements with the smallest magnitude (or score); returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune an amount of slices along `dim` at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the amount of slices along `dim` with the smallest n-norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prune where `mask` is 0; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune the elements of several parameters, (module, name) pairs, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [getattr(module, name) for module, name in parameters]
    masks = [getattr(module, name + "_mask", ones_like(value)) for (module, name), value in zip(parameters, values)]
    container = one_method(pruning_method, kwargs)
    final = container.compute_mask(parameters_to_vector([scores.get(k, v) for k, v in zip(parameters, values)]),
                                   parameters_to_vector(masks))
    start = 0
    for (module, name), value in zip(parameters, values):
        custom_from_mask(module, name, final[start:start + value.numel()].view_as(value))
        start += value.numel()


def one_method(pruning_method, kwargs):
    """A container of one unstructured method that belongs to no parameter. TypeError for other types."""
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    method._tensor_name = "temp"
    return PruningContainer(method)


def remove(module, name):
    """Make the pruned values the parameter for good; returns the module. ValueError if it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if prunes(hook, name):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a parameter of the module or of one below it is pruned."""
    return any(isinstance(hook, BasePruningMethod)
               for part in module.modules() for hook in part._forward_pre_hooks.values())
