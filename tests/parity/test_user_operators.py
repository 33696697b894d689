"""Operators that users define: what their kernels may return and what their schemas may say."""
import importlib
import itertools
import typing

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.both import assert_same  # noqa: E402

numbers = itertools.count()


def returning(lib, annotation, make):
    """The result of an operator of that annotation whose kernel returns make(x)."""
    def kernel(x):
        return make(x)
    kernel.__annotations__ = {"x": lib.Tensor, "return": annotation}
    op = importlib.import_module(lib.__name__ + ".library").custom_op(
        f"results::op{next(numbers)}", kernel, mutates_args=()
    )
    found = op(lib.ones(2))
    return type(found).__name__, found if isinstance(found, (lib.Tensor, int, float)) else list(found or ())


KERNELS = {
    "a number for a Tensor": (lambda T: T, lambda x: 3),
    "a tuple for a Tensor": (lambda T: T, lambda x: (x + 1,)),
    "something for None": (lambda T: None, lambda x: x + 1),
    "None for None": (lambda T: None, lambda x: None),
    "one for two": (lambda T: tuple[T, T], lambda x: x + 1),
    "a list for two": (lambda T: tuple[T, T], lambda x: [x + 1, x + 2]),
    "a number among two": (lambda T: tuple[T, T], lambda x: (x + 1, 3)),
    "a tuple for a list": (lambda T: typing.List[T], lambda x: (x + 1,)),
    "a Tensor for a list": (lambda T: typing.List[T], lambda x: x + 1),
    "a float for an int": (lambda T: int, lambda x: 1.5),
    "text for an int": (lambda T: int, lambda x: "a"),
    "an int": (lambda T: int, lambda x: 7),
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_kernel_returns(name):
    annotation, make = KERNELS[name]
    assert_same(torch, lambda lib: returning(lib, annotation(lib.Tensor), make))


@pytest.mark.parametrize("lib", [torch, teachtorch], ids=lambda lib: lib.__name__)
@pytest.mark.parametrize("text", [
    "f(Foo x) -> Tensor", "f(tensor x) -> Tensor", "f(double x) -> Tensor", "f(Tensor x) -> Foo", "f(Tensor x) -> void",
    "f(Tensor x", "f(Tensor x)", "f(Tensor) -> Tensor", "3f(Tensor x) -> Tensor", "f-9(Tensor x) -> Tensor",
    "another::f(Tensor x) -> Tensor"])
def test_schemas_without_sense(lib, text):
    library = importlib.import_module(lib.__name__ + ".library").Library("senseless", "FRAGMENT")
    with pytest.raises(RuntimeError):
        library.define(text)


@pytest.mark.parametrize("lib", [torch, teachtorch], ids=lambda lib: lib.__name__)
def test_where_definitions_are_refused(lib):
    Library = importlib.import_module(lib.__name__ + ".library").Library
    with pytest.raises(RuntimeError, match="Cannot define an operator inside of a TORCH_LIBRARY_IMPL block"):
        Library("only_kernels", "IMPL").define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY"):
        Library("aten", "DEF")
    with pytest.raises(ValueError, match="reserved namespace"):
        Library("prim", "DEF")


def test_names():
    assert_same(torch, lambda lib: [repr(lib.ops.aten.add), str(lib.ops.aten.add), repr(lib.ops.aten.add.Tensor)])
