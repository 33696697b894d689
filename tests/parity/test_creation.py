"""Factories against PyTorch: values, dtypes, strides, errors."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import assert_same_error, assert_same_result, evaluated  # noqa: E402

import teachtorch  # noqa: E402

CALLS = """torch.tensor([[1, 2], [3, 4]]) | torch.tensor([1, 2.5]) | torch.tensor([True, 2])
torch.tensor(3.5) | torch.tensor([]) | torch.tensor([[], []]) | torch.tensor([[], [1]])
torch.tensor(range(3)) | torch.tensor([[1, 2], (3, 4)], dtype=torch.int8) | torch.tensor([x[0, 0], x[1, 1]])
torch.tensor([i[0, 0], 2.5]) | torch.tensor([1.5], dtype=torch.int64) | torch.tensor(-1, dtype=torch.uint8)
torch.tensor(x.numpy()) | torch.tensor([x.numpy()[0, 0], 1.0]) | torch.tensor([x[:1, 0], x[1:2, 0]])
torch.tensor([nan], dtype=torch.bool) | torch.tensor(1e300) | torch.tensor([1, 2], dtype=float)
torch.zeros(2, 3) | torch.zeros((2, 3), dtype=torch.int32) | torch.ones(()) | torch.ones(size=(2,))
torch.zeros([2, 0]) | torch.zeros(torch.tensor(2)) | torch.full((2,), 3) | torch.full((2,), 2.5)
torch.full((2,), True) | torch.full((2, 2), s) | torch.full((2,), 1.5, dtype=torch.int64)
torch.full((2,), -1, dtype=torch.uint8) | torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).zero_()
torch.empty_strided((2, 3), (1, 2)).zero_() | torch.zeros_like(p) | torch.ones_like(x.t())
torch.full_like(p[::2], 2) | torch.zeros_like(x, dtype=torch.int64)
torch.ones_like(x.t(), memory_format=torch.contiguous_format) | torch.empty_like(p).zero_()
torch.zeros_like(e) | torch.zeros_like(x.expand(2, 3, 4)) | x.new_zeros(2, 3) | i.new_ones((2,))
x.new_full((2,), 3) | i.new_full((2,), 3.5) | x.new_tensor([1, 2]) | i.new_tensor([1.5]) | x.new_empty((0,))
x.new_empty_strided((2, 3), (1, 2)).zero_() | x.new([1, 2]) | torch.arange(5) | torch.arange(5.0)
torch.arange(1, 4) | torch.arange(1, 2.5, 0.5) | torch.arange(0, 1, 0.1) | torch.arange(5, 0, -2)
torch.arange(0, 7.3, 0.7) | torch.arange(3, dtype=torch.float64) | torch.arange(end=3)
torch.arange(0, end=3.1, dtype=torch.int64) | torch.arange(100, dtype=torch.float16)
torch.arange(0.1, 50, 0.37) | torch.linspace(0, 1, 5) | torch.linspace(-3, 10, 7) | torch.linspace(0, 1, 1)
torch.linspace(0, 1, 0) | torch.linspace(0, 10, 7, dtype=torch.int64) | torch.linspace(s, 4, 3)
torch.logspace(0, 2, 3) | torch.logspace(-1, 1, 4, base=2) | torch.eye(3) | torch.eye(2, 4) | torch.eye(0)
torch.scalar_tensor(3) | torch.range(1, 3) | torch.Tensor([1, 2]) | torch.Tensor((2, 3)) | torch.Tensor()
torch.LongTensor([1.7, 2]) | torch.FloatTensor([[1]]) | torch.zeros(2, 3, out=torch.empty(0))
torch.arange(1, 5, out=torch.empty(0)) | torch.full((2,), 1, out=torch.empty(2))
torch.tril_indices(3, 4, -1) | torch.triu_indices(3, 4, 1)""".replace("\n", " | ").split(" | ")

ERRORS = """torch.tensor([[1, 2], [3]]) | torch.tensor([[1, 2], 3]) | torch.tensor([1, [2, 3]])
torch.tensor(["a"]) | torch.tensor("a") | torch.tensor(None) | torch.tensor([1, None])
torch.tensor({1: 2}) | torch.tensor(2 ** 63) | torch.tensor([300], dtype=torch.uint8)
torch.tensor([x[0], x[1]]) | torch.tensor(x.numpy()[::-1]) | torch.tensor([1], requires_grad=True)
torch.tensor(1, dtype="int") | torch.tensor(b"abc") | torch.zeros(-1) | torch.zeros(2.0)
torch.zeros((2.0,)) | torch.zeros("a") | torch.zeros() | torch.zeros(2, dtype="f") | torch.ones(-1)
torch.empty(-2) | torch.zeros(2, requires_grad=True, dtype=torch.int64) | torch.full(2, 3)
torch.full((2,), x) | torch.full((2,), "a") | torch.full((2,), 300, dtype=torch.uint8)
torch.empty_strided((2, 2), (1,)) | torch.empty_strided((2, 2), (-1, 1)) | torch.arange(5, 0)
torch.arange(0, 5, 0) | torch.arange(0, inf) | torch.arange(5, dtype=torch.bool) | torch.linspace(0, 1, -1)
torch.linspace(0, x, 3) | torch.eye(-1) | torch.Tensor(2.5) | torch.Tensor("a") | torch.Tensor(-1)
torch.Tensor([[1, 2], [3]]) | torch.tril_indices(-1, 3) | torch.broadcast_shapes((2,), (3,))
torch.arange(3, requires_grad=True)""".replace("\n", " | ").split(" | ")

ANSWERS = """torch.is_tensor(x) | torch.is_tensor(1) | torch.numel(x)
torch.can_cast(torch.float, torch.int) | torch.can_cast(torch.int, torch.float)
tuple(torch.broadcast_shapes((2, 1), (3,), 1)) | torch.is_floating_point(i) | str(torch.result_type(i, 1.5))
str(torch.result_type(x.half(), s)) | str(torch.promote_types(torch.int8, torch.uint8))
torch.Tensor(2, 3).shape == (2, 3) | torch.Tensor(torch.Size([2])).shape == (2,)
torch.ones(2, requires_grad=True).is_leaf | str(torch.get_default_dtype())
str(torch.zeros(2, device="meta").device)""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", ANSWERS)
def test_answer(call):
    assert evaluated(teachtorch, call) == evaluated(torch, call)


@pytest.mark.parametrize("dtype", "uint8 int16 int32 int64 float16 bfloat16 float32 float64".split())
@pytest.mark.parametrize("bounds", [(0, 100, 3), (5, -20, -4), (0.5, 30, 1.7)])
def test_ranges_of_each_dtype(bounds, dtype):
    if dtype == "uint8" and bounds[1] < 0:
        return
    assert_same_result(torch, f"torch.arange(*{bounds}, dtype=torch.{dtype})")
    assert_same_result(torch, f"torch.linspace({bounds[0]}, {bounds[1]}, 23, dtype=torch.{dtype})")


@pytest.mark.parametrize("library", [torch, teachtorch], ids=["torch", "teachtorch"])
class TestFacts:
    def test_tensor_copies_and_warns_of_a_tensor(self, library):
        x = library.ones(2)
        with pytest.warns(UserWarning, match="To copy construct from a tensor"):
            y = library.tensor(x)
        y[0] = 5
        assert x[0] == 1

    def test_default_dtype(self, library):
        library.set_default_dtype(library.float64)
        try:
            assert library.tensor(1.5).dtype == library.zeros(1).dtype == library.float64
            assert library.Tensor([1]).dtype == library.float64
        finally:
            library.set_default_dtype(library.float32)
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            library.set_default_dtype(library.int32)

    def test_default_device(self, library):
        with library.device("meta"):
            assert library.zeros(2).is_meta and library.tensor([1]).is_meta and library.arange(3).is_meta
        assert library.zeros(2).is_cpu
