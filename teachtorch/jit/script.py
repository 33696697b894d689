"""What belongs to TorchScript's language, which teachtorch does not have: the names, and a clear word."""
import builtins
import typing

Final = typing.Final
T = typing.TypeVar("T")


class Attribute(typing.NamedTuple):
    """A value and its type, as TorchScript's classes declare them."""

    value: object
    type: object


def script(obj, *args, **kwargs):
    """Refused: there is no compiler of Python source here. Use `jit.trace`, `teachtorch.compile` or `fx`.

    torch.jit.script reads the source of a function and compiles a subset of Python to a language of its own,
    branches and loops included. PyTorch has deprecated it.
    """
    raise NotImplementedError("torch.jit.script compiles the source of a function, branches and loops "
                              "included; teachtorch has no such compiler, and PyTorch's is deprecated. "
                              "jit.trace keeps one run as a graph, torch.compile keeps the branches in "
                              "Python, and fx.symbolic_trace gives a graph to edit.")


script_method = script


def annotate(the_type, the_value):
    """The value: types are for TorchScript's compiler."""
    return the_value


def export(fn):
    """The function: nothing is compiled."""
    return fn


def ignore(drop=False, **kwargs):
    """A decorator that does nothing, with or without arguments."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    """The function: nothing is compiled."""
    return fn


def is_scripting():
    """False: no code here is compiled by TorchScript."""
    return False


def isinstance(obj, target_type):
    """Python's isinstance."""
    return builtins.isinstance(obj, target_type)
