"""Optimizer: parameter groups, per-parameter state, step hooks and state dicts.

https://pytorch.org/docs/stable/optim.html#base-class
"""
import copy
from collections import OrderedDict, defaultdict

from ..autograd.grad_mode import enable_grad, no_grad
from ..core.hooks import RemovableHandle
from ..tensor import Tensor

REQUIRED = object()


class Optimizer:
    """Base class. Subclasses define `_update(group)`, which runs under no_grad once per group and step.

    `params`: tensors, (name, tensor) pairs, or dicts with "params" and options of their own.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._step_pre_hooks = OrderedDict()
        self._step_post_hooks = OrderedDict()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Add a dict with "params" and options; options left out take the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                            "tensors in sets will change between runs. Please use a list instead.")
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and isinstance(params[0], tuple):
            group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        group["params"] = [self._checked(param) for param in params]
        for name, default in self.defaults.items():
            if default is REQUIRED and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        if len({id(p) for p in group["params"]}) != len(group["params"]):
            raise ValueError("some parameters appear in more than one parameter group or twice in one")
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    @staticmethod
    def _checked(param):
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
        if not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
        return param

    def zero_grad(self, set_to_none=True):
        """Forget all gradients, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                meta = p._meta
                if meta is None or meta.grad is None:
                    continue
                if set_to_none:
                    meta.grad = None
                else:
                    meta.grad = meta.grad.detach()
                    meta.grad.zero_()

    def step(self, closure=None):
        """Update every parameter that has a gradient. `closure`: recomputes and returns the loss."""
        for hook in tuple(self._step_pre_hooks.values()):
            hook(self, (closure,) if closure is not None else (), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        for hook in tuple(self._step_post_hooks.values()):
            hook(self, (closure,) if closure is not None else (), {})
        return loss

    def _update(self, group):
        raise NotImplementedError

    def register_step_pre_hook(self, hook):
        """Call hook(optimizer, args, kwargs) before each step."""
        return RemovableHandle.add(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle.add(self._step_post_hooks, hook)

    def state_dict(self):
        """{"state": {index: state}, "param_groups": groups with indices in place of parameters}."""
        index = {id(p): i for i, p in enumerate(self._all_params())}
        groups = [{k: v for k, v in group.items() if k != "params"} | {"params": [index[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        state = {index[id(p)]: dict(values) for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Take over options and state. ValueError where the groups do not match."""
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        param_of = dict(zip([i for s in saved for i in s["params"]], self._all_params()))
        self.state = defaultdict(dict)
        for i, values in state_dict["state"].items():
            self.state[param_of[i]] = {k: fitted(k, v, param_of[i]) for k, v in values.items()}
        for group, new in zip(groups, saved):
            group.update({k: v for k, v in new.items() if k != "params"})

    def _all_params(self):
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines + [")"])


def fitted(key, value, param):
    """A loaded state value: tensors take the parameter's dtype (except the step count) and are copied."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    if key != "step" and param.is_floating_point() and value.is_floating_point():
        return value.to(param.dtype, copy=True)
    return value.clone()
