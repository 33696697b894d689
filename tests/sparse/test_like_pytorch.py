"""Sparse tensors, call by call, against PyTorch."""
import pytest

from tests.sparse.cases import agree

START = """
i = torch.tensor([[0, 1, 1], [2, 0, 2]])
v = torch.tensor([3., 4., 5.])
x = torch.sparse_coo_tensor(i, v.clone(), (2, 3))
c = torch.sparse_coo_tensor(i, v.clone(), (2, 3)).coalesce()
u = torch.sparse_coo_tensor(torch.tensor([[1, 0, 1, 1], [2, 2, 0, 2]]), torch.tensor([3., 4., 5., 6.]), (2, 3))
h = torch.sparse_coo_tensor(torch.tensor([[1, 1, 0]]), torch.arange(6.).reshape(3, 2), (2, 2))
n = torch.sparse_coo_tensor((2, 3))
d, m = torch.ones(3, 2), torch.arange(6.).reshape(2, 3)
"""


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


MAKING = lines("""
torch.sparse_coo_tensor(i, v)
torch.sparse_coo_tensor(i, v, (2,))
torch.sparse_coo_tensor(i, v, (1, 3))
torch.sparse_coo_tensor(i, v, (2, 3, 1))
torch.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2], dtype=torch.float64)
torch.sparse_coo_tensor([2, 3], dtype=torch.float64)
torch.sparse_coo_tensor(size=(2, 3))
torch.sparse_coo_tensor(2, 3)
torch.sparse_coo_tensor(i, v[:2])
torch.sparse_coo_tensor(i.float(), v)
torch.sparse_coo_tensor(i[0], v)
torch.sparse_coo_tensor(i, torch.tensor(1.))
torch.sparse_coo_tensor(-i, v)
torch.sparse_coo_tensor(-i, v, (2, 3))
torch.sparse_coo_tensor(-i, v, (2, 3), check_invariants=True)
torch.sparse_coo_tensor(i, v, (1, 3), check_invariants=True)
torch.sparse_coo_tensor(i, v, (2, 3), is_coalesced=True)
torch.sparse_coo_tensor(i[:, [0, 0, 1]], v, (2, 3), is_coalesced=True, check_invariants=True)
torch.sparse_coo_tensor(torch.empty(2, 0), torch.empty(0), (2, 3))
torch.sparse_coo_tensor(torch.empty(0, 2, dtype=torch.long), torch.ones(2)).coalesce()
torch.sparse_coo_tensor(i, v, (2, 3), requires_grad=True)
torch.sparse_coo_tensor(i, v, dtype=torch.int32, requires_grad=True)
torch.sparse_coo_tensor(i, torch.ones(3, 2), (2, 3, 4))
torch.sparse_coo_tensor(i, torch.ones(3, 0))
torch.sparse_coo_tensor(i, v, (-2, 3))
torch.sparse_coo_tensor(i, v, 2)
torch.sparse_coo_tensor('a', v)
torch.sparse_coo_tensor(i)
torch.sparse_coo_tensor()
torch.sparse_coo_tensor(i[:, :1], v[:1]).is_coalesced()
torch.sparse_coo_tensor(i, v.half(), (2, 3))
torch.sparse_coo_tensor(i, v.to(torch.bfloat16), (2, 3)).coalesce()
torch.sparse_coo_tensor(i[:, [0, 0, 1]], v.bool(), (2, 3)).coalesce()
torch.zeros(2, 3, layout=torch.sparse_coo, requires_grad=True)
torch.ones(2, 3, layout=torch.sparse_coo)
torch.zeros_like(u)
torch.zeros_like(u, layout=torch.strided)
torch.zeros_like(m, layout=torch.sparse_coo)
u.new_zeros(2, 2)
""")

READING = lines("""
(x.layout, x.is_sparse, m.layout, m.is_sparse, x.device, x.type())
(h.sparse_dim(), h.dense_dim(), m.sparse_dim(), m.dense_dim(), h._nnz(), h.numel(), h.element_size())
(x.stride(), x.is_contiguous(), x.storage_offset(), x.is_leaf, len(x), x.size(), x.dim())
u.indices()
u.values()
(c.indices(), c.values())
(u._indices(), u._values())
c.coalesce() is c
u.coalesce()
h.coalesce()
n.coalesce()
m.coalesce()
m.indices()
m.values()
m._nnz()
m.is_coalesced()
m._indices()
u._coalesced_(True)
u.detach()
u.to_dense()
h.to_dense()
n.to_dense()
u.to_dense(torch.float64)
m.to_dense() is m
m.to_dense(torch.float64)
m.to_sparse()
m.to_sparse(1)
m.to_sparse(0)
m.to_sparse(3)
torch.tensor(3.).to_sparse()
torch.zeros(0, 3).to_sparse()
m.to_sparse(layout=torch.sparse_coo)
m.to_sparse_coo()
x.to_sparse(1)
x.to_sparse(2) is x
m.sparse_mask(c)
m.sparse_mask(u)
m.sparse_mask(h)
m.sparse_mask(m)
c.sparse_mask(u)
u.sparse_mask(c)
x.numpy()
x.tolist()
x.untyped_storage()
x.data_ptr()
x.nbytes
x.contiguous()
x.item()
torch.sparse_coo_tensor(torch.zeros(0, 1).long(), torch.ones(1)).item()
bool(x)
u.sparse_resize_((5, 6), 2, 0)
u.sparse_resize_((2, 3), 1, 1)
u.sparse_resize_and_clear_((5, 6), 1, 1)
repr(u)
repr(h)
repr(n)
repr(x.requires_grad_() * 2)
repr(torch.sparse_coo_tensor(i, v.double().requires_grad_(), (2, 3)))
repr(torch.sparse_coo_tensor(torch.arange(1200).reshape(1, -1), torch.arange(1200.), (2000,)))
repr(torch.sparse_coo_tensor(i, torch.ones(3, 30), (2, 3, 30)))
repr(nn.Parameter(x))
str([u])
""")

ARITHMETIC = lines("""
x + u
u + u
c + c
c + n
n + c
c + torch.sparse_coo_tensor(i, v.double(), (2, 3))
x + torch.sparse_coo_tensor(i, v, (3, 3))
x + h
m + u
torch.ones(2, 2) + h
torch.ones(3, 3) + x
torch.ones(3) + x
torch.add(m, u, alpha=3)
torch.add(x, u, alpha=3)
torch.sub(x, u, alpha=3)
m - u
u - m
x + 1
1 + x
m.add_(u)
m.long().add_(u)
m.long() + u
u.add_(c)
u.add_(m)
u.sub_(c)
torch.ones(2, 3, 2).transpose(0, 1).select(2, 1).t().add_(u)
x * u
u * x
u * u
c * c
c * u
u * n
m * u
u * torch.ones(3)
u * torch.ones(1, 2, 3)
h * torch.ones(2, 1)
h * h
x * h
u * 2.5
torch.sparse_coo_tensor(i, v.long(), (2, 3)) * 2.5
u * torch.tensor(2., dtype=torch.float64)
u.mul_(2)
u.mul_(u)
u.mul_(m)
m.mul_(u)
u / 2
torch.sparse_coo_tensor(i, v.long(), (2, 3)) / 2
u / u
u // 2
torch.div(u, 2, rounding_mode='trunc')
u.div_(2)
-u
u.neg_()
u.abs()
u.abs_()
c.abs_()
u.sqrt()
u.relu()
u.sin()
u.tanh()
u.isnan()
u.log1p()
u ** 2
u ** 0.5
u.pow(0)
u.pow(m)
u.clone()
c.clone()
c.zero_()
u.copy_(c)
u.copy_(torch.sparse_coo_tensor(i, v, (3, 3)))
u.copy_(h)
m.copy_(u)
u.double()
c.to(torch.float64)
u.to('cpu') is u
u.bool()
u.any()
""")

SHAPES = lines("""
u.t()
c.t()
h.t()
u.transpose(0, 1)
c.transpose(0, 0)
h.transpose(0, 1)
u.transpose(0, 5)
u.permute(1, 0)
c.permute(0, 1)
u.T
u.mT
u.unsqueeze(0)
c.unsqueeze(2)
h.unsqueeze(2)
h.unsqueeze(1)
u.index_select(0, torch.tensor([1, 0, 1]))
c.index_select(1, torch.tensor([2]))
h.index_select(1, torch.tensor([1]))
u.index_select(0, torch.tensor([2]))
u[1]
c[1]
u[1, 2]
u[:, 2]
h[1]
h[:, 1]
u[5]
u[None]
list(u)
u.unbind(1)
u.narrow_copy(1, 1, 2)
torch.cat([u, c])
torch.cat([u, c], 1)
torch.cat([h, h], 1)
torch.cat([c, m])
torch.cat([u, h])
torch.cat([u, torch.sparse_coo_tensor(i, v, (3, 3))], 1)
torch.stack([u, u], 1)
u.sum()
u.sum(0)
u.sum((0, 1))
u.sum(0, keepdim=True)
h.sum(1)
h.sum(0)
torch.sparse_coo_tensor(i, v.int(), (2, 3)).sum()
torch.sparse.sum(u)
torch.sparse.sum(u, 0)
torch.sparse.sum(u, (0, 1))
torch.sparse.sum(u, ())
torch.sparse.sum(h, 1)
torch.sparse.sum(u, 0, dtype=torch.float64)
torch.sparse.sum(u, 5)
torch.sparse.sum(m)
torch.sparse.sum(n, 0)
torch.sparse.softmax(u, 1)
torch.sparse.softmax(u, 0)
torch.sparse.log_softmax(u, 1)
torch.sparse.softmax(h, 1)
u.norm()
""")

PRODUCTS = lines("""
u @ d
torch.mm(c, d.double())
torch.mm(c, torch.ones(2, 2))
torch.mm(c, torch.ones(3))
torch.mm(h, torch.ones(2, 2))
torch.ones(2, 2) @ u
u @ u.t()
torch.sparse.mm(u, d)
torch.sparse.mm(torch.ones(2, 2), u)
torch.sparse.mm(u, u.t())
torch.sparse.mm(u, u)
torch.sparse.mm(m, d)
torch.sparse.mm(torch.sparse_coo_tensor(i, v.long(), (2, 3)), d.long())
torch.sparse.mm(torch.sparse_coo_tensor(i, v.half(), (2, 3)), d.half())
torch.mv(u, torch.ones(3))
torch.mv(u, torch.ones(2))
torch.mv(u, torch.ones(3, 1))
torch.mv(u, torch.ones(3).double())
torch.addmm(torch.ones(2), u, d, beta=0.5, alpha=2)
torch.addmm(torch.ones(2, 3), u, d)
torch.sparse.addmm(torch.ones(2, 2), u, d, beta=0.5, alpha=2)
torch.bmm(torch.ones(2, 2, 3).to_sparse(), torch.ones(2, 3, 1))
u.bmm(d)
u.smm(d)
torch.hspmm(u, d)
nn.functional.linear(torch.ones(1, 3), x)
""")

REFUSED = lines("""
x.cos()
x.exp()
x == x
x.view(6)
x.reshape(6)
x.expand(2, 2, 3)
x.max()
x.argmax()
x.fill_(1)
x.narrow(0, 0, 1)
x.split(1)
x.squeeze(0)
x[0:1]
x[torch.tensor([0])]
x > 0
x.softmax(0)
torch.equal(x, x)
x.resize_(2, 3)
x.set_(x)
2 / u
x.cumsum(0)
x.prod()
x.gather(0, i)
torch.dot(u[0], u[0])
torch.where(m > 0, u, u)
nn.functional.gelu(u)
nn.functional.mse_loss(u, u)
u.index_add_(0, torch.tensor([0]), m[:1])
u.share_memory_()
u.is_shared()
""")


@pytest.mark.parametrize("program", MAKING + READING + ARITHMETIC + SHAPES + PRODUCTS + REFUSED)
def test_call(program):
    agree(START + program)
