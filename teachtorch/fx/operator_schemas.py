"""Arguments of a call put in their declared places: torch.fx.operator_schemas.

A pass that looks for `dim=1` finds it whether it was written by place, by name or left to the default.
"""
import inspect
from typing import NamedTuple

from .. import nn

OURS = __name__.partition(".")[0]


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments."""

    args: tuple
    kwargs: dict


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None,
                       normalize_to_only_use_kwargs=False):
    """The arguments of a call of a public function with defaults filled in, as an ArgsKwargsPair.

    None for a function that is not the library's, such as operator.add. `arg_types`, `kwarg_types`: in
    PyTorch they choose among overloads; teachtorch has one signature for each function, and does not look at
    them.
    """
    if getattr(target, "__module__", "").partition(".")[0] != OURS or not callable(target):
        return None
    signature = inspect.signature(inspect.unwrap(target) if not hasattr(target, "__signature__") else target)
    return arranged(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The same for the call of a submodule of `root` whose class is one of torch.nn. None for any other class.

    RuntimeError if there is no such submodule.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"Tried to normalize arguments to module target {target} but root did not have "
                           "that target!") \
            from error
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    return arranged(inspect.signature(inspect.unwrap(module.forward)), args, kwargs or {},
                    normalize_to_only_use_kwargs)


def arranged(signature, args, kwargs, only_kwargs):
    """None for what a name cannot stand for: `*args`, `**kwargs` and parameters that go by place alone."""
    parameters = [p for p in signature.parameters.values() if p.name not in HIDDEN]
    if not all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    named = {p.name: bound.arguments[p.name] for p in parameters}
    by_place = 0 if only_kwargs else len(args)
    return ArgsKwargsPair(tuple(list(named.values())[:by_place]), dict(list(named.items())[by_place:]))


HIDDEN = ("out",)                              # where a result goes is no argument of what is computed

