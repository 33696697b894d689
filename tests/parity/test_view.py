"""View operations against PyTorch: geometry, sharing, nodes, gradients, errors."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import (  # noqa: E402
    assert_same_error, assert_same_gradient, assert_same_node, assert_same_result, evaluated)

import teachtorch  # noqa: E402

CALLS = """x.view(2, 6) | x.view((4, 3)) | x.view(size=(4, 3)) | x.view(-1) | x.view(torch.int32)
x.view(dtype=torch.int16) | y.view(torch.float32) | x.view_as(x.reshape(2, 6)) | p.reshape(6, 20)
p.reshape(-1) | p.reshape(shape=(30, 4)) | s.reshape(1, 1) | e.reshape(3, 0) | p.flatten() | p.flatten(1)
s.flatten() | p.ravel() | x.unflatten(1, (2, -1)) | torch.unflatten(x, 0, (3, 1)) | x.t() | x.T | x.mT
y.mT | y.mH | x.H | x.adjoint() | y.transpose(0, -1) | torch.transpose(y, 1, 2) | y.swapaxes(0, 1)
y.swapdims(0, 1) | y.permute(2, 0, 1) | y.permute((2, 0, 1)) | torch.permute(y, dims=(2, 0, 1))
y.movedim(0, 2) | torch.movedim(y, (0, 1), (1, 2)) | y.moveaxis(-1, 0) | s.expand(2, 3)
x[:, :1].expand(-1, 5) | x.expand(2, 3, 4) | x.expand(size=(2, 3, 4)) | x[:1].expand_as(x)
torch.broadcast_to(x, (2, 3, 4)) | x[:1].squeeze() | x[:1].squeeze(0) | x.squeeze(0)
y[:1, :, :1].squeeze((0, 2)) | torch.squeeze(x[:1], 0) | x.unsqueeze(1) | x.unsqueeze(-1) | p.unsqueeze(0)
x.narrow(1, 1, 2) | x.narrow(0, -2, 1) | x.narrow(1, torch.tensor(1), 2) | y.select(1, 2) | y.select(-1, -1)
y.unbind(1) | torch.unbind(x) | x.split(2, 1) | x.split([1, 3], 1) | torch.split(x, 2)
x.split_with_sizes((1, 2)) | x.chunk(3, 1) | x.chunk(5, 1) | torch.chunk(p, 4, -1) | x.tensor_split(3, 1)
x.tensor_split((1, 3), dim=1) | x.tensor_split(torch.tensor(2)) | torch.hsplit(x, 2) | torch.vsplit(x, (1,))
torch.dsplit(y, 2) | x.unfold(1, 2, 1) | p.unfold(0, 3, 2) | s.unfold(0, 1, 1) | x.diagonal()
x.diagonal(1) | torch.diagonal(y, -1, 0, 2) | x.as_strided((2, 2), (1, 2))
x[1:].as_strided((2, 2), (4, 1)) | torch.as_strided(x, (3,), (2,), 1) | x.clone().t_()
y.clone().transpose_(0, 2) | x[:1].clone().squeeze_() | x.clone().unsqueeze_(1)
x.clone().as_strided_((2, 2), (1, 2)) | x.clone().resize_(2, 3)
x.clone().resize_(2, 2, memory_format=None)""".replace("\n", " | ").split(" | ")

ERRORS = """x.view(5, 2) | x.t().view(12) | x.view(-1, -1) | x.view()
x.view(torch.float64).view(torch.int64, 2) | x.reshape(5, 2) | e.reshape(-1, 0) | y.t() | y.H | x[0].mT
y.permute(0, 1) | y.permute(0, 0, 1) | torch.permute(y, 0, 1, 2) | y.transpose(0, 3)
y.movedim((0, 1), (0,)) | x.expand(2) | x.expand() | x.expand(-1, 2, 3, 4) | x.squeeze(2) | x.unsqueeze(3)
x.narrow(0, 1, 3) | x.narrow(0, 0, -1) | s.narrow(0, 0, 1) | x.narrow(0, torch.tensor(1.5), 1)
x.select(0, 3) | s.select(0, 0) | x.split(0) | x.split(-1) | x.split([1, 1]) | x.chunk(0) | s.chunk(2)
s.unbind() | x.tensor_split(0) | s.tensor_split(1) | x.tensor_split(torch.tensor(1.5)) | torch.hsplit(x, 3)
torch.vsplit(x[0], 1) | torch.dsplit(x, 1) | x.unfold(0, 5, 1) | x.unfold(0, 1, 0) | x.diagonal(0, 1, 1)
x.as_strided((5, 5), (4, 1)) | x.as_strided((2,), (-1,)) | x.as_strided((2, 2), (1,))
x.requires_grad_().resize_(2) | x.requires_grad_().t_() | x.set_(i) | x.flatten(1, 0)
x.unflatten(1, (3, 2)) | x.unflatten(1, ()) | x.swapaxes(0, 2)""".replace("\n", " | ").split(" | ")

GRADIENTS = """x.view(2, 6) | x.t().reshape(12) | x.permute(1, 0) | x.expand(2, 3, 4) | x.unsqueeze(1)
x[:1].squeeze(0) | x.select(0, 1) | x.narrow(1, 1, 2) | x.split(2, 1) | x.unbind(1) | x.chunk(2)
x.tensor_split(2, 1) | x.unfold(1, 3, 1) | x.diagonal(1) | x.as_strided((3, 3), (1, 2))
x.as_strided((2, 2, 2), (0, 1, 1), 3) | x.mT | x.flatten() | x.movedim(0, 1) | (x * 1).t_()
(x * 1)[:1].squeeze_() | (x * 1).unsqueeze_(0) | (x * 1).transpose_(0, 1)
(x * 1).as_strided_((2, 2), (1, 2)) | x.squeeze() | x.squeeze(0) | x.squeeze((0, 1)) | x.adjoint() | x.T
x.H | x.ravel() | x.view_as(x) | x.expand_as(x)""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    # PyTorch lists its overloads, speaks of a sparse permute, or prints a C++ tensor type.
    spoken = str(evaluated(torch, call))
    other_words = "invalid combination", "sparse_coo", "torch.F"
    assert_same_error(torch, call, not any(words in spoken for words in other_words))


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradient_and_node(call):
    assert_same_gradient(torch, call, "x")
    assert_same_node(torch, call, "x")


@pytest.mark.parametrize("call", CALLS)
def test_storage_offset_and_base(call):
    if "_(" in call:
        return
    ours, theirs = evaluated(teachtorch, call), evaluated(torch, call)
    first = ours[0] if isinstance(ours, tuple) else ours
    second = theirs[0] if isinstance(theirs, tuple) else theirs
    assert first.storage_offset() == second.storage_offset()
    assert first._is_view() == second._is_view()


@pytest.mark.parametrize("library", [torch, teachtorch], ids=["torch", "teachtorch"])
class TestFacts:
    def test_outputs_of_a_multi_output_view_refuse_changes_in_place(self, library):
        x = library.ones(2, 3, requires_grad=True) * 1
        for parts in (x.unbind(), x.split(1), x.chunk(2)):
            with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
                parts[0].add_(1)

    def test_tensor_split_makes_ordinary_views(self, library):
        x = library.ones(4, requires_grad=True) * 1
        x.tensor_split(2)[0].mul_(3)
        assert x.tolist() == [3.0, 3.0, 1.0, 1.0]

    def test_resize_grows_the_storage_and_keeps_the_elements(self, library):
        x = library.arange(3)
        x.resize_(5)
        assert x.shape == (5,) and x[:3].tolist() == [0, 1, 2] and x._version == 1

    def test_set_shares_the_storage_of_the_source(self, library):
        x, y = library.zeros(2), library.arange(4.0)
        x.set_(y)
        x[3] = 9
        assert y[3] == 9 and x.shape == (4,)
        x.set_(y.untyped_storage(), 1, (2,), (2,))
        assert x.tolist() == [1.0, 9.0]

    def test_reshape_of_a_strided_tensor_copies(self, library):
        x = library.arange(6).reshape(2, 3)
        flat = x.t().reshape(6)
        flat[0] = 100
        assert x[0, 0] == 0 and not flat._is_view()

    def test_view_of_another_dtype_shares_the_bytes(self, library):
        x = library.zeros(2)
        x.view(library.int32)[0] = 0x3F800000
        assert x.tolist() == [1.0, 0.0]
