"""What users are told who pass a function something that does not fit.

Operators do not look at their arguments' types, since each look would cost every call. A kernel that is given a string
soon fails in one way or another; then the call is held against PyTorch's signatures (call_rules.py). If it fits none,
the error becomes the TypeError that PyTorch raises for it. Some wrong values would not fail (1 for True, True for a
dimension): for these a function looks at the argument's class, and asks the signatures if it is no usual one. A call
that fits and failed over tensors which stand for numbers (`x.cumsum(torch.tensor(1))`) is made again with these
numbers, one that failed over an argument's name with the argument in its place, one in an older order (`x.add_(2, y)`)
in today's. Where PyTorch has no signature, an AttributeError says which object was asked for what only tensors have; if
that is one of the arguments, the call was wrong, too.
"""
import inspect
import re

from ..tensor import Tensor
from .call_rules import in_new_order, in_place, objection, of_numbers, with_numbers


def fits(rules, args, kwargs):
    """Whether the call fits the signatures of `rules`, a name in call_rules.py."""
    return not rules or objection(rules, args, kwargs) is None


def refuse_misfit(rules, args, kwargs):
    """Raise PyTorch's TypeError if the call does not fit the signatures of `rules`, a name in call_rules.py."""
    said = objection(rules, args, kwargs) if rules else None
    if said is not None:
        raise TypeError(said)


def explain(error, name, names, rules, args, kwargs):
    """Raise PyTorch's TypeError if the call does not fit; (args, kwargs) to make it again with, else None.

    `names`: the arguments' names, or the function that has them. `rules`: the function's name in call_rules.py, or "".
    """
    said = objection(rules, args, kwargs) if rules else None
    if said is not None:
        raise TypeError(said) from None
    if rules and isinstance(error, TypeError | AttributeError) and (again := spelled_otherwise(rules, args, kwargs)):
        return again
    if rules and kwargs and is_about_names(error) and (again := in_place(rules, args, kwargs)):
        return again
    if isinstance(error, AttributeError):
        explain_attribute_error(
            error, name, inspect.signature(names).parameters if callable(names) else names, args, kwargs
        )
    return None


def spelled_otherwise(rules, args, kwargs):
    """(args, kwargs) of a call that PyTorch takes and our functions do not, as they want it; None for any other."""
    return (with_numbers(rules, args, kwargs) or in_new_order(rules, args, kwargs) or of_numbers(rules, args, kwargs))


def is_about_names(error):
    """Whether Python says that it knows an argument by another name."""
    return isinstance(error, TypeError) and re.search(r"\(\) (missing|got an unexpected keyword)", str(error))


def explain_attribute_error(error, name, names, args, kwargs):
    """Raise PyTorch's TypeError if `error` comes from asking a non-tensor among the arguments."""
    asked = error.obj
    if error.name is None or hasattr(type(asked), "__torch_function__"):
        return
    in_place = zip([*names][:len(args)], args)
    for position, (called, argument) in enumerate([*in_place, *kwargs.items()]):
        if argument is asked:
            raise wrong_type(name, called, position, "Tensor", asked) from None
        if isinstance(argument, (list, tuple)) and any(a is asked for a in argument):
            raise wrong_type(name, called, position, "tuple of Tensors", argument) from None


def wrong_type(name, argument, position, wanted, found):
    """PyTorch's words for an argument of a wrong type, as a TypeError. `position` counts from 0."""
    return TypeError(f"{name}(): argument '{argument}' (position {position + 1}) must be {wanted}, "
                     f"not {type(found).__name__}")


def require_tensor(name, value):
    """TypeError for a first argument that is no tensor: for functions that would answer without asking it."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "input", 0, "Tensor", value)
