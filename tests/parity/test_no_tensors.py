"""What is no tensor, given where one is wanted: a TypeError in both libraries."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402

NO_TENSORS = {"text": "a", "None": None, "list": [1.0, 2.0], "object": object()}
FIRST = {
    "abs_": lambda lib, a: lib.abs_(a),
    "square": lambda lib, a: lib.square(a),
    "flatten": lambda lib, a: lib.flatten(a),
    "diag": lambda lib, a: lib.diag(a),
    "conj": lambda lib, a: lib.conj(a),
    "unbind": lambda lib, a: lib.unbind(a),
    "detach": lambda lib, a: lib.detach(a),
    "numel": lambda lib, a: lib.numel(a),
    "is_complex": lambda lib, a: lib.is_complex(a),
    "is_nonzero": lambda lib, a: lib.is_nonzero(a),
    "repeat_interleave": lambda lib, a: lib.repeat_interleave(a),
    "broadcast_tensors": lambda lib, a: lib.broadcast_tensors(a),
    "where": lambda lib, a: lib.where(a),
    "linear": lambda lib, a: lib.nn.functional.linear(a, lib.ones(2, 2)),
    "dropout": lambda lib, a: lib.nn.functional.dropout(a),
    "Linear": lambda lib, a: lib.nn.Linear(2, 2)(a),
}
SECOND = {
    "masked_select": lambda lib, x, a: lib.masked_select(x, a),
    "diagonal_scatter": lambda lib, x, a: lib.diagonal_scatter(x, a),
    "cross_entropy": lambda lib, x, a: lib.nn.functional.cross_entropy(x, a),
    "nll_loss": lambda lib, x, a: lib.nn.functional.nll_loss(x, a),
    "embedding": lambda lib, x, a: lib.nn.functional.embedding(x, a),
    "is_same_size": lambda lib, x, a: lib.is_same_size(x, a),
}


@pytest.mark.parametrize("given", NO_TENSORS)
@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("lib", [torch, teachtorch], ids=lambda lib: lib.__name__)
def test_first_argument(lib, name, given):
    with pytest.raises(TypeError):
        FIRST[name](lib, NO_TENSORS[given])


@pytest.mark.parametrize("given", NO_TENSORS)
@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("lib", [torch, teachtorch], ids=lambda lib: lib.__name__)
def test_second_argument(lib, name, given):
    with pytest.raises(TypeError):
        SECOND[name](lib, lib.ones(2, 2), NO_TENSORS[given])


def test_the_argument_is_named():
    for lib in (torch, teachtorch):
        with pytest.raises(TypeError, match=r"linear\(\): argument 'input' \(position 1\) must be Tensor, not str"):
            lib.nn.functional.linear("a", lib.ones(2, 2))


def test_other_attribute_errors_stay():
    """A missing attribute of something that is no argument is the error that it was."""
    for lib in (torch, teachtorch):
        with pytest.raises(AttributeError, match="no_such_name"):
            lib.ones(2).map_(lib.ones(2), lambda a, b: lib.no_such_name)
