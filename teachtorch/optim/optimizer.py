"""Optimizer: parameter groups, per-parameter state, step hooks and state dicts.

https://pytorch.org/docs/stable/optim.html#base-class
"""
import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from itertools import chain

from ..core import observer
from ..core.annotation import record_function
from ..core.hooks import RemovableHandle
from ..dispatch.state import set_grad_mode, state
from ..tensor import Tensor


class _RequiredParameter:
    """Stands for a default that every group must give itself."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
_global_pre_hooks, _global_post_hooks = OrderedDict(), OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Call hook(optimizer, args, kwargs) before each step of every optimizer."""
    return RemovableHandle.add(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call hook(optimizer, args, kwargs) after each step of every optimizer."""
    return RemovableHandle.add(_global_post_hooks, hook)


# ---- what subclasses' step functions use -------------------------------------------------------------------

def updating(step):
    """Decorate a step: it runs without recording the graph, unless the optimizer is `differentiable`."""
    @functools.wraps(step)
    def switched(self, closure=None):
        before = state.grad_enabled
        set_grad_mode(self.defaults.get("differentiable", False))
        try:
            return step(self, closure)
        finally:
            set_grad_mode(before)
    return switched


def loss_of(closure):
    """What the closure, which recomputes the loss and its gradients, returns; None without one."""
    if closure is None:
        return None
    before = state.grad_enabled
    set_grad_mode(True)
    try:
        return closure()
    finally:
        set_grad_mode(before)


def number(value):
    """An option as a Python number; it may be given as a 1-element tensor."""
    return value.item() if isinstance(value, Tensor) else value


def with_hooks(step):
    """A class's step function, with the hooks before and after it, and a name in profiles."""
    @functools.wraps(step)
    def hooked(*args, **kwargs):
        if not observer.active:
            return with_hooks_called(*args, **kwargs)
        with record_function(f"Optimizer.step#{type(args[0]).__name__}.step"):
            return with_hooks_called(*args, **kwargs)

    def with_hooks_called(*args, **kwargs):       # the hooks see the optimizer as the first of the arguments
        self = args[0]
        if not (self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or _global_pre_hooks
                or _global_post_hooks):
            return step(*args, **kwargs)
        for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                args, kwargs = checked_arguments(changed, step)
        result = step(*args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
            hook(self, args, kwargs)
        return result
    hooked.hooked = True
    return hooked


def checked_arguments(changed, step):
    if not (isinstance(changed, tuple) and len(changed) == 2):
        raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), "
                           f"but got {changed}.")
    return changed


class Optimizer:
    """Base class. Subclasses define `step(closure=None)`.

    `params`: tensors, (name, tensor) pairs, or dicts with "params" and options of their own. `defaults`:
    options of groups that do not give them. ValueError for no parameters, for non-leaves and for parameters
    in two groups.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._make_hooks()
        self._wrap_step()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or "
                            "dicts, but got "
                            + params.type())
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hooks(self):
        self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = OrderedDict(), OrderedDict()
        self._optimizer_state_dict_pre_hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks = OrderedDict()

    def _wrap_step(self):
        """Put the hooks around the class's step, once for all its optimizers: users define step without them."""
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = with_hooks(cls.step)

    # ---- groups --------------------------------------------------------------------------------------------

    def add_param_group(self, param_group):
        """Add a dict with "params" and options; options left out take the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        param_group["params"] = as_list(param_group["params"])
        separate_names(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization "
                                 f"parameter {name}")
            param_group.setdefault(name, default)
        self._check_duplicates(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param):
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is "
                            f"{type(param).__name__}")
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_duplicates(self, group):
        ids = {id(p) for p in group["params"]}
        if len(ids) != len(group["params"]):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this "
                          "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                          "information", stacklevel=4)
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                which = "with names" if "param_names" in group else "without names"
                raise ValueError("all optimizer param groups should be with/without names. cannot add param "
                                 f"group {which} to the optimizer")
        if any(id(p) in ids for p in self._all_params()):
            raise ValueError("some parameters appear in more than one parameter group")

    def _all_params(self):
        return [p for group in self.param_groups for p in group["params"]]

    # ---- steps ---------------------------------------------------------------------------------------------

    def zero_grad(self, set_to_none=True):
        """Forget all gradients, or fill them with zeros."""
        with record_function(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none):
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad
                if grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                    grad.zero_()

    def step(self, closure=None):
        """Update every parameter that has a gradient. `closure`: recomputes loss and gradients; returns the loss."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook):
        """Call hook(optimizer, args, kwargs) before each step; (args, kwargs) that it returns replace step's.

        `args` starts with the optimizer itself.
        """
        return RemovableHandle.add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle.add(self._optimizer_step_post_hooks, hook)

    # ---- state ---------------------------------------------------------------------------------------------

    def state_dict(self):
        """{"state": {index: state}, "param_groups": groups with indices in place of parameters}.

        The state's tensors are the live ones, not copies.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        index = {}
        for p in self._all_params():
            index.setdefault(id(p), len(index))
        states = {index[id(p)] if isinstance(p, Tensor) else p: values for p, values in self.state.items()}
        found = {"state": states,
                 "param_groups": [packed(group, index) for group in self.param_groups]}
        return changed_by(self._optimizer_state_dict_post_hooks, self, found)

    def load_state_dict(self, state_dict):
        """Take over options and state, parameters matched by their order; tensors get their parameter's
        dtype.

        ValueError where the groups do not match; then nothing has changed.
        """
        state_dict = changed_by(self._optimizer_load_state_dict_pre_hooks, self, state_dict.copy())
        saved = copy.deepcopy(state_dict["param_groups"])
        check_groups(self.param_groups, saved)
        param_of = dict(zip(chain.from_iterable(g["params"] for g in saved), self._all_params()))
        loaded = defaultdict(dict)
        for key, values in state_dict["state"].items():
            param = param_of.get(key)
            if param is None:
                loaded[key] = values
            else:
                loaded[param] = fitted(values, param, saved_group(saved, key))
        groups = [{**kept_options(group, new), "params": group["params"]}
                  for group, new in zip(self.param_groups, saved)]
        self.__setstate__({"state": loaded, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hooks()
        self._wrap_step()
        self.defaults.setdefault("differentiable", False)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer) before state_dict collects."""
        return RemovableHandle.add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) on the result of state_dict; a dict it returns takes its place."""
        return RemovableHandle.add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) before loading; a dict it returns is loaded instead."""
        return RemovableHandle.add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer) after loading."""
        return RemovableHandle.add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


def as_list(params):
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering "
                        "of tensors in sets will change between runs. Please use a list instead.")
    return list(params)


def separate_names(group):
    """From (name, tensor) pairs to "params" and "param_names". ValueError if only some have names."""
    pairs = [p for p in group["params"] if isinstance(p, tuple)]
    if not pairs:
        return
    if len(pairs) != len(group["params"]):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["param_names"] = [name for name, _ in pairs]
    group["params"] = [param for _, param in pairs]


def packed(group, index):
    """A group with the parameters' numbers in place of the parameters."""
    options = {name: value for name, value in group.items() if name != "params"}
    return {**options, "params": [index[id(p)] for p in group["params"]]}


def changed_by(hooks, optimizer, state_dict):
    for hook in hooks.values():
        changed = hook(optimizer, state_dict)
        state_dict = state_dict if changed is None else changed
    return state_dict


def check_groups(groups, saved):
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(group["params"]) != len(new["params"]) for group, new in zip(groups, saved)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                         "optimizer's group")


def saved_group(groups, key):
    return next(group for group in groups if key in group["params"])


def kept_options(group, new):
    """The loaded options; the parameters' names stay if the loaded ones have none."""
    if "param_names" in group and "param_names" not in new:
        return {**new, "param_names": group["param_names"]}
    return new


def fitted(value, param, group, key=None):
    """A loaded state for `param`: tensors in its dtype and on its device, except a step count."""
    if isinstance(value, Tensor):
        if key == "step":
            return value.float() if group.get("capturable") or group.get("fused") else value
        return value.to(device=param.device, dtype=param.dtype if param.is_floating_point() else value.dtype)
    if isinstance(value, dict):
        return {name: fitted(v, param, group, name) for name, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(fitted(v, param, group) for v in value)
    return value
