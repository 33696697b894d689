"""What a user's kernel returns, held against the schema."""
from ..tensor import Tensor

ACCEPTED = {"SymInt": int, "int": int, "float": (int, float), "bool": (bool, int), "Scalar": (int, float)}


def as_declared(op, found):
    """A kernel's results in the form that the schema promises: None, one value or a tuple of them.

    RuntimeError for other types and counts, TypeError for one value where there should be several.
    """
    returns = op.schema.returns
    if not returns:
        if found is not None:
            raise RuntimeError(f"Expected PythonKernelHolder for {op.name} to return None but it returned "
                               "something else instead.")
        return None
    if len(returns) == 1:
        return cast(returns[0], found)
    return tuple([cast(type_, value) for type_, value in zip(returns, several(op, found, len(returns)))])


def several(op, found, count):
    if not isinstance(found, (tuple, list)):
        raise TypeError(f"Object of type '{type(found).__name__}' is not an instance of 'sequence': "
                        f"{op.name} returns {count} values")
    if len(found) != count:
        raise RuntimeError(f"{op.name} returns {count} values, but its kernel returned {len(found)}")
    return found


def cast(type_, value):
    """One result as the type that a schema calls `type_`. RuntimeError if it is none."""
    if type_ == "Tensor":
        if not isinstance(value, Tensor) and value is not None:
            raise RuntimeError(f"Unable to cast {value} to Tensor")
        return value
    if type_.endswith("[]"):
        return cast_list(type_.removesuffix("[]"), value)
    if not isinstance(value, ACCEPTED.get(type_, object)):
        raise RuntimeError(f"Unable to cast Python instance of type {type(value)} to {type_}")
    return value


def cast_list(type_, value):
    if not isinstance(value, (tuple, list)):
        raise RuntimeError(f"Unable to cast Python instance of type {type(value)} to {type_}[]")
    return [cast(type_, item) for item in value]
