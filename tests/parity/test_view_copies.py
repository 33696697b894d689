"""Copies of views, splits that are no views, and questions about tensors, against PyTorch."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import (  # noqa: E402
    assert_same_error, assert_same_gradient, assert_same_result, evaluated)

import teachtorch  # noqa: E402

CALLS = """torch.permute_copy(y, (2, 0, 1)) | torch.expand_copy(x, (2, 3, 4))
torch.transpose_copy(x, 0, 1) | torch.t_copy(x) | torch.select_copy(x, 0, 1) | torch.unbind_copy(x)
torch.split_copy(x, 2) | torch.squeeze_copy(x[:1]) | torch.unfold_copy(x, 1, 2, 1)
torch.narrow_copy(x, 1, 1, 2) | x.narrow_copy(0, 1, 1) | torch.view_copy(x, (2, 6))
torch.as_strided_copy(x, (2, 2), (1, 2)) | torch.unsqueeze_copy(x, 0) | torch.unsafe_split(x, 2)
x.unsafe_chunk(2, 1) | torch.unsafe_split_with_sizes(x, [1, 2])
torch.as_strided_scatter(x, torch.ones(2, 2), (2, 2), (1, 5)) | x.clone().fill_diagonal_(9)
torch.zeros(7, 3).fill_diagonal_(5, wrap=True) | torch.zeros(3, 3, 3).fill_diagonal_(5)
torch.empty_permuted((2, 3, 4), (1, 2, 0)).zero_() | x.sum_to_size(4) | x.sum_to_size(1, 4)
x.sum_to_size((3, 1)) | x.sum_to_size(3, 4) | b.sum_to_size(()) | x.clone().apply_(lambda v: v + 1)
x.clone().map_(x, lambda a, c: a * c) | torch.zero_(x.clone()) | torch.fill_(x.clone(), 2)
torch.detach(x)""".replace("\n", " | ").split(" | ")

ERRORS = """torch.zeros(3).fill_diagonal_(5) | torch.zeros(2, 3, 4).fill_diagonal_(5) | x.sum_to_size(5)
x.requires_grad_().apply_(abs) | x.is_nonzero() | e.is_nonzero()
torch.empty_permuted((2, 3), (0,))""".replace("\n", " | ").split(" | ")

ANSWERS = """s.is_nonzero() | torch.is_nonzero(x[:1, 0]) | x.dim_order() | x.t().dim_order()
x.is_set_to(x) | x.is_set_to(x[:]) | x.is_set_to(x.t()) | x.is_same_size(i) | torch.typename(x)
torch.typename(1) | torch.is_storage(x.untyped_storage()) | torch.get_device(x) | x.is_conj() | x.is_neg()
x.is_sparse | x.is_quantized | torch.is_signed(u) | torch.is_inference(x)
x.const_data_ptr() == x.data_ptr() | torch.unsafe_split(x, 1)[0]._is_view()
x.name""".replace("\n", " | ").split(" | ")

GRADIENTS = """torch.permute_copy(x, (1, 0)) | torch.unsafe_split(x, 2)[1]
torch.unsafe_split_with_sizes(x, [1, 2])[1] | (x * 1).fill_diagonal_(9)
x.sum_to_size(4)""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", ANSWERS)
def test_answer(call):
    assert evaluated(teachtorch, call) == evaluated(torch, call)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradient(call):
    assert_same_gradient(torch, call, "x")
