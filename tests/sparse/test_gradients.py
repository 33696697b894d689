"""Gradients of sparse tensors and through them: PyTorch's values and layouts, and mathematics."""
import pytest

import teachtorch as torch
from tests.sparse.cases import agree
from tests.sparse.test_like_pytorch import lines

LEAVES = """
i = torch.tensor([[1, 0, 1, 1], [2, 2, 0, 2]])
values = torch.tensor([3., 4., 5., 6.]).requires_grad_()
u = torch.sparse_coo_tensor(i, values.detach().clone(), (2, 3)).requires_grad_()
c = torch.sparse_coo_tensor(i, values.detach().clone(), (2, 3)).coalesce().detach().requires_grad_()
d, e = torch.arange(1., 7).reshape(3, 2).requires_grad_(), torch.ones(2, 2).requires_grad_()
m = torch.tensor([[1., 0, 2], [0, 0, 3]]).requires_grad_()
S = torch.sparse_coo_tensor

def gradients(out):
    start = out.detach() * 0.5 if out.is_sparse else torch.arange(1., 1 + out.numel()).reshape(out.shape)
    out.backward(start)
    found = [values.grad, u.grad, c.grad, d.grad, e.grad, m.grad]
    # An accumulator that takes a gradient over forgets in PyTorch that it was coalesced.
    return out.grad_fn.name(), [(g._indices(), g._values()) if g.is_sparse else g for g in found if g is not None]
"""

OUTPUTS = lines("""
S(i, values, (2, 3)).to_dense()
S(i, values, (2, 3)).coalesce().values()
S(i, values, (2, 3)) * 2
torch.sparse.mm(S(i, values, (2, 3)), d)
torch.sparse.sum(S(i, values, (2, 3)), 0).to_dense()
S(i, torch.stack([values, values], 1), (2, 3, 2)).to_dense()
u.to_dense()
u.to_dense(masked_grad=False)
u.coalesce()
u.coalesce().values()
torch.mm(u, d)
torch.sparse.mm(u, d)
torch.sparse.mm(c, d)
torch.mv(u, torch.ones(3))
torch.addmm(e, u, d, beta=2, alpha=3)
torch.sparse.addmm(e, u, d, beta=2, alpha=3)
torch.mm(e, u)
u.sum()
torch.sparse.sum(u)
torch.sparse.sum(u, 0)
torch.sparse.sum(u, (0, 1))
u.t()
-u
u / 2
u * c
u + c
m + u
m * u
u.clone()
u.double()
c.sparse_mask(u.detach().coalesce())
torch.sparse.softmax(u, 1)
torch.sparse.log_softmax(c, 1)
m.to_sparse()
m.to_sparse(1)
m.to_sparse().to_dense()
m.sparse_mask(c.detach())
m.sparse_mask(u.detach())
m.sparse_mask(c.detach()).to_dense()
u.sin()
u[0]
torch.cat([u, u])
""")


@pytest.mark.parametrize("out", OUTPUTS)
def test_gradient(out):
    agree(LEAVES + f"gradients({out})")


GRADCHECKS = lines("""
lambda x: torch.sparse.mm(x, D), (x,)
lambda x: torch.mm(x, D), (x,)
lambda x: x.to_dense(), (x,)
lambda x: x.to_dense(masked_grad=False), (x,)
lambda x: x * 2, (x,)
lambda x: torch.sparse.sum(x, 0).to_dense(), (x,)
lambda x, d: torch.sparse.mm(x, d), (x, D.clone().requires_grad_())
lambda x: torch.sparse.softmax(x, 1).to_dense(), (x,)
lambda x: (x * 3).to_dense() ** 2, (x,)
lambda d: d.sparse_mask(x.detach()).to_dense(), (torch.ones(2, 3, dtype=torch.float64).requires_grad_(),)
lambda v: torch.sparse.mm(torch.sparse_coo_tensor(i, v, (2, 3)), D) ** 2, (v,)
""")


@pytest.mark.parametrize("masked", [None, True, False])
@pytest.mark.parametrize("case", GRADCHECKS)
def test_gradcheck_says_what_pytorchs_says(case, masked):
    agree(f"""
i = torch.tensor([[0, 1, 1], [2, 0, 2]])
v = torch.tensor([3., 4., 5.], dtype=torch.float64).requires_grad_()
x, D = torch.sparse_coo_tensor(i, v.detach(), (2, 3)).requires_grad_(), torch.ones(3, 2, dtype=torch.float64)
function, inputs = {case}
torch.autograd.gradcheck(function, inputs, masked={masked}, raise_exception=False)
""")


def through_entries(f):
    """A function of the values of a tensor with a place that occurs twice."""
    i = torch.tensor([[1, 0, 1, 1], [2, 2, 0, 2]])
    return lambda v: f(torch.sparse_coo_tensor(i, v, (2, 3)))


@pytest.mark.parametrize("f", [
    lambda x: x.to_dense() ** 2, lambda x: x.coalesce().values() ** 2, lambda x: (x * x).to_dense(),
    lambda x: torch.sparse.mm(x, torch.ones(3, 2, dtype=torch.float64)) ** 2,
    lambda x: torch.sparse.sum(x, 0).to_dense() ** 2, lambda x: torch.sparse.softmax(x, 1).to_dense(),
    lambda x: (x.t() + x.t()).to_dense() ** 2])
def test_first_and_second_derivative_equal_differences(f):
    values = torch.tensor([0.3, 0.4, -0.5, 0.6], dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(through_entries(f), (values,))
    if f.__code__.co_names[:2] != ("torch", "sparse") or "softmax" not in f.__code__.co_names:
        assert torch.autograd.gradgradcheck(through_entries(f), (values,))


def test_an_error_of_a_thousandth_is_seen(monkeypatch):
    formula = torch.dispatch.operator.registry["_to_dense"].info.derivatives.formulas[0]
    right = formula.fn
    monkeypatch.setattr(formula, "fn", lambda grad, self, masked_grad: right(grad, self, masked_grad) * 1.002)
    torch.dispatch.operator.registry["_to_dense"].info.derivatives._plans.clear()
    values = torch.tensor([0.3, 0.4, -0.5, 0.6], dtype=torch.float64).requires_grad_()
    check = through_entries(lambda x: x.to_dense())
    try:
        assert not torch.autograd.gradcheck(check, (values,), raise_exception=False)
    finally:
        torch.dispatch.operator.registry["_to_dense"].info.derivatives._plans.clear()


# ---- gradients of a table, and how they add up -------------------------------------------------------------

TABLE = """
F, index = nn.functional, torch.tensor([[1, 3, 1], [0, 4, 3]])
w = torch.arange(15.).reshape(5, 3).requires_grad_()
"""


@pytest.mark.parametrize("order", ["s", "ss", "sd", "ds", "dsd", "sss"])
@pytest.mark.parametrize("end", ["sum()", "pow(2).sum()"])
def test_gradients_of_several_backward_calls(order, end):
    calls = "".join(
        f"F.embedding(index{'' if k == 's' else '[0]'}, w, sparse={k == 's'}).{end}.backward()\n" for k in order
    )
    agree(TABLE + calls + "w.grad")


@pytest.mark.parametrize("sum_of", [
    "F.embedding(index, w, sparse=True).sum() * 2 + F.embedding(index[1], w, sparse=True).sum()",
    "F.embedding(index, w, sparse=True).sum() + F.embedding(index[0], w).sum()",
    "F.embedding(index[0], w).sum() + F.embedding(index, w, sparse=True).sum() + F.embedding(index, w).sum()",
    "F.embedding(index, w, padding_idx=1, sparse=True).pow(2).sum()",
    "F.embedding_bag(index, w, sparse=True, mode='sum').pow(2).sum()"])
def test_gradients_of_one_backward_call(sum_of):
    agree(TABLE + f"({sum_of}).backward()\nw.grad if not w.grad.is_sparse else w.grad.coalesce()")


def test_scaling_by_frequency_is_refused():
    agree(TABLE + "F.embedding(index, w, sparse=True, scale_grad_by_freq=True).sum().backward()")


def test_the_gradient_with_a_graph_of_its_own():
    agree(TABLE + "torch.autograd.grad((F.embedding(index, w, sparse=True) ** 2).sum(), w, create_graph=True)[0]")


def test_a_sparse_gradient_takes_memory_by_the_lookups_not_by_the_table():
    table = torch.nn.Embedding(100_000, 4, sparse=True)
    table(torch.tensor([5, 7, 5])).sum().backward()
    assert table.weight.grad._values().shape == (3, 4)
    assert table.weight.grad.coalesce().indices().tolist() == [[5, 7]]
