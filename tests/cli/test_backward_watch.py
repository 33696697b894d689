"""The watch sees each backward once, before it runs, and never disturbs the script."""

import sys

import pytest

from teachtorch.cli.backward_watch import BackwardWatch, when_imported


class Root:
    """As much of a tensor as the watch looks at."""

    requires_grad = True
    freed = False


class Constant:
    requires_grad = False


def state_of(roots, variables):
    return (roots, "freed" if roots[0].freed else "whole")


def free(root, *args, **kwargs):
    root.freed = True


def test_picture_is_taken_before_backward_frees_the_graph():
    watch, root = BackwardWatch(state_of), Root()
    watch.wrap(free)(root)
    assert watch.last_picture() == ([root], "whole")


def test_the_last_backward_counts():
    watch, first, last = BackwardWatch(state_of), Root(), Root()
    backward = watch.wrap(free)
    backward(first)
    backward(last)
    assert watch.last_picture()[0] == [last]


def test_backward_that_calls_backward_is_one_backward():
    seen = []
    watch = BackwardWatch(lambda roots, variables: seen.append(roots))
    inner = watch.wrap(free)
    watch.wrap(inner)(Root())
    assert len(seen) == 1


def test_arguments_and_result_pass_through():
    backward = BackwardWatch(state_of).wrap(lambda *args, **kwargs: (args, kwargs))
    root = Root()
    assert backward(root, 1, create_graph=True) == ((root, 1), {"create_graph": True})


def test_after_a_backward_that_failed_the_next_is_seen():
    watch, last = BackwardWatch(state_of), Root()
    with pytest.raises(ZeroDivisionError):
        watch.wrap(lambda root: 1 / 0)(Root())
    watch.wrap(free)(last)
    assert watch.last_picture()[0] == [last]


def test_of_several_roots_those_with_a_graph_are_drawn():
    watch, first, second = BackwardWatch(state_of), Root(), Root()
    watch.wrap(lambda tensors: None)([first, Constant(), second])
    assert watch.last_picture()[0] == [first, second]


@pytest.mark.parametrize("nothing", [Constant(), [], None])
def test_without_a_graph_there_is_no_picture(nothing):
    watch = BackwardWatch(state_of)
    watch.wrap(lambda tensors: None)(nothing)
    assert watch.last_picture() is None


def test_variables_are_those_of_the_function_that_called_backward():
    watch = BackwardWatch(lambda roots, variables: variables)

    def step():
        loss, _hidden = Root(), 1
        watch.wrap(free)(loss)
        return loss

    loss = step()
    assert watch.last_picture()["loss"] is loss
    assert "_hidden" not in watch.last_picture()


def test_past_the_budget_the_freed_graph_is_drawn():
    seconds = [0.0]

    def slow_picture(roots, variables):
        seconds[0] += 100
        return state_of(roots, variables)

    watch, first, second = BackwardWatch(slow_picture, clock=lambda: seconds[0]), Root(), Root()
    backward = watch.wrap(free)
    backward(first)
    assert watch.last_picture() == ([first], "whole")
    backward(second)
    assert watch.last_picture() == ([second], "freed")


def test_a_picture_that_fails_does_not_stop_the_script():
    def fail(roots, variables):
        raise ValueError("cannot draw this")

    watch, root = BackwardWatch(fail), Root()
    watch.wrap(free)(root)
    assert root.freed
    with pytest.raises(ValueError, match="cannot draw this"):
        watch.last_picture()


@pytest.fixture
def stub_module(tmp_path, monkeypatch):
    (tmp_path / "teachtorch_stub.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "teachtorch_stub"
    sys.modules.pop("teachtorch_stub", None)


def test_a_module_is_met_right_after_its_import(stub_module):
    seen = []
    when_imported(stub_module, lambda module: seen.append(module.value))
    assert seen == []
    __import__(stub_module)
    assert seen == [1]


def test_a_module_imported_before_is_met_at_once(stub_module):
    __import__(stub_module)
    seen = []
    when_imported(stub_module, seen.append)
    assert seen == [sys.modules[stub_module]]


def test_a_module_that_is_not_there_stays_not_there():
    finders = list(sys.meta_path)
    when_imported("no_such_module_anywhere", print)
    with pytest.raises(ModuleNotFoundError):
        __import__("no_such_module_anywhere")
    assert sys.meta_path == finders
