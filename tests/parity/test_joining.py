"""Joining, repeating and turning against PyTorch."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import (  # noqa: E402
    assert_same_error, assert_same_gradient, assert_same_node, assert_same_result)

LAST = "torch.ones(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)"
CALLS = f"""torch.cat([x, x]) | torch.cat((x, x), 1) | torch.cat(tensors=(x, x), dim=-1) | torch.cat([x, i])
torch.cat([x.t(), x.t()]) | torch.cat([x, torch.tensor([])]) | torch.cat([i.int(), x.half()])
torch.cat([{LAST}, {LAST}]) | torch.cat([p, p], 2) | torch.concat([x, x]) | torch.concatenate([x, x])
torch.cat([x, x], out=torch.empty(0)) | torch.stack([x, x]) | torch.stack([x, i], 1) | torch.stack([s, s])
torch.stack([x.t(), x.t()], -1) | torch.hstack([s, s]) | torch.hstack([x, x]) | torch.vstack([x[0], x[1]])
torch.row_stack([x, x]) | torch.dstack([x[0], x[1]]) | torch.column_stack([x[:, 0], x]) | x.repeat(2, 1)
x.repeat((2, 1, 2)) | s.repeat(3) | x.repeat(0, 1) | p.repeat(1, 2, 1) | x.tile(2)
torch.tile(x, (2, 1, 1)) | x.repeat_interleave(2) | x.repeat_interleave(2, 1)
x.repeat_interleave(torch.tensor([1, 0, 2]), dim=0) | torch.repeat_interleave(torch.tensor([1, 2]))
x.repeat_interleave(torch.tensor([2]), 0) | torch.flip(x, [0]) | x.flip(0, 1) | p.flip(-1) | torch.fliplr(x)
torch.flipud(x) | x.roll(1) | x.roll((1, 2), (0, 1)) | s.roll(1) | p.roll(-1, 0) | torch.rot90(x)
torch.rot90(x, 2) | torch.rot90(y, -1, [2, 0]) | p.rot90() | torch.tril(x) | x.triu(1) | y.tril(-1)
b.tril() | x.t().tril() | x.clone().tril_() | torch.diag(x[0]) | torch.diag(x) | torch.diag(x, 5)
torch.diag(x[0], -1) | torch.diag_embed(x) | torch.diag_embed(x, 1, 0, 2) | torch.diagflat(x, 1)
torch.block_diag(x, x[0], s) | torch.cartesian_prod(x[0], x[1]) | torch.cartesian_prod(x[0])
torch.combinations(x[0]) | torch.combinations(x[0], 3, True) | torch.meshgrid(x[0], x[1], indexing="xy")
torch.meshgrid([x[0], s], indexing="ij") | torch.meshgrid(x[0], x[1], x[2], indexing="xy")
torch.broadcast_tensors(x, x[0], s) | torch.atleast_1d(s) | torch.atleast_2d(x[0], s) | torch.atleast_3d(x)
torch.tril(e)""".replace("\n", " | ").split(" | ")

ERRORS = """torch.cat([x, x[0]]) | torch.cat([]) | torch.cat([x, x], 2) | torch.cat([x, x.t()])
torch.cat([s, x[0]]) | torch.cat(x) | torch.cat((x, 1)) | torch.stack([x, x[0]]) | torch.stack([])
torch.stack([x], 3) | torch.hstack([]) | x.repeat(2) | x.repeat(-1, 2) | x.repeat_interleave(-1)
x.repeat_interleave(torch.tensor([1, 2])) | x.repeat_interleave(torch.tensor([1.0, 2, 3]), dim=0)
x.repeat_interleave(torch.tensor([1, -2, 1]), dim=0) | x.repeat_interleave(torch.tensor([[1, 2]]), dim=0)
x.flip() | x.flip(0, 0) | x.flip(2) | torch.flip(x, 0) | torch.fliplr(x[0]) | torch.flipud(s)
x.roll((1, 2)) | x.roll(1, (0, 1)) | torch.rot90(x, 1, [0, 0]) | torch.rot90(x[0]) | torch.rot90(x, 1, [0])
torch.tril(x[0]) | torch.diag(s) | torch.diag(y) | torch.diag_embed(x, 0, 0, 0) | torch.block_diag(y)
torch.cartesian_prod(x, x[0]) | torch.meshgrid(x[0], x[1], indexing="ab") | torch.meshgrid()
torch.meshgrid(x[0], i[0], indexing="ij") | torch.broadcast_tensors(x, x.t())
torch.cat([x, x], out=x)""".replace("\n", " | ").split(" | ")

GRADIENTS = """torch.cat([x, x]) | torch.cat([x, x], 1) | torch.stack([x, x], 1) | torch.hstack([x, x])
x.repeat(2, 1) | x.tile(2) | x.repeat_interleave(2, 1) | x.flip(0) | x.roll(1) | x.rot90() | x.tril()
x.triu(1) | torch.diag(x[0]) | torch.diag(x) | torch.diag_embed(x) | torch.block_diag(x, x)
torch.cartesian_prod(x[0], x[1]) | torch.meshgrid(x[0], x[1], indexing="ij") | torch.column_stack([x, x])
torch.broadcast_tensors(x[0], x) | (x * 1).tril_()""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call, same_text="out=x" not in call)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradient_and_node(call):
    assert_same_gradient(torch, call, "x")
    assert_same_node(torch, call, "x")
