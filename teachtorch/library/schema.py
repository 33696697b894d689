"""Schemas of operators: `ns::name(Tensor x, float k=2.0, *, int[] dims) -> Tensor`, parsed or inferred from
annotations.

A Tensor that the operator changes is marked `Tensor(a0!)`. The grammar is that of native_functions.yaml.
"""
import collections.abc
import inspect
import re
import types
import typing
from dataclasses import dataclass

from ..core.device import device
from ..core.dtype import dtype
from ..tensor import Tensor

Number = int | float | bool
NO_DEFAULT = object()

# What an annotation is called in a schema. Lists and Optional are made from these.
OF_TYPE = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", Number: "Scalar",
           dtype: "ScalarType", device: "Device"}
# The types that a schema written as text may name.
TYPES = frozenset(["Tensor", "int", "SymInt", "float", "bool", "str", "Scalar", "ScalarType", "Device",
                   "Layout",
                   "MemoryFormat", "Generator", "Any", "Storage", "complex", "Stream"])
LISTABLE = (Tensor, int, float, bool, Number)
RESULTS = (Tensor, int, float, bool, Number)
SEQUENCES = (list, collections.abc.Sequence)


@dataclass(frozen=True)
class Argument:
    """One parameter: its type in the schema's words, without marks; `default`: NO_DEFAULT if it has none."""

    name: str
    type: str
    default: object = NO_DEFAULT
    is_keyword_only: bool = False
    is_mutable: bool = False

    def text(self, place, number=str):
        """The argument as a schema shows it; `place` makes the name of the memory that it changes."""
        type_ = self.type.replace("Tensor", f"Tensor(a{place}!)", 1) if self.is_mutable else self.type
        default = "" if self.default is NO_DEFAULT else f"={default_text(self.default, number)}"
        return f"{type_} {self.name}{default}"


@dataclass(frozen=True, repr=False)
class Schema:
    """An operator's name, arguments and the types of what it returns."""

    name: str
    arguments: tuple
    returns: tuple

    @property
    def is_mutable(self):
        return any(a.is_mutable for a in self.arguments)

    @property
    def names(self):
        return tuple([a.name for a in self.arguments])

    def __str__(self):
        return self.name + self.parameters_and_returns(shown_number)

    __repr__ = __str__

    def parameters_and_returns(self, number=str):
        """The schema without the name; `number` writes a number."""
        texts = []
        for i, argument in enumerate(self.arguments):
            if argument.is_keyword_only and "*" not in texts:
                texts.append("*")
            texts.append(argument.text(i, number))
        returns = self.returns[0] if len(self.returns) == 1 else f"({', '.join(self.returns)})"
        return f"({', '.join(texts)}) -> {returns}"


def shown_number(value):
    """A number as C++ shows it: 17 digits, "2." for a whole float."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.17g}"
    return text + "." if text.lstrip("-").isdigit() else text


def default_text(value, number=str):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dtype):
        return str(value).removeprefix("torch.")
    return f"[{', '.join(map(number, value))}]" if isinstance(value, (tuple, list)) else number(value)


# ---- from a function's annotations -------------------------------------------------------------------------

def infer_schema(prototype_function, *, mutates_args, op_name=None):
    """The schema of a function from its annotations, as text without its name (unless `op_name`).

    `mutates_args`: the names of the arguments that it changes, or "unknown": all tensors. ValueError where an
    annotation is missing or of a type that a schema cannot hold. torch.library.infer_schema.
    """
    schema = schema_of(prototype_function, mutates_args, op_name or "")
    return schema.name + schema.parameters_and_returns()


def schema_of(function, mutates_args, name):
    """The same as a Schema."""
    signature = inspect.signature(function, eval_str=True)
    signature_text = str(signature).replace("teachtorch.tensor.Tensor", "teachtorch.Tensor")

    def fail(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature_text})")
    arguments = tuple([argument_of(p, mutates_args, fail) for p in signature.parameters.values()])
    check_mutated(mutates_args, arguments, fail)
    return Schema(name, arguments, returns_of(signature.return_annotation, fail))


def argument_of(parameter, mutates_args, fail):
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        fail("We do not support positional-only args, varargs, or varkwargs.")
    if parameter.annotation is parameter.empty:
        fail(f"Parameter {parameter.name} must have a type annotation.")
    type_ = type_text(parameter.annotation)
    if type_ is None:
        fail(f"Parameter {parameter.name} has unsupported type {parameter.annotation}. The valid types are: "
             "Tensor, int, float, bool, str, Number, dtype and device, Optional of each, and Sequence of "
             "numbers and Tensors.")
    default = NO_DEFAULT if parameter.default is parameter.empty else parameter.default
    if default is not NO_DEFAULT and not isinstance(default, (int, float, bool, str, dtype, type(None))):
        fail(f"Parameter {parameter.name} has an unsupported default value type {type(default)}. Please file "
             "an issue on GitHub so we can prioritize this.")
    mutable = type_.startswith("Tensor") and (mutates_args == "unknown" or parameter.name in mutates_args)
    return Argument(parameter.name, type_, default, parameter.kind is parameter.KEYWORD_ONLY, mutable)


def check_mutated(mutates_args, arguments, fail):
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError("mutates_args must either be a sequence of the names of the arguments that are "
                             "mutated or the string 'unknown'. ")
        return
    mutable = {a.name for a in arguments if a.is_mutable}
    unknown = set(mutates_args) - {a.name for a in arguments}
    if unknown:
        fail(f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain "
             "the names of all args that the custom op mutates, or just the string 'unknown' if you don't know.")
    for name in mutates_args:
        if name not in mutable:
            fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be "
                 "mutated")


def type_text(annotation):
    """An annotation in a schema's words; None if it has none."""
    if annotation in OF_TYPE:
        return OF_TYPE[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return optional_text([p for p in parts if p is not type(None)]) if type(None) in parts else None
    if origin in SEQUENCES and parts and parts[0] in LISTABLE:
        return f"{OF_TYPE[parts[0]]}[]"
    if origin in SEQUENCES and parts and type_text(parts[0]) == "Tensor?":
        return "Tensor?[]"
    return None


def optional_text(parts):
    inner = type_text(parts[0]) if len(parts) == 1 else OF_TYPE.get(typing.Union[tuple(parts)])
    return None if inner is None else f"{inner}?"


def returns_of(annotation, fail):
    if annotation is inspect.Signature.empty:
        fail("No return type annotation was provided. Please add one.")
    if annotation is None or annotation is type(None):
        return ()
    parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
    texts = [return_text(part) for part in parts]
    if None in texts:
        fail(f"Return has unsupported type {annotation}. The valid types are: Tensor, a list of Tensors, "
             "int, float, bool and Number.")
    return tuple(texts)


def return_text(annotation):
    if annotation in RESULTS:
        return OF_TYPE[annotation]
    return "Tensor[]" if type_text(annotation) == "Tensor[]" else None


# ---- from text ---------------------------------------------------------------------------------------------

NAME = re.compile(r"(?:([A-Za-z_]\w*::)?[A-Za-z_]\w*(\.\w+)?)?")
PARAMETER = re.compile(r"(?P<type>[A-Za-z]\w*)(?:\((?P<alias>[^)]*)\))?(?P<suffix>(?:\?|\[\d*\])*) "
                       r"+(?P<name>\w+)"
                       r"(?:=(?P<default>.+))?")


def parse(text):
    """The Schema that a text such as "foo(Tensor x, int n=2) -> Tensor" means. RuntimeError where it has no
    sense."""
    if "(" not in text:
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    match = re.fullmatch(r"\s*([\w:.]*)\((.*)\)\s*->\s*(.+?)\s*", text, re.DOTALL)
    if match is None:
        raise RuntimeError(f"a schema has the form 'name(Tensor x, int n=2) -> Tensor':\n{text}")
    name, parameters, returns = match.groups()
    if NAME.fullmatch(name) is None:
        raise RuntimeError(f"'{name}' is no name of an operator, such as 'mylib::foo':\n{text}")
    schema = Schema(name, tuple(parse_parameters(parameters, text)), parse_returns(returns))
    for type_ in schema.returns:
        check_type(type_.rstrip("[]?"), text)
    return schema


def check_type(name, text):
    """RuntimeError for a name that is no type of a schema."""
    if name not in TYPES:
        raise RuntimeError(f"Unknown type specifier {name!r}:\n{text}")


def parse_parameters(parameters, text):
    keyword_only = False
    for part in split_commas(parameters):
        if part == "*":
            keyword_only = True
            continue
        match = PARAMETER.fullmatch(part)
        if match is None:
            raise RuntimeError(f"'{part}' is no argument of a schema: it has a type and a name:\n{text}")
        check_type(match["type"], text)
        default = NO_DEFAULT if match["default"] is None else parse_default(match["default"])
        suffix = re.sub(r"\[\d+\]", "[]", match["suffix"])
        yield Argument(match["name"], match["type"] + suffix, default, keyword_only,
                       "!" in (match["alias"] or ""))


def parse_returns(text):
    inner = text[1:-1] if text.startswith("(") else text
    return tuple([re.sub(r"\([^)]*\)", "", part).split(" ")[0] for part in split_commas(inner)])


def split_commas(text):
    """The parts of a list, split at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def parse_default(text):
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    if text[0] in "\"'":
        return text[1:-1]
    if text.startswith("["):
        return [parse_default(part) for part in split_commas(text[1:-1])]
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        return text
