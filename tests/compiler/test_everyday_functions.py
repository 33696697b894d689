"""What users write in functions that they compile: in every case the results, the arguments afterwards, the gradients
and the errors are those of the function itself, over several calls; `explain` says whether there is a graph."""
import collections
import functools
import itertools
import random
import types
from dataclasses import dataclass

import numpy as np
import pytest

import teachtorch as torch
from teachtorch import nn
from teachtorch.compiler import explain
from teachtorch.nn import functional as F

from .helpers import assert_alike


@dataclass
class Pair:
    first: object
    second: object


def tensors_in(value):
    """The tensors of a nesting of containers and dataclasses, in order."""
    if isinstance(value, Pair):
        return tensors_in([value.first, value.second])
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def outcome(function, args):
    """(results, arguments afterwards, gradients, next random number) of one call, or its error."""
    torch.manual_seed(3)
    try:
        found = function(*args)
    except Exception as error:
        return type(error), str(error)
    leaves = [t for t in tensors_in(args) if t.requires_grad and t.is_leaf]
    roots = [t.sum() for t in tensors_in(found) if t.grad_fn is not None]
    grads = torch.autograd.grad(roots, leaves, allow_unused=True) if roots and leaves else ()
    return found, args, list(grads), torch.rand(1)


def assert_same(found, wanted):
    if isinstance(wanted[0], type):
        assert found == wanted
        return
    for a, b in zip(found, wanted):
        assert type(a) is type(b)
        if not isinstance(b, Pair):
            assert repr(a).count("tensor") == repr(b).count("tensor")
        assert_alike(tensors_in(a), tensors_in(b))
        if not tensors_in(b):
            assert a == b


def alike(make, arguments, times=3):
    """Compare `make()`, a function, compiled and as it is; `arguments(i)` are those of the i-th call."""
    compiled, plain = torch.compile(make(), backend="eager"), make()
    for i in range(times):
        mine, theirs = [(torch.manual_seed(i), arguments(i))[1] for _ in range(2)]
        assert_same(outcome(compiled, mine), outcome(plain, theirs))
    return compiled


def reason_for(make, arguments):
    return explain(make())(*arguments(0)).reason


def x_alone(i):
    return (torch.randn(3),)


def x_with_grad(i):
    return (torch.randn(4, 6).requires_grad_(),)


# ---- captured ----------------------------------------------------------------------------------------------

def sets_rows_and_scales(x, row):
    z = x * 2
    z[0] = row
    z[1:].mul_(row)
    return z


def indexes_twice(x, places):
    return x[places], x[:, places], x.gather(1, torch.zeros(4, 1, dtype=torch.long))


def changes_argument_through_views(x):
    x[1:3].mul_(2)
    x.t()[0] = 5.0
    return x.sum()


def reads_a_view_after_the_change(x):
    y = x.view(-1)
    x.add_(1)
    return y * 1


def fills_a_buffer(x):
    buffer = torch.empty(8, 6)
    buffer[:4] = x
    buffer[4:].copy_(x * 2)
    return buffer * buffer


def catches_an_error(x):
    try:
        return x @ torch.ones(9)
    except RuntimeError:
        return x * 3


def switches_grad_off(x):
    with torch.no_grad():
        y = x * 2
    return y, x * y


def takes_gradients(x):
    found, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    return (found ** 2).sum()


def keeps_a_hook_inside(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y.sin()


def drops(x):
    return F.dropout(x, 0.5, True), F.dropout(x, 0.5, False)


def asks_shapes(x):
    return x.shape, x.new_zeros(x.size(0)), torch.arange(x.shape[0])


@pytest.mark.parametrize("function, arguments", [
    (sets_rows_and_scales, lambda i: (*x_with_grad(i), torch.randn(6))),
    (indexes_twice, lambda i: (*x_with_grad(i), torch.tensor([0, 2]))),
    (changes_argument_through_views, lambda i: (torch.randn(4, 6),)),
    (reads_a_view_after_the_change, x_alone), (fills_a_buffer, lambda i: (torch.randn(4, 6),)), (catches_an_error, x_alone),
    (switches_grad_off, x_with_grad), (takes_gradients, x_with_grad), (keeps_a_hook_inside, x_with_grad),
    (drops, x_with_grad), (asks_shapes, lambda i: (torch.randn(3 + i, 2),)),
    (lambda pair: pair.first * pair.second, lambda i: (Pair(torch.randn(3), 2.0),)),
    (lambda x: x.as_strided((2,), (1,)) * 2, lambda i: (torch.randn(6)[i:i + 3],)),
    (lambda p: p * 2 if isinstance(p, nn.Parameter) else p * 3, lambda i: (nn.Parameter(torch.randn(3)),)),
    (lambda x, f: f(x), lambda i: (torch.ones(3), [torch.sin, torch.cos, F.relu][i])),
])
def test_captured_and_the_same(function, arguments):
    compiled = alike(lambda: function, arguments)
    assert reason_for(lambda: function, arguments) is None and compiled.compiled.entries


class Averaging(nn.Module):
    """A buffer changed in place, and batch norm's."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.register_buffer("mean", torch.zeros(6))

    def forward(self, x):
        with torch.no_grad():
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return self.norm(x) - self.mean


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(6, 2)
        self.linear.register_forward_hook(lambda module, args, out: out * 2)
        self.linear.register_forward_pre_hook(lambda module, args: (args[0] + 1,))

    def forward(self, x):
        return self.linear(x)


class Scaled:
    def __init__(self):
        self.weight = torch.full((6,), 2.0)

    def apply(self, x):
        return x * self.weight


def nested():
    inner = torch.compile(lambda x: x.sin() * 2, backend="eager")
    return lambda x: inner(x) + 1


@pytest.mark.parametrize("make", [Averaging, Hooked, lambda: Scaled().apply, nested,
                                  lambda: functools.partial(lambda k, x, b=1: x * k + b, 3, b=2)])
def test_modules_methods_and_what_wraps_them(make):
    alike(make, x_with_grad)
    assert reason_for(make, x_with_grad) is None


# ---- left to the function itself ---------------------------------------------------------------------------

def with_state(state, use):
    """A maker of functions that each call `use(state)`, on a state of their own."""
    def make():
        own = state()
        return lambda x: x * use(own)
    return make


def grown(add):
    def use(container):
        add(container)
        return len(container)
    return use


def bumped(array):
    array[0] += 1
    return float(array[0])


def counted(namespace):
    namespace.__dict__.update(calls=namespace.calls + 1)
    return namespace.calls


@pytest.mark.parametrize("state, use, words", [
    (list, grown(lambda s: s.append(1)), "changes the length"),
    (lambda: collections.deque(maxlen=2), grown(lambda s: s.append(1)), "changes the contents"),
    (set, grown(lambda s: s.add(len(s))), "changes the contents"),
    (lambda: collections.defaultdict(int), grown(lambda s: s[len(s)]), "changes the keys"),
    (collections.Counter, lambda s: s.update("a") or s["a"], "changes the keys"),
    (lambda: np.ones(3), bumped, "changes the values"),
    (lambda: types.SimpleNamespace(calls=0), counted, "calls"),
    (lambda: iter([1.0, 2.0, 3.0, 4.0]), next, "from which each call takes something"),
    (itertools.count, next, "from which each call takes something"),
    (lambda: random.Random(0), lambda s: s.random(), "from which each call takes something"),
])
def test_what_functions_keep_is_changed_at_every_call(state, use, words):
    make = with_state(state, use)
    assert words in reason_for(make, x_alone)
    alike(make, x_alone)


def test_numbers_of_a_namespace_and_of_an_array_are_watched():
    options, scale = types.SimpleNamespace(power=2), np.full(1, 3.0, np.float32)
    f = torch.compile(lambda x: x ** options.power * float(scale[0]), backend="eager")
    assert f(torch.full((1,), 2.0)).item() == 12
    options.power = 3
    assert f(torch.full((1,), 2.0)).item() == 24
    scale[0] = 1
    assert f(torch.full((1,), 2.0)).item() == 8 and len(f.compiled.entries) == 3


def test_a_large_array_is_not_frozen():
    table = np.zeros(5000)
    assert "make a tensor of it outside" in reason_for(lambda: lambda x: x + float(table[0]), x_alone)


def adds_a_key(table):
    table["sum"] = table["a"] + 1
    return table["sum"] * 2


def appends(items):
    items.append(items[0] * 2)
    return items[0] + 1


def asks_the_class(x):
    return x * 2 if type(x) is torch.Tensor else x * 3


def requires_grad_from_now(x):
    x.requires_grad_()
    return x * 3


def leaves_a_hook(x):
    x.register_hook(lambda grad: grad * 10)
    return x.sin()


def branches(x):
    return x + 1 if x.sum() > 0 else x - 1


def counts_elements(x):
    yielded = (v for v in x.tolist())
    return sum(yielded)


def raises(x):
    raise ValueError(f"no {x.dim()}-D tensors")


def yields(x):
    for k in range(2):
        yield x * k


def sums_what_is_yielded(x):
    return sum(yields(x))


def draws(x):
    return x + torch.rand(3), torch.randn_like(x)


@pytest.mark.parametrize("function, arguments, words", [
    (adds_a_key, lambda i: ({"a": torch.randn(3)},), "changes a list or dict that it was given"),
    (lambda table: table.pop("a") + 1, lambda i: ({"a": torch.randn(3)},), "changes a list or dict"),
    (appends, lambda i: ([torch.randn(3)],), "changes a list or dict"),
    (asks_the_class, x_alone, "use isinstance"), (requires_grad_from_now, x_alone, "sets requires_grad"),
    (leaves_a_hook, x_with_grad, "registers a hook on an argument"),
    (lambda x: (x.storage_offset(), x * 2), lambda i: (torch.randn(6)[i:i + 3],), "where in its memory"),
    (lambda x: x.as_strided((2,), (1,), 1), lambda i: (torch.randn(6)[i:i + 3],), "storage_offset"),
    (branches, lambda i: ((-1.0) ** i * torch.ones(3),), "asks a tensor for its value"),
    (counts_elements, x_alone, "asks a tensor for its value"), (raises, x_alone, "ValueError: no 1-D tensors"),
    (sums_what_is_yielded, x_alone, "generator"), (draws, x_alone, "random numbers of its own"),
    (lambda x: Pair(x + 1, x), x_alone, "returns a Pair"), (lambda x: x[x > 0], x_with_grad, "aten.index"),
])
def test_left_to_the_function_itself(function, arguments, words):
    assert words in reason_for(lambda: function, arguments)
    alike(lambda: function, arguments)


def test_random_numbers_of_numpy_are_not_frozen():
    assert "numpy.random" in reason_for(lambda: lambda x: x * np.random.rand(), x_alone)


def test_reasons_name_lines_of_the_user():
    assert f"{__file__}:" in reason_for(lambda: lambda x: x[x > 0], x_with_grad)
