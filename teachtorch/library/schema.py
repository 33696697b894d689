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
DEFAULTS = (int, float, bool, str, dtype, device, type(None))
PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Argument:
    """One parameter: its type in the schema's words, without marks; `default`: NO_DEFAULT if it has none."""

    name: str
    type: str
    default: object = NO_DEFAULT
    is_keyword_only: bool = False
    alias: str = ""                       # the name of its memory: "a" may be returned, "a!" is also changed

    @property
    def is_mutable(self):
        return "!" in self.alias

    def text(self, number=str):
        """The argument as a schema shows it."""
        default = "" if self.default is NO_DEFAULT else f"={default_text(self.default, number)}"
        return f"{with_alias(self.type, self.alias)} {self.name}{default}"


def with_alias(type_, alias):
    """A type with the name of its memory: "Tensor(a!)"."""
    return type_.replace("Tensor", f"Tensor({alias})", 1) if alias else type_


@dataclass(frozen=True, repr=False)
class Schema:
    """An operator's name, arguments, the types of what it returns, and the names of their memory ("": its own)."""

    name: str
    arguments: tuple
    returns: tuple
    return_aliases: tuple = ()

    @property
    def is_mutable(self):
        return any(a.is_mutable for a in self.arguments)

    @property
    def is_functional(self):
        """Whether the operator changes nothing and returns memory of its own."""
        return not self.is_mutable and not any(self.return_aliases)

    @property
    def names(self):
        return tuple([a.name for a in self.arguments])

    def __str__(self):
        return self.name + self.parameters_and_returns(shown_number)

    __repr__ = __str__

    def parameters_and_returns(self, number=str):
        """The schema without the name; `number` writes a number."""
        texts = []
        for argument in self.arguments:
            if argument.is_keyword_only and "*" not in texts:
                texts.append("*")
            texts.append(argument.text(number))
        results = list(map(with_alias, self.returns, self.return_aliases or [""] * len(self.returns)))
        returns = results[0] if len(results) == 1 else f"({', '.join(results)})"
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
    if isinstance(value, device):
        return f'"{value}"'
    if isinstance(value, dtype):
        return str(value).removeprefix("torch.")
    return f"[{', '.join(map(number, value))}]" if isinstance(value, (tuple, list)) else number(value)


# ---- from a function's annotations -------------------------------------------------------------------------

def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The schema of a function from its annotations, as text without its name (unless `op_name`).

    `mutates_args`: the names of the arguments that it changes, or "unknown": all tensors. `tags`: not looked at.
    ValueError where an annotation is missing or of a type that a schema cannot hold. torch.library.infer_schema.
    """
    schema = schema_of(prototype_function, mutates_args, op_name or "")
    return schema.name + schema.parameters_and_returns()


def schema_of(function, mutates_args, name):
    """The same as a Schema."""
    signature = signature_of(function)
    signature_text = re.sub(rf"{PACKAGE}(\.\w+)+\.(Tensor|dtype|device)\b", rf"{PACKAGE}.\2", str(signature))

    def fail(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature_text})")
    arguments = tuple([argument_of(i, p, mutates_args, fail) for i, p in enumerate(signature.parameters.values())])
    check_mutated(mutates_args, arguments, fail)
    return Schema(name, arguments, returns_of(signature.return_annotation, fail))


def signature_of(function):
    """The signature, annotations that are strings evaluated. ValueError where one names what is not there."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        written = inspect.signature(function)
        annotations = [p.annotation for p in written.parameters.values()] + [written.return_annotation]
        unknown = next((a for a in annotations if isinstance(a, str) and error.name in a), error.name)
        raise ValueError(
            f"infer_schema(func): Unsupported type annotation {unknown}. It is not a type. ({error}). If you are using "
            "'from __future__ import annotations', note that annotations are evaluated lazily as strings; make sure all "
            "types referenced in annotations are importable at module scope, not only inside a local function. Got func "
            f"with signature {written})") from None


def argument_of(place, parameter, mutates_args, fail):
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
    if default is not NO_DEFAULT and not isinstance(default, DEFAULTS):
        fail(f"Parameter {parameter.name} has an unsupported default value type {type(default)}. Please file "
             "an issue on GitHub so we can prioritize this.")
    mutable = type_.startswith("Tensor") and (mutates_args == "unknown" or parameter.name in mutates_args)
    return Argument(parameter.name, type_, default, parameter.kind is parameter.KEYWORD_ONLY,
                    f"a{place}!" if mutable else "")


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
    return None if inner is None or inner.startswith("Tensor") and inner.endswith("[]") else f"{inner}?"


def returns_of(annotation, fail):
    if annotation is inspect.Signature.empty:
        fail("No return type annotation was provided. Please add one.")
    if annotation is None:
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
    return "Tensor[]" if typing.get_origin(annotation) is list and type_text(annotation) == "Tensor[]" else None


# ---- from text ---------------------------------------------------------------------------------------------

NAME = re.compile(r"(?:([A-Za-z_]\w*::)?[A-Za-z_]\w*(\.\w+)?)?")
PARAMETER = re.compile(r"(?P<type>[A-Za-z]\w*)(?:\((?P<alias>[^)]*)\))?(?P<suffix>(?:\?|\[\d*\])*) "
                       r"+(?P<name>\w+)"
                       r"(?:=(?P<default>.+))?")


def parse(text):
    """The Schema that a text such as "foo(Tensor x, int n=2) -> Tensor" means. RuntimeError where it has no sense."""
    if "(" not in text:
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    match = re.fullmatch(r"\s*([\w:.]*)\((.*)\)\s*->\s*(.+?)\s*", text, re.DOTALL)
    if match is None:
        raise RuntimeError(f"a schema has the form 'name(Tensor x, int n=2) -> Tensor':\n{text}")
    name, parameters, returns = match.groups()
    if NAME.fullmatch(name) is None:
        raise RuntimeError(f"'{name}' is no name of an operator, such as 'mylib::foo':\n{text}")
    schema = Schema(name, tuple(parse_parameters(parameters, text)), *parse_returns(returns))
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
                       match["alias"] or "")


def parse_returns(text):
    """The types, and the names of the memory of each."""
    parts = split_commas(text[1:-1] if text.startswith("(") else text)
    types_ = [re.sub(r"\([^)]*\)", "", part).split(" ")[0] for part in parts]
    aliases = [re.match(r"\w+(?:\(([^)]*)\))?", part)[1] or "" for part in parts]
    return tuple(types_), tuple(aliases) if any(aliases) else ()


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
