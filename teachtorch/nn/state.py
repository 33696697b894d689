"""state_dict and load_state_dict: a module's parameters and buffers by path, out and in again.

Subclasses may override `_save_to_state_dict` and `_load_from_state_dict`, which handle one module without its children,
and `get_extra_state` and `set_extra_state` for a state that is no tensor. `_version` is saved in the `_metadata`.
https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict
"""
import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ..autograd.grad_mode import no_grad
from ..core.hooks import RemovableHandle
from ..tensor import Tensor
from .parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"
NO_OP_ON_META = (
    "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is "
    "a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their corresponding key "
    "in the module instead of copying them in place?)")


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class LoadHook:
    """A load_state_dict pre-hook, called with its module first if it has one; pickles and copies with the module."""

    def __init__(self, hook, module=None):
        self.hook, self.with_module = hook, module is not None
        self.module = None if module is None else weakref.ref(module)

    def __call__(self, *args):
        if not self.with_module:
            return self.hook(*args)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self):
        return {"hook": self.hook, "module": self.module() if self.with_module else None}

    def __setstate__(self, state):
        self.__init__(state["hook"], state["module"])


class Stateful:
    """The part of Module that gives out and takes in its state."""

    # ---- out --------------------------------------------------------------------------------------------------

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """{path: tensor} of parameters and persistent buffers, own ones before children's.

        The tensors are detached aliases of the live ones, not copies; `keep_vars` gives the Parameters themselves.
        """
        if args:
            warnings.warn("Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/"
                          "main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                          FutureWarning, stacklevel=2)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return self._run_state_dict_hooks(destination, prefix, local)

    def _run_state_dict_hooks(self, destination, prefix, local):
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            if changed is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = changed
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Put this module's own state, without its children's, under `prefix`."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if self._defines("get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self):
        """This module's own parameters and persistent buffers by name."""
        kept = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        return {n: v for n, v in {**self._parameters, **kept}.items() if v is not None}

    def _defines(self, name):
        return getattr(type(self), name) is not getattr(Stateful, name)

    def get_extra_state(self):
        """What else state_dict saves of this module; subclasses that have some define it."""
        raise RuntimeError("Module.get_extra_state() was called, but this module does not define it")

    def set_extra_state(self, state):
        """Take back what get_extra_state gave."""
        raise RuntimeError("Module.set_extra_state() was called, but this module does not define it")

    # ---- in ---------------------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy a state into this module, in place and in this module's dtypes (`assign`: take its tensors over).

        Returns (missing_keys, unexpected_keys). RuntimeError lists every key that is missing or unexpected (if
        `strict`) and every size mismatch (always).
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}
        found = _IncompatibleKeys(missing, unexpected)
        self._load_tree(OrderedDict(state_dict), "", metadata, assign, found, errors)
        if strict:
            errors[:0] = [f"{kind} key(s) in state_dict: {quoted(keys)}. "
                          for kind, keys in (("Missing", missing), ("Unexpected", unexpected)) if keys]
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return found

    def _load_tree(self, state_dict, prefix, metadata, assign, found, errors):
        """Load this module, then its children, each from the entries under its own prefix."""
        local = metadata.get(prefix[:-1], {})
        if assign:
            local["assign_to_params_buffers"] = assign
        self._load_from_state_dict(state_dict, prefix, local, True, *found, errors)
        for name, child in self._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                below = {k: v for k, v in state_dict.items() if k.startswith(start)}
                child._load_tree(below, start, metadata, assign, found, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, found) is not None:
                raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                                     "to return new values, if incompatible_keys need to be modified, it should be "
                                     "done inplace.")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        """Load this module's own state, without its children's, and note the keys and errors found on the way."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_one(key, name, value, state_dict[key], assign)
                error_msgs += [] if error is None else [error]
            elif strict:
                missing_keys.append(key)
        self._load_extra_state(state_dict, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys += [key for key in state_dict if self._is_unexpected(key, prefix, own)]

    def _load_one(self, key, name, value, new, assign):
        """Load one entry; returns what is wrong with it, or None."""
        if not isinstance(new, Tensor):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(new)}")
        if is_lazy(value) and is_lazy(new):
            return None
        if value.dim() == 0 and new.shape == (1,):           # as PyTorch 0.3 saved scalars
            new = new[0]
        if new.shape != value.shape:
            return (f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in "
                    f"current model is {value.shape}.")
        if value.is_meta and not new.is_meta and not assign:
            warnings.warn(NO_OP_ON_META.format(key), stacklevel=2)
        try:
            with no_grad():
                self._take(name, value, new) if assign else value.copy_(new)
        except Exception as error:
            return (f'While copying the parameter named "{key}", whose dimensions in the model are {value.size()} and '
                    f"whose dimensions in the checkpoint are {new.size()}, an exception occurred : {error.args}.")
        return None

    def _take(self, name, value, new):
        """Put `new` in the place of `value`; a parameter's requires_grad stays as it was."""
        if isinstance(value, Parameter):
            if isinstance(new, Parameter):
                new.requires_grad_(value.requires_grad)
            else:
                new = Parameter(new, requires_grad=value.requires_grad)
        setattr(self, name, new)

    def _load_extra_state(self, state_dict, key, strict, missing_keys, unexpected_keys):
        if self._defines("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _is_unexpected(self, key, prefix, own):
        """Whether a key under this module's prefix is neither its own nor, by its next part, a child's."""
        if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
            return False
        first, dot, _ = key[len(prefix):].partition(".")
        return first not in (self._modules if dot else own)

    # ---- hooks ------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook):
        """Call hook(module, prefix, keep_vars) before state_dict collects."""
        return RemovableHandle.add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Call hook(module, state_dict, prefix, local_metadata) after state_dict has collected; it changes in place."""
        hook._from_public_api = True
        return RemovableHandle.add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        """As above, but a dict that the hook returns becomes the result."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously "
                               "registered via register_state_dict_post_hook")
        return RemovableHandle.add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        before this module is loaded; it may change all of them in place."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return RemovableHandle.add(self._load_state_dict_pre_hooks, LoadHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook):
        """Call hook(module, incompatible_keys) after this module was loaded; it may change the keys in place."""
        return RemovableHandle.add(self._load_state_dict_post_hooks, hook)


def quoted(keys):
    return ", ".join(f'"{key}"' for key in keys)
