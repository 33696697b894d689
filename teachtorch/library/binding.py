"""Putting the arguments of a call into their declared places, with PyTorch's errors where they do not fit."""
from ..core.device import device
from ..core.dtype import dtype
from ..dispatch.overriding import overriding
from ..tensor import Tensor
from .schema import NO_DEFAULT

NUMBER = (int, float, bool)
ACCEPTED = {"Tensor": Tensor, "SymInt": int, "int": int, "float": NUMBER, "bool": bool, "str": str,
            "Scalar": NUMBER,
            "ScalarType": dtype, "Device": (device, str)}


def bound(schema, args, kwargs):
    """The arguments in the schema's order. RuntimeError for a wrong number, an unknown name or a wrong type."""
    positional = [a for a in schema.arguments if not a.is_keyword_only]
    if len(args) + len(kwargs) > len(schema.arguments):
        raise RuntimeError(f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received "
                           f"{len(args) + len(kwargs)} argument(s). Declaration: {schema}")
    if len(args) > len(positional):
        raise RuntimeError(f"{schema.name}() takes {len(positional)} positional argument(s) but {len(args)} "
                           f"was/were given.  Declaration: {schema}")
    values = dict(zip([a.name for a in positional], args))
    for name, value in kwargs.items():
        if name not in schema.names:
            raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{schema.name}'. Schema: {schema}")
        if name in values:
            raise RuntimeError(f"Argument '{name}' specified both as positional and keyword argument. Schema: "
                               f"{schema}")
        values[name] = value
    return tuple([checked(schema, i, argument, values) for i, argument in enumerate(schema.arguments)])


def checked(schema, place, argument, values):
    """The value for one argument."""
    if argument.name not in values:
        if argument.default is NO_DEFAULT:
            raise RuntimeError(f"{schema.name}() is missing value for argument '{argument.name}'. "
                               f"Declaration: {schema}")
        return argument.default
    value = values[argument.name]
    if not fits(value, argument.type):
        raise RuntimeError(f"{schema.name}() Expected a value of type '{shown(argument.type)}' for argument "
                           f"'{argument.name}' but instead found type '{type(value).__name__}'.\nPosition: "
                           f"{place}\nValue: {value!r}\nDeclaration: {schema}\nCast error details: Unable to "
                           f"cast {value} to {shown(argument.type)}")
    return value


def fits(value, type_):
    """Whether a value may stand for an argument of a type in a schema's words."""
    if overriding[value.__class__] or value is None and type_ == "Tensor":
        return True
    if type_.endswith("?"):
        return value is None or fits(value, type_[:-1])
    if type_.endswith("[]"):
        return isinstance(value, (list, tuple)) and all([fits(item, type_[:-2]) for item in value])
    return isinstance(value, ACCEPTED[type_])


def shown(type_):
    """The type in the words of error messages: "List[Tensor]", "Optional[int]"."""
    type_ = type_.replace("SymInt", "int").replace("ScalarType", "int")
    if type_.endswith("?"):
        return f"Optional[{shown(type_[:-1])}]"
    return f"List[{shown(type_[:-2])}]" if type_.endswith("[]") else type_
