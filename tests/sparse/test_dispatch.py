"""The layout is a dispatch key of its own; kernels, listing, refusals, views of the engine."""
import copy
import io
import pickle

import pytest
import torch as pytorch

import teachtorch as torch
from teachtorch.core import observer
from tests.sparse.cases import agree, described


def example():
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 5.], (2, 3))


def keys_of_calls(function):
    """The (operator, key) pairs of every dispatch that a function makes."""
    seen = []
    with observer.watching(lambda topic, fields: seen.append((fields["op"], fields["key"])), "dispatch"):
        function()
    return seen


def test_a_call_goes_down_to_the_layouts_key_and_the_values_to_the_cpus():
    x = example().requires_grad_()
    assert keys_of_calls(lambda: torch.abs(x)) == [("abs", "Autograd"), ("abs", "SparseCPU"), ("abs", "CPU")]
    assert ("mm", "SparseCPU") in keys_of_calls(lambda: x @ torch.ones(3, 2))


def test_the_listing_tells_sparse_kernels_from_missing_ones():
    assert torch.ops["add"].served("SparseCPU").how == "own"
    assert torch.ops["add"].served("SparseCPU").where.startswith("ops/sparse/pointwise.py")
    assert torch.ops["exp"].served("SparseCPU").how == "missing"
    assert torch.ops["transpose"].served("CPU").how == "CompositeExplicit"
    assert torch.ops["slice"].served("SparseCPU").how == "missing"
    assert torch.ops["linear"].served("SparseCPU").how == "CompositeImplicit"
    assert "SparseCPU" in torch.ops["mm"].kernels and "SparseCPU" in torch.ops["_coalesce"].kernels


def test_a_mixed_call_goes_to_the_sparse_kernel():
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::maximum' with arguments from the 'SparseCPU' backend"
    ):
        torch.maximum(torch.ones(2, 3), example())


def test_every_operator_without_a_sparse_kernel_refuses_a_sparse_tensor():
    for row in torch.ops:
        if row.served("SparseCPU").how == "missing":
            op = row._op
            with pytest.raises(NotImplementedError, match="from the 'SparseCPU' backend"):
                op.kernel_for(torch.dispatch.keys.SPARSE_CPU)(0, *[example()] * len(op.info.signature.names))


def test_inference_mode_leaves_the_layout_key_alone():
    with torch.inference_mode():
        x = example()
        assert x.is_inference() and (x * 2).is_inference() and x.is_sparse
    assert not example().is_inference()


def test_detach_shares_the_entries_until_one_gets_others():
    x = example()
    y = x.detach()
    x.mul_(2)
    assert y._values().tolist() == [6., 8., 10.] and y._version == x._version == 1
    x.zero_()
    assert x._nnz() == 0 and y._nnz() == 3


def test_values_and_indices_share_memory_with_what_was_given():
    values = torch.ones(3)
    x = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2]]), values, (3,))
    values[1] = 7
    assert x.to_dense().tolist() == [1., 7., 1.]


def test_an_in_place_change_of_what_was_saved_is_seen():
    x, d = example(), torch.ones(3, 2, requires_grad=True)
    out = torch.sparse.mm(x, d)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_copies_and_pickles():
    x = example().coalesce().requires_grad_()
    deep = copy.deepcopy(x)
    assert described(deep) == described(x) and deep._values().data_ptr() != x._values().data_ptr()
    assert described(pickle.loads(pickle.dumps(x.detach()))) == described(x.detach())
    parameter = copy.deepcopy(torch.nn.Parameter(x))
    assert type(parameter) is torch.nn.Parameter and described(parameter) == described(x)


def test_files_go_both_ways():
    hybrid = "torch.sparse_coo_tensor([[1, 1, 0]], torch.ones(3, 2), (2, 2))"
    for writer, reader in ((torch, pytorch), (pytorch, torch)):
        one = writer.sparse_coo_tensor([[0, 1], [1, 0]], [1., 2.], (2, 2)).coalesce()
        file = io.BytesIO()
        writer.save({"one": one, "hybrid": eval(hybrid, {"torch": writer})}, file)
        file.seek(0)
        found = reader.load(file)
        assert described(found["one"]) == described(one)
        assert described(found["hybrid"]) == described(eval(hybrid, {"torch": writer}))


def test_a_file_with_indices_outside_is_refused():
    file = io.BytesIO()
    torch.save(torch.sparse_coo_tensor([[0, 9]], [1., 2.], (3,)), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="size is 3 but found index 9"):
        torch.load(file)


def test_checks_can_be_switched_on():
    check = torch.sparse.check_sparse_tensor_invariants
    assert not check.is_enabled()
    with check():
        assert check.is_enabled()
        with pytest.raises(RuntimeError, match="found index 9"):
            torch.sparse_coo_tensor([[0, 9]], [1., 2.], (3,))
        with check(enable=False):
            torch.sparse_coo_tensor([[0, 9]], [1., 2.], (3,))
    assert not check.is_enabled()


def test_an_operator_of_a_users_may_take_any_layout():
    @torch.library.custom_op("sparse_test::plus_one", mutates_args=())
    def plus_one(a: torch.Tensor) -> torch.Tensor:
        return a.to_dense() + 1
    assert plus_one(example()).tolist() == [[1., 1., 4.], [5., 1., 6.]]


def test_compiled_functions_run_as_they_are_on_sparse_tensors():
    doubled = torch.compile(lambda a: a * 2)
    assert described(doubled(example())) == described(example() * 2)
    constant = example()
    product = torch.compile(lambda a: torch.sparse.mm(constant, a) + 1)
    assert product(torch.ones(3, 2)).tolist() == [[4., 4.], [10., 10.]]


def test_a_sparse_tensor_in_the_middle_can_retain_its_gradient():
    agree("""
v = torch.ones(2, requires_grad=True)
s = torch.sparse_coo_tensor([[0, 1]], v, (3,))
s.retain_grad()
s.to_dense().sum().backward()
s.grad._values(), v.grad
""")


# ---- optimizers --------------------------------------------------------------------------------------------

TRAINING = """
index = torch.tensor([[1, 3, 1], [0, 4, 3]])
def run(name, padding_idx=None, **options):
    table = nn.Embedding(5, 3, _weight=torch.arange(15.).reshape(5, 3) / 10, sparse=True, padding_idx=padding_idx)
    optimizer = getattr(torch.optim, name)(table.parameters(), **options)
    for step in range(3):
        optimizer.zero_grad()
        ((table(index) - step) ** 2).sum().backward()
        optimizer.step()
    return table.weight, optimizer.state_dict()["state"]
"""


@pytest.mark.parametrize("call", [
    "'SparseAdam', lr=0.1", "'SparseAdam', lr=0.1, maximize=True, padding_idx=1, betas=(0.5, 0.6), eps=1e-3",
    "'SGD', lr=0.1", "'SGD', lr=0.1, momentum=0.9", "'SGD', lr=0.1, momentum=0.9, nesterov=True",
    "'SGD', lr=0.1, maximize=True, foreach=True", "'SGD', lr=0.1, weight_decay=0.1", "'SGD', lr=0.1, fused=True",
    "'Adagrad', lr=0.1", "'Adagrad', lr=0.1, lr_decay=0.1, maximize=True", "'Adagrad', weight_decay=0.1",
    "'Adagrad', fused=True", "'Adam'", "'AdamW'", "'Adamax'", "'ASGD'", "'NAdam'", "'RAdam'", "'RMSprop'", "'Rprop'",
    "'Adadelta'", "'Adafactor'", "'Muon'"])
def test_optimizers_with_sparse_gradients(call):
    agree(TRAINING + f"run({call})")


def test_sparse_adam_refuses_what_it_cannot_do():
    agree("torch.optim.SparseAdam([torch.sparse_coo_tensor([[1]], [1.], (2,)).requires_grad_()])")
    agree("torch.optim.SparseAdam([torch.ones(2, requires_grad=True)], lr=0.)")
    agree("w = torch.ones(2, requires_grad=True)\nw.sum().backward()\ntorch.optim.SparseAdam([w]).step()")


@pytest.mark.parametrize("device", ["meta", "sim"])
def test_other_devices_are_refused(device):
    for make in (lambda: torch.sparse_coo_tensor(size=(2, 3), device=device), lambda: example().to(device),
                 lambda: torch.sparse_coo_tensor([[0], [1]], [1.], (2, 2), device=device)):
        with pytest.raises(NotImplementedError, match="sparse tensors on the CPU alone"):
            make()
