"""Which kernel serves a call, and what a fallback and a fallthrough do, as in PyTorch (OperatorEntry.cpp)."""
import itertools
import sys

import pytest

import teachtorch
from teachtorch import library
from teachtorch.dispatch import keys as K

KEYS = ["CPU", "AutogradCPU", "Autograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd"]
SETS = [s for n in range(1, len(KEYS) + 1) for s in itertools.combinations(KEYS, n)]
AUTOGRAD = ("AutogradCPU", "Autograd")

# What serves the keys Autograd and CPU for each set of kernels, as PyTorch's _dispatch_dump_table shows it;
# None: nothing.
WANTED = {
    ("CPU",): (None, "CPU"), ("AutogradCPU",): ("AutogradCPU", None), ("Autograd",): ("Autograd", None),
    ("CompositeExplicitAutograd",): (None, "CompositeExplicitAutograd"),
    ("CompositeImplicitAutograd",): ("CompositeImplicitAutograd",) * 2,
    ("CPU", "Autograd"): ("Autograd", "CPU"), ("AutogradCPU", "Autograd"): ("AutogradCPU", None),
    ("CPU", "CompositeImplicitAutograd"): (None, "CPU"),
    ("Autograd", "CompositeImplicitAutograd"): ("CompositeImplicitAutograd",) * 2,
    ("AutogradCPU", "CompositeImplicitAutograd"): ("AutogradCPU", "CompositeImplicitAutograd"),
    ("CPU", "Autograd", "CompositeImplicitAutograd"): ("Autograd", "CPU"),
    ("CompositeExplicitAutograd", "CompositeImplicitAutograd"): (None, "CompositeExplicitAutograd"),
    ("Autograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
        ("Autograd", "CompositeExplicitAutograd"),
    ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd"): (None, "CPU"),
}


def outcome(torch, names, space):
    """The first kernel that a call on the CPU reaches, or the error's type."""
    ran = []

    def kernel_of(name):
        def kernel(x):
            ran.append(name)
            return x.clone()
        return kernel
    make = library.Library if torch is teachtorch else torch.library._scoped_library
    with make(space, "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        for name in names:
            lib.impl("f", kernel_of(name), name)
        try:
            getattr(torch.ops, space).f(torch.ones(2, requires_grad=True))
        except NotImplementedError as error:
            return type(error)
    return ran[0]


@pytest.mark.parametrize("names", WANTED, ids=" ".join)
def test_precedence(names):
    found = outcome(teachtorch, names, "precedence")
    autograd, backend = WANTED[names]
    assert found == (autograd or backend or NotImplementedError)


@pytest.mark.skipif("torch" not in sys.modules and not pytest.importorskip("torch"), reason="needs PyTorch")
def test_every_set_of_kernels_is_served_as_in_pytorch():
    import torch

    for i, names in enumerate(SETS):
        mine, theirs = (outcome(t, names, f"every_set_{i}") for t in (teachtorch, torch))
        assert mine == theirs, names


def test_an_alias_of_autograd_serves_only_where_the_key_has_no_kernel_of_its_own():
    with library.Library("alias", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x * 2, "CPU")
        lib.impl("f", lambda keys, x: x * 3, "Autograd", with_keyset=True)
        x = teachtorch.ones(1, requires_grad=True)
        assert teachtorch.ops.alias.f(x).item() == 3
        lib.impl("f", library.fallthrough_kernel, "AutogradCPU")
        assert teachtorch.ops.alias.f(x).item() == 2


def test_a_composite_kernel_serves_meta_until_there_is_a_rule():
    with library.Library("composite", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        x = teachtorch.empty(3, device="meta")
        with pytest.raises(NotImplementedError, match="no fake impl or Meta kernel"):
            teachtorch.ops.composite.f(x)
        lib.impl("f", lambda x: x.new_empty(5), "CompositeExplicitAutograd")
        assert teachtorch.ops.composite.f(x).shape == (5,)
        lib.impl("f", lambda x: x.new_empty(7), "Meta")
        assert teachtorch.ops.composite.f(x).shape == (7,)


def test_fallthrough_skips_the_key_and_what_runs_below_is_recorded():
    with library.Library("skipping", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CompositeExplicitAutograd")
        lib.impl("f", library.fallthrough_kernel, "AutogradCPU")
        found = teachtorch.ops.skipping.f(teachtorch.ones(1, requires_grad=True))
        assert found.item() == 2 and found.grad_fn.name() == "AddBackward0"


# ---- fallbacks ---------------------------------------------------------------------------------------------


@pytest.fixture
def lib():
    made = library.Library("_", "IMPL")
    yield made
    made._destroy()


def test_a_fallback_serves_every_operator_of_a_key_until_it_is_taken_back(lib):
    seen = []

    def fallback(op, *args, **kwargs):
        seen.append((str(op), args[1:], kwargs))
        with teachtorch._C._ExcludeDispatchKeyGuard("Tracer"):
            return op(*args, **kwargs)
    lib.fallback(fallback, "Tracer")
    x = teachtorch.ones(2, 2)
    with teachtorch._C._IncludeDispatchKeyGuard("Tracer"):
        assert teachtorch.add(x, x, alpha=3).tolist() == [[4, 4], [4, 4]]
        assert x.sum(0, keepdim=True).shape == (1, 2)
    assert [name for name, _, _ in seen] == ["aten.add.Tensor", "aten.sum.dim_IntList"]
    assert seen[0][2] == {"alpha": 3}
    lib._destroy()
    with teachtorch._C._IncludeDispatchKeyGuard("Tracer"):
        x + x
    assert len(seen) == 2


def test_a_fallback_with_the_key_set_goes_on_below_itself(lib):
    seen = []

    def fallback(keys, op, *args, **kwargs):
        seen.append(str(op))
        return op.redispatch(keys & (K.TRACER - 1), *args, **kwargs)
    lib.fallback(fallback, "Tracer", with_keyset=True)
    x = teachtorch.ones(2, requires_grad=True)
    with teachtorch._C._IncludeDispatchKeyGuard("Tracer"):
        found = x * 2
    assert seen == ["aten.mul.Tensor"] and found.tolist() == [2, 2] and found.requires_grad


def test_an_operators_own_kernel_is_above_the_fallback(lib):
    seen = []
    lib.fallback(lambda op, *args, **kwargs: seen.append(str(op)), "Tracer")
    x = teachtorch.ones(1)
    with library.Library("own_kernel", "DEF") as mine, teachtorch._C._IncludeDispatchKeyGuard("Tracer"):
        mine.define("f(Tensor x) -> Tensor")
        mine.impl("f", lambda x: x, "Tracer")
        assert teachtorch.ops.own_kernel.f(x) is x and not seen


def test_a_fallback_of_a_backend_takes_what_the_backend_cannot(lib):
    with library.Library("missing", "DEF") as mine:
        mine.define("f(Tensor x, int n=2, *, float k=1.0) -> Tensor")
        x = teachtorch.ones(2)
        with pytest.raises(NotImplementedError, match="Could not run 'missing::f'"):
            teachtorch.ops.missing.f(x)
        lib.fallback(lambda op, *args, **kwargs: args[0] * 7 if not kwargs else args[0] * kwargs["k"], "CPU")
        assert teachtorch.ops.missing.f(x).tolist() == [7, 7]
        assert teachtorch.ops.missing.f(x, 3, k=0.5).tolist() == [0.5, 0.5]
        assert (x + 1).tolist() == [2, 2]


def test_what_fallback_refuses(lib):
    def function(op, *args, **kwargs):
        pass
    with pytest.raises(AssertionError, match="dispatch_key must not be empty for fallback"):
        lib.fallback(function)
    with pytest.raises(RuntimeError, match=r'on the global namespace "_" but it is mine'):
        library.Library("mine", "FRAGMENT").fallback(function, "CPU")
    lib.fallback(function, "Tracer")
    with pytest.raises(RuntimeError, match="multiple backend fallbacks for the same dispatch key Tracer"):
        library.Library("_", "IMPL").fallback(function, "Tracer")
