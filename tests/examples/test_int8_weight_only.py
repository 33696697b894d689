"""The int8 wrapper tensor: what a trained model loses, and what it saves. It runs on both libraries unchanged."""
import copy
import importlib
import io
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from teachtorch.datasets import split_digits

SOURCE = Path(__file__).parents[2] / "examples" / "int8_weight_only.py"


@pytest.fixture(scope="module", params=["teachtorch", "torch"])
def world(request):
    """The example as a module over one of the libraries, and that library."""
    torch = importlib.import_module(request.param)
    module = types.ModuleType(f"int8_on_{request.param}")
    sys.modules[module.__name__] = module  # pickle finds the class by its module
    exec(
        SOURCE.read_text("utf-8").replace("import teachtorch as torch", f"import {request.param} as torch"),
        module.__dict__,
    )
    yield torch, module
    del sys.modules[module.__name__]


@pytest.fixture(scope="module")
def trained(world):
    """(model, accuracy) on handwritten digits."""
    torch, _ = world
    nn = torch.nn
    (images, labels), (test_images, test_labels) = split_digits()
    x, y, test = [torch.from_numpy(a) for a in (images.reshape(-1, 64), labels, test_images.reshape(-1, 64))]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(12):
        for start in range(0, len(x), 64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[start:start + 64]), y[start:start + 64]).backward()
            optimizer.step()
    return model, lambda m: float((m(test).argmax(1).numpy() == test_labels).mean())


def file_size(torch, model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return file


def test_accuracy_stays_and_weights_shrink(world, trained):
    torch, int8 = world
    model, accuracy = trained
    small = int8.quantize_(copy.deepcopy(model))
    assert accuracy(model) > 0.94
    assert abs(accuracy(small) - accuracy(model)) <= 0.01
    numbers = sum(
        w.numbers.numel() * w.numbers.element_size() for w in (small[0].weight, small[2].weight, small[4].weight)
    )
    assert int8.weight_bytes(model) == 4 * numbers
    assert int8.weight_bytes(model) / int8.weight_bytes(small) > 3.85        # the scales are not free
    before, after = (len(file_size(torch, m).getvalue()) for m in (model, small))
    assert before / after > 3.6


def test_it_is_saved_and_loaded(world, trained):
    torch, int8 = world
    model, accuracy = trained
    small = int8.quantize_(copy.deepcopy(model))
    file = file_size(torch, small)
    file.seek(0)
    state = torch.load(file, weights_only=False)
    assert type(state["0.weight"]) is int8.Int8Weight
    other = int8.quantize_(copy.deepcopy(model))
    other[0].weight.numbers.zero_()
    other.load_state_dict(state)
    assert accuracy(other) == accuracy(small)


def test_numbers_are_within_half_a_step(world):
    torch, int8 = world
    torch.manual_seed(0)
    w = torch.randn(5, 7)
    q = int8.Int8Weight.of(w)
    assert q.numbers.dtype == torch.int8 and int(q.numbers.abs().max()) == 127
    assert bool(((q.dequantize() - w).abs() <= q.scale / 2 + 1e-7).all())


def test_it_stays_what_it_is(world):
    torch, int8 = world
    q = int8.Int8Weight.of(torch.randn(4, 3))
    for other in (q.detach(), q.clone(), q.t(), q.transpose(0, 1), torch.nn.Parameter(q, requires_grad=False),
                  copy.deepcopy(q)):
        assert type(other) is int8.Int8Weight
    assert q.t().shape == (3, 4) and q.t().scale.shape == (1, 4)
    np.testing.assert_array_equal(q.t().dequantize().numpy(), q.dequantize().t().numpy())


def test_gradients_flow_through_to_the_input(world):
    torch, int8 = world
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    int8.quantize_(layer)
    x = torch.randn(4, 3, requires_grad=True)
    layer(x).pow(2).sum().backward()
    real = torch.nn.Linear(3, 2)
    with torch.no_grad():
        real.weight.copy_(layer.weight.dequantize())
        real.bias.copy_(layer.bias)
    y = x.detach().clone().requires_grad_()
    real(y).pow(2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_what_it_cannot_it_says(world):
    torch, int8 = world
    with pytest.raises(NotImplementedError, match="no answer for aten.cos"):
        int8.Int8Weight.of(torch.randn(4, 3)).cos()
