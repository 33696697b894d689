"""When a captured graph serves a call again, and when it must be captured anew. No kernels here: backend="eager"."""
import copy
import gc
import warnings
import weakref

import pytest

import teachtorch as torch
from teachtorch.compiler.compiled import LIMIT

scale = 2.0
table = {"a": 1.0, "more": [1, 2]}


def compiled(function, **options):
    return torch.compile(function, fullgraph=True, backend="eager", **options)


def graphs(function):
    return len(function.compiled.entries)


def times_scale(x):
    return x * scale


def uses_table(x):
    return x * table["a"] + table["more"][1]


def test_the_same_metadata_is_one_graph():
    f = compiled(lambda x: x * 2)
    assert torch.equal(f(torch.ones(3)), torch.full((3,), 2.0))
    assert torch.equal(f(torch.arange(3.0)), torch.tensor([0.0, 2.0, 4.0]))
    assert graphs(f) == 1


@pytest.mark.parametrize("other", [
    torch.ones(4), torch.ones(3, dtype=torch.float64), torch.ones(3).requires_grad_(), torch.ones(6)[::2],
    torch.ones(1, 3), torch.ones(3, dtype=torch.int64)])
def test_other_metadata_is_another_graph(other):
    f = compiled(lambda x: x * 2 + 1)
    f(torch.ones(3))
    found = f(other)
    assert graphs(f) == 2
    assert torch.equal(found, other * 2 + 1) and found.requires_grad == other.requires_grad
    assert found.dtype == (other * 2 + 1).dtype


def test_numbers_and_strings_are_part_of_the_graph():
    f = compiled(lambda x, n, mode="a": x * n if mode == "a" else x - n)
    assert f(torch.ones(2), 3).tolist() == [3, 3]
    assert f(torch.ones(2), 4).tolist() == [4, 4]
    assert f(torch.ones(2), 4, mode="b").tolist() == [-3, -3]
    assert f(torch.ones(2), 4.0).tolist() == [4, 4]
    assert graphs(f) == 4


def test_grad_mode_is_guarded():
    f = compiled(lambda x: x * 2)
    x = torch.ones(3, requires_grad=True)
    assert f(x).requires_grad
    with torch.no_grad():
        assert not f(x).requires_grad
    with torch.inference_mode():
        assert f(x).is_inference()
    assert graphs(f) == 3


def test_a_global_is_guarded(monkeypatch):
    f = compiled(times_scale)
    assert f(torch.ones(1)).item() == 2
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert f(torch.ones(1)).item() == 5
    assert graphs(f) == 2


def test_what_a_global_container_holds_is_guarded(monkeypatch):
    monkeypatch.setitem(globals(), "table", {"a": 1.0, "more": [1, 2]})
    f = compiled(uses_table)
    assert f(torch.ones(1)).item() == 3
    table["more"][1] = 7
    assert f(torch.ones(1)).item() == 8


def test_a_closure_is_guarded():
    factor = 2.0

    def times_factor(x):
        return x * factor
    f = compiled(times_factor)
    assert f(torch.ones(1)).item() == 2
    factor = 3.0
    assert f(torch.ones(1)).item() == 3


def test_a_tensor_in_a_closure_is_read_anew():
    weight = torch.ones(2)
    f = compiled(lambda x: x * weight)
    f(torch.ones(2))
    weight.mul_(4)
    assert f(torch.ones(2)).tolist() == [4, 4]
    weight = torch.zeros(2)
    assert f(torch.ones(2)).tolist() == [0, 0]


def test_functions_that_are_called_are_looked_into():
    power = 2

    def inner(x):
        return x ** power
    f = compiled(lambda x: inner(x) + 1)
    assert f(torch.full((1,), 3.0)).item() == 10
    power = 3
    assert f(torch.full((1,), 3.0)).item() == 28


def test_the_training_flag_is_guarded():
    model = torch.nn.Sequential(torch.nn.Dropout(1.0))
    f = compiled(model)
    assert f(torch.ones(2)).tolist() == [0, 0]
    f.eval()
    assert f(torch.ones(2)).tolist() == [1, 1]
    assert graphs(f) == 2


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.zeros(2))
        self.scale = 2

    def forward(self, x):
        return self.helper(x) + self.shift

    def helper(self, x):
        return x * self.weight * self.scale


def test_attributes_parameters_and_buffers_of_a_module_are_guarded():
    model = Scaled()
    f = compiled(model)
    x = torch.ones(2)
    assert f(x).tolist() == [2, 2]
    with torch.no_grad():
        model.weight.fill_(3.0)                             # the same parameter: its values are read anew
    assert f(x).tolist() == [6, 6] and graphs(f) == 1
    model.scale = 1
    assert f(x).tolist() == [3, 3]
    model.weight = torch.nn.Parameter(torch.full((2,), 5.0))
    assert f(x).tolist() == [5, 5]
    model.shift = torch.ones(2)
    assert f(x).tolist() == [6, 6]
    model.weight.requires_grad_(False)
    assert not f(x).requires_grad
    assert graphs(f) == 5


def test_autocast_is_guarded():
    linear = torch.nn.Linear(2, 2)
    f = compiled(linear)
    assert f(torch.ones(2)).dtype is torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert f(torch.ones(2)).dtype is torch.bfloat16


def test_after_too_many_graphs_the_function_runs_as_it_is():
    calls = []
    f = compiled(lambda x: x + 1)
    for n in range(LIMIT):
        f(torch.zeros(n + 1))
    with pytest.warns(UserWarning, match="captured 8 times, the limit.*shape of argument 0"):
        assert f(torch.zeros(50)).tolist() == [1.0] * 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(torch.zeros(51)).shape == (51,)            # one warning is enough
    assert graphs(f) == LIMIT and not calls


def test_dynamic_keeps_more_shapes():
    f = compiled(lambda x: x + 1, dynamic=True)
    for n in range(LIMIT + 3):
        assert f(torch.zeros(n + 1)).tolist() == [1.0] * (n + 1)
    assert graphs(f) == LIMIT + 3


def test_reset_forgets():
    f = compiled(lambda x: x + 1)
    f(torch.zeros(1))
    torch._dynamo.reset()
    assert graphs(f) == 0
    assert f(torch.zeros(1)).item() == 1


# ---- models -----------------------------------------------------------------------------------------------------------


class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        self.factor = 1000.5

    def forward(self, x):
        return self.inner(x) * self.factor


def change_flag(model):
    model.inner[1].training = False


def change_attribute_by_dict(model):
    model.__dict__["factor"] = 3.0


def delete_attribute(model):
    model.factor_was = model.__dict__.pop("factor")
    type(model).factor = 7.0


def replace_child(model):
    model.inner[0] = torch.nn.Linear(2, 2)


def replace_child_by_dict(model):
    model.inner._modules["0"] = torch.nn.Linear(2, 2)


def add_child(model):
    model.inner.append(torch.nn.ReLU())


def add_hook(model):
    model.inner[0].register_forward_hook(lambda module, args, output: output * 2)


def replace_parameter(model):
    model.inner[0].weight = torch.nn.Parameter(torch.full((2, 2), 0.5))


def replace_parameter_by_dict(model):
    model.inner[0]._parameters["bias"] = torch.nn.Parameter(torch.ones(2))


def remove_parameter(model):
    model.inner[0].bias = None


def other_memory(model):
    model.inner[0].weight.data = torch.full((2, 2), 0.25).t()


def other_dtype(model):
    model.double()
    model.float()
    model.inner[1].running_mean.data = torch.ones(2)


def freeze(model):
    model.inner[0].weight.requires_grad_(False)


CHANGES = [change_flag, change_attribute_by_dict, delete_attribute, replace_child, replace_child_by_dict, add_child, add_hook,
           replace_parameter, replace_parameter_by_dict, remove_parameter, other_memory, other_dtype, freeze]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_changed_in_a_model_is_seen(change):
    torch.manual_seed(0)
    model, x = Normed(), torch.randn(5, 2)
    f = torch.compile(model, backend="eager")
    for _ in range(2):
        f(x)
    change(model)
    before = copy.deepcopy(model)
    assert torch.equal(f(x), before(x))
    assert f(x).requires_grad == before(x).requires_grad
    if hasattr(Normed, "factor"):
        del Normed.factor


def test_equal_values_that_are_other_objects_need_no_new_graph():
    model, x = Normed(), torch.randn(5, 2)
    f = torch.compile(model, backend="eager")
    f(x)
    for _ in range(12):
        model.factor = float("1000.5")
        model.inner[0].weight.data = model.inner[0].weight.data.clone()
        assert torch.equal(f.eval()(x), model(x))
        f.train()(x)
    assert len(f.compiled.entries) == 2


def test_guards_keep_no_memory_alive_that_the_model_has_let_go():
    model, x = torch.nn.Linear(2, 2), torch.randn(5, 2)
    f = torch.compile(model, backend="eager")
    f(x)
    array = weakref.ref(model.weight.detach().numpy().base if model.weight.detach().numpy().base is not None
                        else model.weight.detach().numpy())
    model.weight.data = torch.ones(2, 2)
    gc.collect()
    assert array() is None
