"""Grades hook_pipeline.py."""

from exercises.grading import equal, points


def listing(*args, **kwargs):
    """A forward that returns its arguments."""
    return [list(args), dict(kwargs)]


def failing(*args, **kwargs):
    raise ValueError("in forward")


def run(module, *args, **kwargs):
    """What a call returns, or the error's text."""
    try:
        return module(*args, **kwargs)
    except ValueError as error:
        return f"ValueError: {error}"


@points(1, "without hooks a call is forward")
def test_plain(yours):
    equal(yours.Module(listing)(1, 2, a=3), [[1, 2], {"a": 3}], "forward's answer", what="module(1, 2, a=3)")


@points(1, "hooks see the module, the arguments and the output")
def test_arguments(yours):
    seen, m = [], yours.Module(lambda x, k=0: x + k)
    m.register_forward_pre_hook(lambda module, args: seen.append(["pre", module is m, args]))
    m.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(["pre", args, dict(kwargs)]), with_kwargs=True
    )
    m.register_forward_hook(lambda module, args, output: seen.append(["post", module is m, args, output]))
    m.register_forward_hook(
        lambda module, args, kwargs, output: seen.append(["post", args, dict(kwargs), output]),
        with_kwargs=True,
    )
    equal(m(1, k=5), 6, "all hooks returned None", what="module(1, k=5)")
    expected = [
        ["pre", True, (1,)],
        ["pre", (1,), {"k": 5}],
        ["post", True, (1,), 6],
        ["post", (1,), {"k": 5}, 6],
    ]
    equal(seen, expected, "in the order of registration", what="what the hooks saw")


@points(1, "a pre-hook's tuple is the new arguments")
def test_tuple(yours):
    m = yours.Module(listing)
    m.register_forward_pre_hook(lambda module, args: (args[0], 7))
    equal(m(1), [[1, 7], {}], "a tuple replaces the arguments", what="module(1)")


@points(1, "a pre-hook's single value is the only argument")
def test_single_value(yours):
    for value in (7, [7, 8], {"a": 1}, 0):
        m = yours.Module(listing)
        m.register_forward_pre_hook(lambda module, args, value=value: value)
        equal(
            m(1, 2),
            [[value], {}],
            "a single value, a list too, is the only argument",
            what=f"the pre-hook returned {value}",
        )


@points(1, "a pre-hook with keywords replaces both")
def test_kwargs(yours):
    m = yours.Module(listing)
    m.register_forward_pre_hook(lambda module, args, kwargs: ((5,), {**kwargs, "b": 2}), with_kwargs=True)
    equal(m(1, a=1), [[5], {"a": 1, "b": 2}], "it returned (args, kwargs)", what="module(1, a=1)")


@points(1, "a hook's result replaces the output, for the next hooks too")
def test_hook_replaces_the_output(yours):
    m, seen = yours.Module(lambda x: x), []
    m.register_forward_hook(lambda module, args, output: output + 1)
    m.register_forward_hook(lambda module, args, output: seen.append(output))
    m.register_forward_hook(lambda module, args, output: output * 10)
    equal(
        (m(1), seen),
        (20, [2]),
        "what a hook returns replaces the output",
        what="module(1), and what the second hook saw",
    )


@points(1, "only None means: no change")
def test_falsy_results(yours):
    for value in (0, False, "", []):
        m = yours.Module(lambda x: x)
        m.register_forward_hook(lambda module, args, output, value=value: value)
        equal(m(1), value, "only None changes nothing", what=f"the hook returned {value!r}")


@points(1, "hooks see the arguments that forward got")
def test_hooks_see_what_forward_got(yours):
    m, seen = yours.Module(listing), []
    m.register_forward_pre_hook(lambda module, args, kwargs: ((9,), {"k": 1}), with_kwargs=True)
    m.register_forward_hook(
        lambda module, args, kwargs, output: seen.append([args, kwargs]), with_kwargs=True
    )
    m(1)
    equal(
        seen,
        [[(9,), {"k": 1}]],
        "the arguments that forward got, after the pre-hooks",
        what="what the hook saw",
    )


@points(1, "prepend goes before all")
def test_prepend(yours):
    m, order = yours.Module(lambda: None), []
    for name, first in (("a", False), ("b", True), ("c", True), ("d", False)):
        m.register_forward_pre_hook(lambda *_, name=name: order.append("pre " + name), prepend=first)
        m.register_forward_hook(lambda *_, name=name: order.append(name), prepend=first)
    m()
    equal(
        order,
        ["pre c", "pre b", "pre a", "pre d", "c", "b", "a", "d"],
        "prepend puts a hook in front",
        what="the order",
    )


@points(1, "a handle takes its hook out")
def test_handles(yours):
    m, order = yours.Module(lambda: None), []

    def hook(*_):
        order.append("hook")

    first = m.register_forward_hook(hook)
    m.register_forward_hook(hook)
    pre = m.register_forward_pre_hook(lambda *_: order.append("pre"))
    first.remove(), first.remove(), pre.remove()
    m()
    equal(order, ["hook"], "one of two registrations is left", what="after remove(), remove()")


@points(1, "always_call: also when forward raised")
def test_always_call(yours):
    m, seen = yours.Module(failing), []
    m.register_forward_hook(lambda module, args, output: seen.append([args, output]), always_call=True)
    m.register_forward_hook(lambda module, args, output: 5, always_call=True)
    equal(run(m, 1), "ValueError: in forward", "the error goes on", what="module(1)")
    equal(
        seen,
        [[(1,), None]],
        "called also when forward raised, with the output None",
        what="what the hook saw",
    )


@points(1, "others are not called when forward raised")
def test_others_are_not_called_on_errors(yours):
    m, seen = yours.Module(failing), []
    m.register_forward_hook(lambda *_: seen.append("plain"))
    m.register_forward_hook(lambda *_: seen.append("always"), always_call=True)
    run(m, 1)
    equal(seen, ["always"], "only those that asked for it", what="the hooks that ran")


@points(1, "an always_call hook runs once")
def test_once(yours):
    m, seen = yours.Module(lambda x: x), []

    def broken(*_):
        raise ValueError("in a hook")

    m.register_forward_hook(lambda *_: seen.append("first"), always_call=True)
    m.register_forward_hook(broken)
    m.register_forward_hook(lambda *_: seen.append("last"), always_call=True)
    equal(run(m, 1), "ValueError: in a hook", "the hook's error goes on", what="module(1)")
    equal(seen, ["first", "last"], "hooks that have run are not run again", what="the hooks that ran")
