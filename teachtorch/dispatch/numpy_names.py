"""NumPy's names for arguments (axis, keepdims, x, x2), which PyTorch takes in all functions that its parser reads.

PyTorch looks for them where an argument is missing (torch/csrc/utils/python_arg_parser.cpp,
numpy_compatibility_arg_names). A function here meets them as keywords that it does not know; it calls itself again
with PyTorch's names. Since an argument may come under another name, Python cannot say which ones are missing: they are
MISSING, which fits nowhere.
"""
from .call_rules import ALIASES, in_place, objection, rules_of

TORCH_NAMES = {alias: name for name, aliases in ALIASES.items() for alias in aliases}


class Missing:
    """Stands for an argument that a call needs and was not given."""

    def refuse(self, *others):
        raise TypeError("a required argument is missing")

    __bool__ = __index__ = __float__ = __iter__ = __len__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = refuse
    __hash__ = None

    def __repr__(self):
        return "<required>"


MISSING = Missing()


def with_torch_names(rules, name, given, defaults, keyword_defaults, **arguments):
    """(args, kwargs) of a call, of which `given` came under names that the function does not know.

    Left away: what is MISSING or has its default. TypeError for a name that is neither library's, or given twice.
    """
    kept = {n: v for n, v in arguments.items() if v is not MISSING and not is_default(n, v, defaults, keyword_defaults)}
    for alias in [*given]:
        wanted = TORCH_NAMES.get(alias)
        if wanted not in arguments or wanted in kept or not may_be_called(rules, wanted):
            return by_place(rules, name, {**kept, **given}, alias)
        kept[wanted] = given.pop(alias)
    return (), kept


def by_place(rules, name, arguments, alias):
    """(args, kwargs) of a call whose function calls its arguments otherwise. TypeError if it fits no signature."""
    of_method = (arguments.pop("input"),) if rules_of(rules)[1] and "input" in arguments else ()
    found = in_place(rules, of_method, arguments) if rules else None
    if found is None or alias in found[1]:          # else the function would call itself for ever
        raise TypeError(
            rules and objection(rules, of_method, arguments) or f"{name}() got an unexpected keyword argument '{alias}'"
        )
    return found


def is_default(name, value, defaults, keyword_defaults):
    known = {**defaults, **keyword_defaults, "out": None}
    return name in known and value is known[name]


def may_be_called(rules, wanted):
    """Whether PyTorch has a signature with that argument: functions written in Python know no other names."""
    return any(p.name == wanted for rule in rules_of(rules)[0] for p in rule.parameters)


def respelt(rules, kwargs):
    """Keywords of a call, NumPy's names replaced by PyTorch's where the function's signatures have these."""
    return {
        TORCH_NAMES[n] if n in TORCH_NAMES and may_be_called(rules, TORCH_NAMES[n]) else n: v for n, v in kwargs.items()
    }


def missing_arguments(rules, name, names, values, args, kwargs):
    """What PyTorch says of the call `name(*args, **kwargs)`, in which some of the arguments are MISSING."""
    lacking = [f'"{n}"' for n, v in zip(names, values) if v is MISSING]
    said = (
        f"{name}() missing {len(lacking)} required positional argument{'s' * (len(lacking) == 1)}: {', '.join(lacking)}"
    )
    return rules and objection(rules, args, kwargs) or said
