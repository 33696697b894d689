"""Modules as functions of their parameters."""
import contextlib

from ..dispatch.operator import registry
from ..tensor import Tensor


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors in place of its parameters and buffers of those names.

    `parameter_and_buffer_dicts`: {"layer.weight": tensor} or several such dicts. `tie_weights`: a tensor given for one
    name serves for all names of the same parameter. `strict`: RuntimeError unless all are given, and no others.
    """
    given = merged(parameter_and_buffer_dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def merged(dicts):
    """One dict. ValueError where two give the same name; TypeError for something else."""
    if isinstance(dicts, dict):
        return dict(dicts)
    if not isinstance(dicts, (tuple, list)) or not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    found = {}
    for one in dicts:
        repeated = [name for name in one if name in found]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        found.update(one)
    return found


def slots_of(module):
    """{"layer.weight": (the module's dict that holds it, key)} of all parameters and buffers."""
    found = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for holder in (part._parameters, part._buffers):
            for key, value in holder.items():
                if value is not None:
                    found[f"{prefix}.{key}" if prefix else key] = (holder, key)
    return found


def tied(slots, given):
    """The given tensors, also under the other names of the same parameter."""
    names = {}
    for name, (holder, key) in slots.items():
        names.setdefault(id(holder[key]), []).append(name)
    full = dict(given)
    for group in names.values():
        values = {id(given[name]): given[name] for name in group if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(n for n in group if n in given)}, which are "
                "tied. Consider using tie_weights=False"
            )
        for value in values.values():
            full.update(dict.fromkeys(group, value))
    return full


@contextlib.contextmanager
def replaced(module, given, tie_weights, strict):
    """The module with other tensors in its slots, for the length of the block."""
    slots = slots_of(module)
    wanted = tied(slots, given) if tie_weights else given
    check_names(slots, wanted, strict, type(module).__name__)
    changed = [(slots[name], value) for name, value in wanted.items() if name in slots]
    before = [(holder, key, holder[key]) for (holder, key), _ in changed]
    try:
        for (holder, key), value in changed:
            holder[key] = value
        yield
    finally:
        for holder, key, value in before:
            holder[key] = value


def check_names(slots, given, strict, kind):
    for value in given.values():
        if not isinstance(value, Tensor):
            raise TypeError(f"{value} is not an instance of torch.Tensor")
    if strict:
        unexpected = [name for name in given if name not in slots]
        missing = [name for name in slots if name not in given]
        if unexpected or missing:
            lines = [f"{what} key(s): {', '.join(map(repr, names))}."
                     for what, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
            raise RuntimeError(f"Error(s) in reparametrizing for {kind}:\n\t" + "\n\t".join(lines))


def stack_module_state(models):
    """(parameters, buffers) of modules of one kind, each name's tensors stacked: for vmap with functional_call."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    parameters = {name: stacked_leaf([dict(m.named_parameters())[name] for m in models])
                  for name, _ in models[0].named_parameters()}
    buffers = {name: registry["stack"]([dict(m.named_buffers())[name] for m in models], 0)
               for name, _ in models[0].named_buffers()}
    return parameters, buffers


def stacked_leaf(tensors):
    return registry["stack"]([t.detach() for t in tensors], 0).requires_grad_(tensors[0].requires_grad)


# ---- batch normalisation ---------------------------------------------------------------------------------------------

def replace_all_batch_norm_modules_(root):
    """Let all batch normalisations of a module normalise by their batch, and return the module.

    Running averages are changed in place, which vmap refuses: their buffers become None, track_running_stats False.
    """
    for module in root.modules():
        if is_batch_norm(module) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def is_batch_norm(module):
    """By name: this package lies below `nn`."""
    return any(base.__name__ == "_BatchNorm" for base in type(module).__mro__)
