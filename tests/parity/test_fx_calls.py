"""What a traced call of a function looks like: which arguments stand in their places, which by name."""
import inspect

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from teachtorch.fx.python_calls import IN_FUNCTIONAL  # noqa: E402


def traced(library, name, given):
    """(number of arguments in their places, names and values of the others) of a call with only what it must have."""
    function = getattr(library.nn.functional, name)
    if given is None:
        given = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    words = ", ".join(given)
    graph = library.fx.symbolic_trace(eval(f"lambda {words}: function({words})", {"function": function})).graph
    node = next(node for node in graph.nodes if node.op == "call_function")
    return len(node.args), list(node.kwargs.items())


@pytest.mark.parametrize("name", [name for name in IN_FUNCTIONAL if name != "l1_loss"])
def test_defaults_are_filled_in_where_pytorch_does(name):
    given = ["x", "kernel_size"] if name.startswith("max_pool") else None
    assert traced(teachtorch, name, given) == traced(torch, name, given)


def test_arguments_by_place_and_by_name_are_written_alike():
    for library in (torch, teachtorch):
        functional = library.nn.functional
        for function in (lambda x: functional.dropout(x, 0.1, True), lambda x: functional.dropout(x, p=0.1),
                         lambda x: functional.dropout(p=0.1, input=x)):
            node = library.fx.symbolic_trace(function).graph.find_nodes(
                op="call_function", target=functional.dropout)[0]
            assert [str(a) for a in node.args] == ["x"]
            assert node.kwargs == {"p": 0.1, "training": True, "inplace": False}


def test_written_in_c_is_noted_as_called():
    for library in (torch, teachtorch):
        graph = library.fx.symbolic_trace(lambda x: library.nn.functional.linear(x, x, None)).graph
        node = graph.find_nodes(op="call_function", target=library.nn.functional.linear)[0]
        assert "bias" not in node.kwargs and len(node.args) in (2, 3)
