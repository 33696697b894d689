"""How many bytes a forward pass keeps for backward: what PyTorch keeps, and no more than a tenth beside it."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402


def saved_bytes(m, forward):
    """The bytes of all storages that forward saves, each counted once; parameters left out."""
    sizes = {}

    def pack(t):
        sizes[t.untyped_storage().data_ptr()] = t.numel() * t.element_size()
        return t
    with m.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result, parameters = forward(m)
    for p in parameters:
        sizes.pop(p.untyped_storage().data_ptr(), None)
    result.sum().backward()
    return sum(sizes.values())


def mlp(activation):
    def forward(m):
        m.manual_seed(0)
        layers = []
        for _ in range(20):
            layers += [m.nn.Linear(32, 32), activation(m)]
        model = m.nn.Sequential(*layers)
        output = model(m.randn(16, 32))
        return m.nn.functional.mse_loss(output, m.zeros(16, 32)), list(model.parameters())
    return forward


def products(m):
    x = m.randn(64, 64, requires_grad=True)
    return ((x * 2).exp() * x.sigmoid() + x).softmax(1).log_softmax(0), [x]


CASES = {
    "relu": mlp(lambda m: m.nn.ReLU()), "tanh": mlp(lambda m: m.nn.Tanh()), "gelu": mlp(lambda m: m.nn.GELU()),
    "sigmoid": mlp(lambda m: m.nn.Sigmoid()), "products": products,
}


@pytest.mark.parametrize("name", CASES)
def test_saved_bytes_are_pytorchs(name):
    theirs, ours = saved_bytes(torch, CASES[name]), saved_bytes(teachtorch, CASES[name])
    assert ours <= theirs * 1.1 and ours >= theirs * 0.5
