"""Gradients and casts at infinity, NaN and -0.0, calls with odd arguments: the same here, down to texts and warnings."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.snippets import assert_same, snippets_of

EDGES = "x = torch.tensor([inf, -inf, 0.0, -0.0, -2.5, -0.5, 0.25, 1.0, nan], requires_grad=True)"
FUNCTIONS = """
    torch.digamma(x)
    torch.polygamma(1, x)
    torch.polygamma(2, x)
    torch.i0(x)
    torch.special.i1(x)
    torch.special.i1e(x)
    torch.logit(x)
    torch.logit(x, 0.25)
    x.amax()
    x[:4].amax()
    x.amin()
    x[2:4].amin()
    x.logsumexp(0)
    x[1:2].logsumexp(0)
    x[4:].logsumexp(0)
    x.half()
"""
CASTS = """
    torch.tensor([65520.0, -1e9, 1.0]).half()
    torch.full((2, 3), 1e6).t().to(torch.float16)
    torch.full((2, 3), 1e300).double().t().to(torch.float32)
"""


@pytest.mark.parametrize("call", [line.strip() for line in FUNCTIONS.strip().splitlines()])
def test_values_and_gradients_at_the_edges(call):
    assert_same(torch, f"{EDGES}; y = {call}; y.sum().backward(); y.detach(), x.grad")


@pytest.mark.parametrize("snippet", snippets_of(CASTS))
def test_call_is_pytorchs(snippet):
    assert_same(torch, snippet)
