"""Whether a call fits PyTorch's signatures, and what PyTorch says if it does not.

PyTorch asks this before every call (torch/csrc/utils/python_arg_parser.cpp); here it is asked when a call has failed,
so that a call that succeeds pays nothing. The signatures stand in pytorch_signatures.txt, as in "sum(Tensor input,
IntArrayRef[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)". A function may have several; the first that fits
is taken. If there is one alone, the error names the first argument that does not fit it, otherwise it lists them all.
"""
import functools
import re
from pathlib import Path

import numpy as np

from ..core import dtype as dt
from ..core.device import device
from ..core.layout import layout, memory_format
from ..core.once import warn_once
from ..core.promotion import dtype_of_number
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from ..tensor import Tensor, from_array
from .overriding import overriding

FILE = Path(__file__).with_name("pytorch_signatures.txt")

# Functions whose tensors may be Python numbers.
TAKE_NUMBERS = frozenset(
    name + end
    for name in "add div divide mul multiply sub subtract true_divide floor_divide".split()
    for end in ("", "_")
) | {"copy_"}


# ---- what fits a type ----------------------------------------------------------------------------------------------

def is_tensor(value):
    return isinstance(value, Tensor) or overriding[type(value)]


def is_int(value):
    """An int or what stands for one (a NumPy int, a tensor of one integer); no bool."""
    if isinstance(value, Tensor):
        return is_number_tensor(value) and not value.dtype.is_floating_point and value.dtype is not dt.bool
    return isinstance(value, int | np.integer) and not isinstance(value, bool) or overriding[type(value)]


def is_number_tensor(value):
    return isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad


def is_float(value):
    return isinstance(value, int | float | np.number) or is_number_tensor(value) or overriding[type(value)]


def is_number(value):
    return (
        isinstance(value, int | float | complex | np.number | np.bool_)
        or is_number_tensor(value)
        or overriding[type(value)]
    )


def is_index(value):
    """What may stand in a list of sizes."""
    if isinstance(value, bool):
        return False
    if isinstance(value, Tensor):
        return value.numel() == 1 and not value.dtype.is_floating_point and value.dtype is not dt.bool
    return hasattr(value, "__index__") or overriding[type(value)]


def first_is(fits):
    """PyTorch looks at the first element of a list of numbers."""
    return lambda value: isinstance(value, tuple | list) and (not value or fits(value[0]))


TYPES = {                           # as signatures call it: (as errors call it, what fits)
    "Tensor": ("Tensor", is_tensor),
    "Scalar": ("Number", is_number),
    "int64_t": ("int", is_int),
    "SymInt": ("int", is_int),
    "double": ("float", is_float),
    "TensorList": ("tuple of Tensors", lambda value: isinstance(value, tuple | list)),
    "c10::List<::std::optional<Tensor>>": ("tuple of Tensors", lambda value: isinstance(value, tuple | list)),
    "IntArrayRef": ("tuple of ints", first_is(is_index)),
    "SymIntArrayRef": ("tuple of ints", first_is(is_index)),
    "ArrayRef<double>": ("tuple of floats", first_is(is_float)),
    "ScalarList": ("tuple of Scalars", lambda value: isinstance(value, tuple | list) and all(map(is_number, value))),
    "Generator": ("torch.Generator", lambda value: type(value).__name__ == "Generator"),
    "bool": ("bool", lambda value: isinstance(value, bool)),
    "Storage": ("torch.Storage", lambda value: isinstance(value, UntypedStorage | TypedStorage)),
    "PyObject*": ("object", lambda value: True),
    "ScalarType": ("torch.dtype", lambda value: isinstance(value, dt.dtype) or value in (float, int, bool)),
    "Layout": ("torch.layout", lambda value: isinstance(value, layout)),
    "MemoryFormat": ("torch.memory_format", lambda value: isinstance(value, memory_format)),
    "Device": ("torch.device", lambda value: isinstance(value, device | str | int)),
    "std::string": ("str", lambda value: isinstance(value, str)),
    "c10::string_view": ("str", lambda value: isinstance(value, str)),
    "std::string_view": ("str", lambda value: isinstance(value, str)),
    "Dimname": ("name", lambda value: False),
    "DimnameList": ("tuple of names", lambda value: False),
}
NUMBERS = frozenset("Scalar int64_t SymInt double IntArrayRef SymIntArrayRef".split())
ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}      # NumPy's names


# ---- one signature -------------------------------------------------------------------------------------------------

class Parameter:
    """`int64_t dim=-1`: its name, what fits it, whether it may be left away or be None."""

    def __init__(self, text, function, keyword_only):
        kind, _, rest = text.partition(" ")
        self.name, has_default, self.default = rest.partition("=")
        kind, _, bracket = kind.partition("[")
        self.optional = bool(has_default)
        self.allows_none = "?" in kind + bracket or self.default == "None"
        self.kind = kind.rstrip("?")
        self.repeats = bracket.partition("]")[0].isdigit()        # one int stands for `[2]` of them
        self.type_name, self.check = TYPES[self.kind]
        self.takes_numbers = self.kind == "Tensor" and function in TAKE_NUMBERS
        self.keyword_only = keyword_only

    @property
    def is_sizes(self):
        return self.kind in ("IntArrayRef", "SymIntArrayRef")

    def fits(self, value):
        if value is None:
            return self.allows_none or self.kind == "PyObject*"
        return self.check(value) or self.takes_numbers and is_number(value) or \
            self.is_sizes and self.repeats and is_index(value)

    def as_number(self, value):
        """Where numbers are asked for: numbers in place of the tensors that stand for them; dtypes in place of Python's
        types."""
        if self.kind == "ScalarType":
            return dt.PYTHON_TYPES.get(value, value)
        if self.kind not in NUMBERS:
            return value
        if isinstance(value, tuple | list):
            return tuple(map(self.as_number, value)) if any([isinstance(v, Tensor) for v in value]) else value
        return value.item() if isinstance(value, Tensor) else value

    def __str__(self):
        return f"{self.type_name} {self.name}" + (f" = {self.default}" if self.optional else "")


class Rule:
    """One signature: `parameters`, of which the first `most_in_place` may be given without their names."""

    def __init__(self, text):
        self.name, _, rest = text.partition("(")
        inner, _, mark = rest.rpartition(")")
        self.hidden = mark != ""                                  # |deprecated or |hidden: taken, but not shown
        self.deprecated = mark == "|deprecated"
        parts = inner.split(", ") if inner else []
        star = parts.index("*") if "*" in parts else len(parts)
        self.parameters = [Parameter(p, self.name, i > star) for i, p in enumerate(parts) if p != "*"]
        self.fewest = len([p for p in self.parameters if not p.optional])
        self.most_in_place = star

    @property
    def takes_loose_sizes(self):
        """Whether f(2, 3) means f((2, 3))."""
        return self.most_in_place == 1 and self.parameters[0].is_sizes

    def objection(self, args, kwargs):
        """What is wrong with a call, as a text; None if it fits."""
        if len(args) > self.most_in_place and not self.takes_loose_sizes:
            return self.too_many(len(args))
        left = dict(kwargs)
        for place, parameter in enumerate(self.parameters):
            if place < len(args):
                if self.takes_loose_sizes and place == 0 and not parameter.fits(args[0]) and first_is(is_index)(args):
                    args = (args,)
                if parameter.keyword_only:
                    return self.too_many(len(args))
                if not parameter.fits(args[place]):
                    return self.wrong_type(parameter, args[place], f" (position {place + 1})")
                continue
            given = [n for n in (parameter.name, *ALIASES.get(parameter.name, ())) if n in left]
            if not given:
                if not parameter.optional:
                    return self.missing(place)
            elif not parameter.fits(value := left.pop(given[0])):
                return self.wrong_type(parameter, value)
        return self.unexpected(left, args) if left else None

    def with_numbers(self, args, kwargs):
        """The call's arguments, numbers in place of the tensors that stand for them."""
        by_name = {n: p for p in self.parameters for n in (p.name, *ALIASES.get(p.name, ()))}
        if self.takes_loose_sizes:
            args = tuple([self.parameters[0].as_number(a) for a in args])
        else:
            args = tuple([p.as_number(a) for p, a in zip(self.parameters, args)])
        return args, {n: by_name[n].as_number(v) for n, v in kwargs.items()}

    def in_place(self, args, kwargs):
        """The call's arguments, in their places what may stand there: (args, kwargs)."""
        args, left = [*args], dict(kwargs)
        for parameter in self.parameters[len(args):self.most_in_place]:
            given = [n for n in (parameter.name, *ALIASES.get(parameter.name, ())) if n in left]
            if not given:
                break
            args.append(left.pop(given[0]))
        return tuple(args), left

    def wrong_type(self, parameter, value, position=""):
        found = f"not {type_name(value)}"
        if position and parameter.is_sizes and isinstance(value, tuple | list):
            found = f"but found element of type {type_name(value[0])} at pos 0"
        return f"{self.name}(): argument '{parameter.name}'{position} must be {parameter.type_name}, {found}"

    def too_many(self, count):
        if self.fewest != self.most_in_place:
            return (f"{self.name}() takes from {self.fewest} to {self.most_in_place} positional arguments but {count} "
                    "were given")
        return (
            f"{self.name}() takes {self.most_in_place} positional argument{'s' * (self.most_in_place != 1)} but {count} "
            f"{'was' if count == 1 else 'were'} given"
        )

    def missing(self, place):
        names = [f'"{p.name}"' for p in self.parameters[place:] if not p.optional]
        return (f"{self.name}() missing {len(names)} required positional argument{'s' * (len(names) == 1)}: "
                f"{', '.join(names)}")

    def unexpected(self, left, args):
        name = next(iter(left))
        if name in [p.name for p in self.parameters[:len(args)]]:
            return f"{self.name}() got multiple values for argument '{name}'"
        return f"{self.name}() got an unexpected keyword argument '{name}'"

    def __str__(self):
        shown, star = [], False
        for parameter in self.parameters:
            if parameter.keyword_only and not star:
                shown.append("*")
                star = True
            shown.append(str(parameter))
        return f"({', '.join(shown)})"


def type_name(value):
    """The class as C calls it."""
    cls = type(value)
    if cls.__module__ == "numpy":
        return f"numpy.{cls.__name__}"
    return f"torch.{cls.__name__}" if cls in (dt.dtype, device, layout, memory_format) else cls.__name__


# ---- all signatures of a function ----------------------------------------------------------------------------------

@functools.cache
def texts():
    """{name: signatures as texts}; "Tensor." stands before what is a method alone, "nn.functional." before what is
    called from there."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            found.setdefault(re.match(r"[\w.]+", line)[0], []).append(re.sub(r"^[\w.]+\.", "", line))
    return found


@functools.cache
def rules_of(name):
    """(the signatures of a function or method by its name, whether they leave `self` away)."""
    key = name.replace("linalg.", "linalg_").replace("special.", "special_")
    if key not in texts():
        key = key.removeprefix("Tensor.") if key.startswith("Tensor.") else f"Tensor.{key}"
    return [Rule(text) for text in texts().get(key, ())], key.startswith("Tensor.")


def objection(name, args, kwargs):
    """What PyTorch would say of the call's arguments; None if they fit or PyTorch has no signatures for it."""
    rules, is_method = rules_of(name)
    args = tuple(args[1:] if is_method else args)
    if not rules:
        return None
    found = [rule.objection(args, kwargs) for rule in rules]
    if None in found:
        return None
    if len(rules) == 1:
        return found[0]
    shown = [rule for rule in rules if not rule.hidden]
    count = len(args) + len(kwargs)
    plausible = [rule for rule in shown if rule.fewest <= count <= len(rule.parameters)]
    if len(plausible) == 1:
        return plausible[0].objection(args, kwargs)
    return invalid_combination(rules[0].name, shown, args, kwargs)


def with_numbers(name, args, kwargs):
    """(args, kwargs) of a call with numbers for the tensors that stand for them; None without such, or if none fits."""
    return rewritten(name, args, kwargs, Rule.with_numbers)


def in_place(name, args, kwargs):
    """(args, kwargs) of a call without the names of what may be given in its place; None if there are no such names, or
    the call fits no signature."""
    return rewritten(name, args, kwargs, Rule.in_place)


FACTORS = ("alpha", "beta", "value")
HAVE_OLDER_ORDER = frozenset(
    ["addcmul", "addcdiv"] + [f"Tensor.{name}_" for name in "addcmul addcdiv addbmm addmm addmv addr baddbmm".split()])


def in_new_order(name, args, kwargs):
    """(args, kwargs) of a call as older versions wanted it, a factor among the tensors (`add(x, 2, y)` for x + 2 y),
    with the factor by its name. A warning says so. None for any other call."""
    rules, is_method = rules_of(name)
    own, rest = (args[:1], args[1:]) if is_method else ((), args)
    for rule in rules:
        named = {p.name: a for p, a in zip(rule.parameters, rest) if p.name in FACTORS}
        if rule.deprecated and named and rule.objection(rest, kwargs) is None:
            newer = "".join([f"\n\t{r.name}{r}" for r in rules if not r.hidden])
            warn_once("older signature", f"This overload of {rule.name} is deprecated:\n\t{rule.name}{rule}\nConsider "
                                         f"using one of the following signatures instead:{newer}")
            tensors = [a for p, a in zip(rule.parameters, rest) if p.name not in FACTORS]
            return (*own, *tensors), kwargs | named
    return None


def of_numbers(name, args, kwargs):
    """(args, kwargs) of a call of two Python numbers where tensors may be numbers, the first as a tensor; else None."""
    if name not in TAKE_NUMBERS or not args or any([isinstance(a, Tensor) for a in (*args, *kwargs.values())]):
        return None
    number = from_array(np.asarray(args[0], dtype_of_number(args[0]).numpy))
    return (number, *args[1:]), kwargs


def rewritten(name, args, kwargs, rewrite):
    rules, is_method = rules_of(name)
    rest = tuple(args[1:] if is_method else args)
    for rule in rules:
        if rule.objection(rest, kwargs) is None:
            new, named = rewrite(rule, rest, kwargs)
            changed = [*named] != [*kwargs] or any(
                [a is not b for a, b in zip((*new, *named.values()), (*rest, *kwargs.values()))])
            return ((*args[:len(args) - len(rest)], *new), named) if changed else None
    return None


def invalid_combination(name, rules, args, kwargs):
    given = [type_name(a) for a in args] + [f"{n}={type_name(v)}" for n, v in kwargs.items()]
    given += [""] * (not args and bool(kwargs))                   # PyTorch ends a list of names alone with a comma
    expected = f" {rules[0]}" if len(rules) == 1 else " one of:\n" + "".join([f" * {rule}\n" for rule in rules])
    return f"{name}() received an invalid combination of arguments - got ({', '.join(given)}), but expected{expected}"
