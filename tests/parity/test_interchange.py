"""NumPy, DLPack and Python's protocols, against PyTorch."""
import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import assert_same_error, assert_same_result, evaluated  # noqa: E402

import teachtorch  # noqa: E402

both = pytest.mark.parametrize("library", [torch, teachtorch], ids=["torch", "teachtorch"])

ERRORS = """x.requires_grad_().numpy() | x.bfloat16().numpy() | torch.empty(2, device="meta").numpy()
torch.from_numpy([1]) | torch.from_numpy(x.numpy()[::-1]) | torch.from_numpy(x.numpy().astype(">i4"))
x.item() | e.item() | torch.empty(1, device="meta").item() | bool(x) | bool(e) | int(x) | float(x)
[1, 2][x] | [1, 2][s] | hex(s) | len(s) | list(s) | "a" in x | format(x, ".3f")
x.requires_grad_().__dlpack__() | torch.asarray(x, dtype=torch.int32, copy=False)
torch.asarray([1.0], copy=False) | torch.empty(2, device="meta").tolist() | int(torch.tensor(nan))
torch.from_numpy(x.numpy().view("i2")[:, ::3].view("i2")).view(9) | torch.as_tensor([[1], [2, 3]])
torch.as_tensor(x.numpy()[:, ::-1])
torch.frombuffer(b"abc", dtype=torch.int16)""".replace("\n", " | ").split(" | ")

ANSWERS = """s.item() | i[0, 0].item() | b[0, 0].item() | x.tolist() | s.tolist() | b.tolist() | e.tolist()
torch.zeros(2, 0).tolist() | x.half().tolist() | x.bfloat16()[:1, :1].tolist() | bool(s) | bool(x[:1, :1])
int(torch.tensor(2.7)) | int(torch.tensor([2.7])) | float(b[0, 0]) | complex(s) | [1, 2, 3][torch.tensor(1)]
[1, 2, 3][torch.tensor([1])] | range(5)[torch.tensor(2)] | len(x) | [r.tolist() for r in x] | x[0, 0] in x
1e9 in x | x in x | f"{s:.3f}" | format(i[0, 0], "d") | format(x) | repr(x) | str(x.t()) | repr(s)
x.__array__().dtype | hash(x) == id(x) | reversed(x).tolist() | "numpy" in dir(x)
x.tolist() == list(map(list, x.numpy())) | (lambda u: torch.as_tensor(u) is u)(x) | torch.asarray(x) is x
torch.asarray(x, copy=True) is x | repr(x.requires_grad_())
repr((x.requires_grad_() * 2).detach())""".replace("\n", " | ").split(" | ")

CALLS = """torch.as_tensor(x.numpy()) | torch.as_tensor([1, 2.5]) | torch.as_tensor(x, dtype=torch.float64)
torch.asarray([1, 2]) | torch.asarray(x.numpy(), dtype=torch.int32) | torch.asarray(3)
torch.asarray(bytearray(b"abc"), dtype=torch.uint8)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int16, count=2, offset=1)
torch.from_dlpack(x.numpy()) | torch.from_dlpack(p) | torch.from_numpy(p.numpy()[:, ::2])
torch.from_numpy(x.numpy().T)""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", ANSWERS)
def test_answer(call):
    assert evaluated(teachtorch, call) == evaluated(torch, call)


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@both
class TestMemory:
    def test_numpy_shares_memory_both_ways(self, library):
        x = library.zeros(2, 3)
        array = x.numpy()
        array[0, 0], x[1, 2] = 5, 7
        assert x[0, 0] == 5 and array[1, 2] == 7 and x._version == 1

    def test_from_numpy_shares_memory_both_ways(self, library):
        array = np.zeros((3, 2)).T
        x = library.from_numpy(array)
        array[0, 1], x[1, 2] = 5, 7
        assert x[0, 1] == 5 and array[1, 2] == 7 and x.stride() == (1, 2)

    def test_reshaping_the_array_leaves_the_tensor_alone(self, library):
        x = library.zeros(4)
        array = x.numpy()
        array.shape = (2, 2)
        assert x.shape == (4,)

    def test_asarray_shares_and_array_copies(self, library):
        x = library.zeros(3)
        np.asarray(x)[0] = 1
        assert x[0] == 1
        with pytest.warns(DeprecationWarning):
            np.array(x)[1] = 1
        assert x[1] == 0

    def test_force_detaches(self, library):
        x = library.ones(2, requires_grad=True)
        assert (x * 2).numpy(force=True).tolist() == [2.0, 2.0]

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_numpy_functions_of_a_tensor_give_tensors(self, library):
        x = library.ones(2)
        assert isinstance(np.exp(x), library.Tensor) and np.add(x, np.ones(2)).dtype == library.float64

    def test_dlpack_shares_memory_both_ways(self, library):
        x = library.arange(3.0)
        np.from_dlpack(x)[0] = 9
        array = np.zeros(2)
        library.from_dlpack(array)[1] = 4
        assert x[0] == 9 and array[1] == 4
        capsule = library.utils.dlpack.to_dlpack(x)
        library.utils.dlpack.from_dlpack(capsule)[1] = 8
        assert x[1] == 8


def test_dlpack_between_the_libraries():
    ours, theirs = teachtorch.arange(4.0), torch.arange(4.0)
    torch.from_dlpack(ours)[0] = 9
    teachtorch.from_dlpack(theirs)[1] = 8
    assert ours[0] == 9 and theirs[1] == 8


def test_an_array_that_cannot_be_written_to_is_warned_of_once():
    array = np.broadcast_to(np.arange(3), (2, 3))
    teachtorch.core.once._given.clear()
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        assert teachtorch.from_numpy(array).stride() == (0, 1)


@both
class TestCopies:
    def test_pickle_keeps_geometry(self, library):
        x = library.arange(6.0).reshape(2, 3).t()[1:]
        again = pickle.loads(pickle.dumps(x))
        assert again.tolist() == x.tolist() and again.stride() == (1, 3) and again.storage_offset() == 1

    def test_pickle_keeps_requires_grad_and_drops_the_graph(self, library):
        x = library.ones(2, requires_grad=True)
        again = pickle.loads(pickle.dumps(x))
        assert again.requires_grad and again.is_leaf and again.grad is None

    def test_deepcopy_copies_leaves_with_their_gradients(self, library):
        x = library.ones(2, requires_grad=True)
        x.sum().backward()
        again = copy.deepcopy(x)
        assert again.requires_grad and again.grad.tolist() == [1.0, 1.0] and again.grad is not x.grad
        with library.no_grad():
            again[0] = 5
        assert x[0] == 1

    def test_deepcopy_keeps_sharing(self, library):
        x = library.zeros(3)
        first, second = copy.deepcopy([x, x[1:]])
        first[1] = 4
        assert second[0] == 4 and x[1] == 0

    def test_deepcopy_refuses_results(self, library):
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(library.ones(2, requires_grad=True) * 2)

    def test_shallow_copy_shares_memory(self, library):
        x = library.zeros(2)
        copy.copy(x)[0] = 3
        assert x[0] == 3

    def test_tensors_are_keys_by_identity(self, library):
        x, y = library.ones(2), library.ones(2)
        assert {x: 1, y: 2}[x] == 1 and len({x, y, x}) == 2
