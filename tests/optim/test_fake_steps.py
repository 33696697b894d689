"""An optimizer's step on fake tensors: shapes and states, no numbers."""
import pytest

import teachtorch as torch
from teachtorch._subclasses import FakeTensor, FakeTensorMode
from teachtorch.utils._python_dispatch import TorchDispatchMode


@pytest.mark.parametrize("name, options", [
    ("SGD", {"momentum": 0.9}), ("Adam", {}), ("AdamW", {"amsgrad": True}), ("Adam", {"foreach": True}), ("RMSprop", {}),
    ("Adagrad", {}), ("Adadelta", {}), ("NAdam", {}), ("Adamax", {}), ("Adamax", {"foreach": True})])
def test_a_step_makes_fake_states_of_the_parameters_shapes(name, options):
    with FakeTensorMode():
        model = torch.nn.Linear(3, 2)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, **options)
        version = model.weight._version
        for _ in range(2):
            model(torch.randn(4, 3)).sum().backward()
            optimizer.step()
    assert isinstance(model.weight, FakeTensor) and model.weight._version > version
    for state in optimizer.state[model.weight].values():
        assert isinstance(state, FakeTensor) and state.shape in ((2, 3), ())


def test_a_mode_sees_each_tensor_of_a_list():
    seen = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))
    x = [torch.ones(2), torch.ones(3)]
    versions = [t._version for t in x]
    with Noting():
        torch._foreach_mul_(x, 2.0)
    assert seen == ["aten.mul_.Tensor"] * 2 and [t.tolist() for t in x] == [[2, 2], [2, 2, 2]]
    assert [t._version for t in x] == [v + 1 for v in versions]
