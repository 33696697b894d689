"""Grades choose_kernel.py."""

from exercises.grading import equal, points, raises

KEYS = ["Autograd", "ADInplaceOrView", "CPU"]
FALLBACKS = {"Autograd": "fallthrough", "ADInplaceOrView": "fallthrough", "Python": "the python fallback"}
ADD = {"Autograd": "add_autograd", "CPU": "add_cpu"}
LINEAR = {"CompositeImplicit": "linear_composite"}
VIEW = {"CompositeExplicit": "view_explicit", "Autograd": "view_autograd", "ADInplaceOrView": "view_tracking"}


@points(1, "the highest key's own kernel")
def test_own(yours):
    equal(yours.choose("add", ADD, KEYS, FALLBACKS), ("Autograd", "add_autograd"), "Autograd is the highest")
    equal(yours.choose("view", VIEW, KEYS[1:], FALLBACKS), ("ADInplaceOrView", "view_tracking"), "below Autograd")


@points(2, "fallthrough: on to the next key")
def test_fallthrough(yours):
    why = "add has nothing for ADInplaceOrView; its fallback says: skip this key"
    equal(yours.choose("add", ADD, KEYS[1:], FALLBACKS), ("CPU", "add_cpu"), why)
    own = {"Autograd": "fallthrough", "CPU": "k"}
    equal(yours.choose("x", own, KEYS, FALLBACKS), ("CPU", "k"), "an operator may register fallthrough itself")


@points(1, "a composition serves Autograd and every backend")
def test_implicit(yours):
    equal(yours.choose("linear", LINEAR, KEYS, FALLBACKS), ("Autograd", "linear_composite"), "it falls apart above autograd")
    equal(yours.choose("linear", LINEAR, ["CUDA"], FALLBACKS), ("CUDA", "linear_composite"), "and below it")


@points(2, "a backend's own kernel goes before a composition")
def test_own_before_composite(yours):
    both = {**LINEAR, "CPU": "linear_cpu"}
    why = "linear has a kernel for the CPU: the composition is not used there"
    equal(yours.choose("linear", both, ["CPU"], FALLBACKS), ("CPU", "linear_cpu"), why)
    equal(yours.choose("linear", both, ["Meta"], FALLBACKS), ("Meta", "linear_composite"), "Meta has none of its own")


@points(2, "and then the composition leaves Autograd alone")
def test_not_for_autograd(yours):
    both = {**LINEAR, "CPU": "linear_cpu"}
    why = "the operator has a backend kernel, so the composition must not take the call away above it"
    equal(yours.choose("linear", both, KEYS, FALLBACKS), ("CPU", "linear_cpu"), why)


@points(1, "one kernel for all backends")
def test_explicit(yours):
    equal(yours.choose("view", VIEW, ["Meta"], FALLBACKS), ("Meta", "view_explicit"), "CompositeExplicit serves Meta")
    both = {"CompositeExplicit": "explicit", "CompositeImplicit": "implicit"}
    equal(yours.choose("x", both, ["CPU"], FALLBACKS), ("CPU", "explicit"), "explicit goes before implicit")
    equal(yours.choose("x", both, KEYS, FALLBACKS), ("CPU", "explicit"), "and keeps the composition off Autograd")


@points(1, "a fallback serves what has nothing else")
def test_fallback(yours):
    equal(yours.choose("add", ADD, ["Python", "CPU"], FALLBACKS), ("Python", "the python fallback"), "one for all operators")
    own = {**ADD, "Python": "add_python"}
    equal(yours.choose("add", own, ["Python", "CPU"], FALLBACKS), ("Python", "add_python"), "its own goes first")


@points(2, "missing is an error")
def test_missing(yours):
    why = "add has no kernel for CUDA and nothing stands in for it: the call fails, it is not skipped"
    raises(RuntimeError, yours.choose, "add", ADD, ["ADInplaceOrView", "CUDA"], FALLBACKS, why=why,
           text="Could not run 'add' with the key 'CUDA'")
    equal(yours.kernel_for(ADD, "CUDA", FALLBACKS), None, "nothing serves it")
