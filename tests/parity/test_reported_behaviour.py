"""Behaviour that users of PyTorch asked about or reported: the same here, down to texts of errors and warnings."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.snippets import assert_same, snippets_of

GRADIENTS = """
    torch.set_anomaly_enabled(True); on = torch.is_anomaly_enabled(); torch.set_anomaly_enabled(False); on
    x = torch.tensor([5.0], requires_grad=True); x // 3
    x = torch.tensor([5.0], requires_grad=True); (x // 3).backward()
    torch.heaviside(torch.tensor([1.0], requires_grad=True), torch.tensor([2.0]))
"""
LOSSES = """
    F.mse_loss(torch.ones(2), torch.zeros(2, dtype=torch.int64))
    F.mse_loss(torch.ones(2).half(), torch.zeros(2, dtype=torch.int64))
    x = torch.ones(2, requires_grad=True); F.mse_loss(x, torch.zeros(2, dtype=torch.int64)).backward(); x.grad
    F.smooth_l1_loss(torch.ones(2), torch.zeros(2, dtype=torch.int64))
    F.huber_loss(torch.ones(2), torch.zeros(2, dtype=torch.int64))
    F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([2.0]))
    F.binary_cross_entropy_with_logits(torch.zeros(2), torch.tensor([1, 0]))
    F.binary_cross_entropy_with_logits(torch.zeros(2), torch.tensor([True, False]))
    F.binary_cross_entropy_with_logits(torch.tensor([inf, -inf, nan]), torch.tensor([1.0, 0.0, 1.0]), reduction="none")
    F.nll_loss(torch.zeros(2, 3), torch.tensor([0, 1]), ignore_index=1.5)
    F.soft_margin_loss(torch.tensor([1.0]).bfloat16(), torch.tensor([1.0]).bfloat16())
    F.multi_margin_loss(torch.tensor([[0.1, 0.9]]).half(), torch.tensor([1]))
    F.multilabel_margin_loss(torch.tensor([[0.1, 0.2]]).bfloat16(), torch.tensor([[1, -1]]))
    F.cross_entropy(torch.zeros(1, 3), torch.tensor(1))
    nn.MSELoss(torch.ones(2), torch.ones(2))
"""
PRODUCTS = """
    nn.Linear(2, 3)(torch.ones(2, 2).double())
    nn.Linear(2, 3)(torch.ones(2, 2, dtype=torch.int64))
    torch.baddbmm(torch.ones(1, 2, 3), torch.ones(1, 2, 2).double(), torch.ones(1, 2, 3))
    torch.addbmm(torch.ones(2, 3), torch.ones(1, 2, 2).double(), torch.ones(1, 2, 3))
    F.layer_norm(torch.ones(2, 2).double(), (2,), torch.ones(2))
    (torch.ones(2, 2) * 300).half() @ (torch.ones(2, 2) * 300).half()
    torch.full((2, 2), inf) @ torch.zeros(2, 2)
    torch.full((300,), 300.0).half().sum()
    L.norm(torch.ones(2, 2, 2), dim=(0, 1, 2))
    torch.ones(2, 2).norm(2, 1, True, torch.float64)
    L.vecdot(torch.ones(2, 3, dtype=torch.int64), torch.ones(3, dtype=torch.int64))
    L.solve(torch.ones(2, 2, dtype=torch.int64), torch.ones(2))
    torch.cholesky(torch.eye(2) * 4)
    torch.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    torch.lu(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    torch.lu_solve(torch.ones(2, 2), *L.lu_factor(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    torch.triangular_solve(torch.ones(2, 2), torch.eye(2))
    torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 2))
    torch.cross(torch.ones(3, 2), torch.ones(3, 2))
    torch.solve(torch.ones(2, 1), torch.eye(2))
    torch.eye(2).symeig()
    torch.eig(torch.eye(2))
    torch.lstsq(torch.ones(2, 1), torch.eye(2))
    torch.matrix_rank(torch.eye(2))
    torch.svd_lowrank(torch.arange(12.0).reshape(4, 3) ** 2, q=2)[1]
    torch.svd_lowrank(torch.arange(12.0).reshape(3, 4) ** 2, q=2, M=torch.ones(1, 4))[1]
    torch.pca_lowrank(torch.arange(12.0).reshape(4, 3) ** 2)[1]
    torch.pca_lowrank(torch.arange(12.0).reshape(4, 3), q=5)
    torch.geqrf(torch.tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]]))
    torch.geqrf(torch.ones(3))
    a = torch.tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]]); torch.ormqr(*torch.geqrf(a), torch.eye(3)).tolist()
"""
SAMPLED = """
    torch.gradient(torch.tensor([1.0, 4.0, 9.0]))
    torch.gradient(torch.tensor([1.0, 4.0, 9.0]), spacing=(torch.tensor([0.0, 1.0, 3.0]),))
    torch.gradient(torch.tensor([1.0, 4.0, 9.0, 11.0]), spacing=(torch.tensor([0.0, 1.0, 3.0, 7.0]),), edge_order=2)
    torch.gradient(torch.tensor([[1.0, 4.0, 9.0], [2.0, 3.0, 4.0]]), spacing=[2.0, 0.5])
    torch.gradient(torch.tensor([[1.0, 4.0, 9.0], [2.0, 3.0, 4.0]]), spacing=[2.0, 0.5, 1.0])
    torch.gradient(torch.tensor([1, 4, 9]), edge_order=3)
    torch.gradient(torch.tensor([1.0]))
    torch.gradient(torch.ones(2, 2), dim=(0, 0))
    torch.histogram(torch.tensor([1.0, 2.0, 2.0]), 4, range=(0.0, 3.0))
    torch.histogram(torch.tensor([1.0, 2.0, 2.0]), torch.tensor([0.0, 1.5, 3.0]))
    torch.histogram(torch.tensor([1.0, 2.0, 2.0]), 2, weight=torch.tensor([1.0, 2.0, 4.0]), density=True)
    torch.histogram(torch.ones(3), 3)
    torch.histogram(torch.tensor([]), 3)
    torch.histogram(torch.tensor([1, 2]), 3)
    torch.histogram(torch.tensor([1.0, nan]), 3)
    torch.frexp(torch.tensor([1.0, 0.0, -3.5, 0.1, inf, nan]))
    torch.frexp(torch.tensor([1, 2]))
    x = torch.tensor([1.0, 3.0], requires_grad=True); torch.frexp(x)[0].sum().backward(); x.grad
    torch.nonzero_static(torch.tensor([1, 0, 1]), size=4, fill_value=7)
    torch.nonzero_static(torch.tensor([[1, 0], [0, 1]]), size=1)
    torch.nonzero_static(torch.tensor([1]), size=-1)
    torch.poisson(torch.tensor([1.0, 5.0, 20.0, 100.0, 0.0]))
    torch.poisson(torch.tensor([-1.0]))
    torch.poisson(torch.tensor([1, 2]))
    torch.poisson(torch.full((3,), 4.0), generator=torch.Generator().manual_seed(3))
    torch.binomial(torch.tensor([10.0, 5.0, 0.0]), torch.tensor([0.5, 0.8, 0.1]))
    torch.binomial(torch.tensor([100.0, 50.0]), torch.tensor([0.5, 0.9]))
    torch.randint(2.5, (2,))
    torch.randperm(2.5)
    torch.multinomial(torch.tensor(1.0), 1)
    torch.Generator().manual_seed("a")
"""
OBJECTS = """
    torch.Size([2, "a"])
    torch.Size([torch.tensor(2), 3])
    torch.Size(3)
    x = torch.ones(2, requires_grad=True); torch.deg2rad(x), torch.special.i0e(x), x.round(decimals=1)
    x = torch.ones(1, 1, 4, 4, requires_grad=True); F.unfold(x, 2), F.pad(x, (1, 1, 1, 1), mode="reflect")
    torch.unravel_index(torch.tensor(0), ())
    torch.max(torch.ones(2), 0, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
    x = torch.ones(4); a = x[:2]; a.mul_(torch.ones(2, requires_grad=True) * 3); a
    nn.LSTMCell(2, 3)(torch.ones(1, 2), torch.ones(1, 3))
    torch.tensor(1).size(0)
    del torch.ones(2)[0]
    torch.ones(3).T
    torch.ones(2, 3, 4).contiguous(memory_format=torch.channels_last)
    torch.cat((torch.ones(1), torch.ones(1)), axis=0), torch.stack((torch.ones(1), torch.ones(1)), axis=1)
    repr(torch.finfo(torch.float16)), repr(torch.finfo(torch.bfloat16)), torch.finfo(torch.float64).resolution
    nn.Sequential(nn.ReLU)
    nn.Sequential(lambda x: x)
    torch.from_numpy(np.ma.array([1, 2], mask=[0, 1]))
    nn.utils.rnn.pad_sequence([1, 2])
    x = torch.ones(2); y = torch.zeros(3); torch.utils.swap_tensors(x, y); (x, y)
    torch.set_num_threads(0)
    torch.set_num_threads(1.5)
    torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device(), torch.get_device_module("cpu").__name__
    with torch.cpu.stream(torch.cpu.Stream()) as s: x = 1
    | x
"""
STORAGES = """
    torch.UntypedStorage(4).nbytes(), torch.UntypedStorage([1, 2]).tolist(), torch.UntypedStorage().nbytes()
    str(torch.ones(2).untyped_storage())
    x = torch.ones(4); x.untyped_storage().fill_(0); x
    x = torch.ones(4); x.untyped_storage().clone().fill_(0); x
    x = torch.ones(4); x.untyped_storage().copy_(torch.zeros(4).untyped_storage()); x
    s = torch.ones(1).untyped_storage(); s[0] = 5; s.tolist(), s[-1], s[1:3].tolist(), s.element_size(), s.is_pinned()
    torch.ones(1).untyped_storage()[9]
    x = torch.ones(2); x.untyped_storage()._cdata == x.view(2, 1).untyped_storage()._cdata
    torch.serialization.get_crc32_options(), torch.serialization.get_default_load_endianness()
    b = io.BytesIO(); torch.save(torch.arange(6.0).reshape(2, 3).t(), b, _use_new_zipfile_serialization=False)
    | b.seek(0); torch.load(b)
    b = io.BytesIO(); torch.save({"a": 1}, b, _use_new_zipfile_serialization=False)
    | torch.save(nn.Parameter(torch.ones(2)), b, _use_new_zipfile_serialization=False)
    | b.seek(0); torch.load(b), torch.load(b)
    import pickle; torch.load(io.BytesIO(pickle.dumps({"a": 1}, 2)))
    b = io.BytesIO(); torch.save(torch.ones(4), b, _use_new_zipfile_serialization=False)
    | torch.load(io.BytesIO(b.getvalue()[:-6]))
    with torch.serialization.skip_data():
    |     b = io.BytesIO(); torch.save(torch.ones(2), b)
    | b.seek(0); torch.load(b).shape
"""
SNIPPETS = [snippet for table in (GRADIENTS, LOSSES, PRODUCTS, SAMPLED, OBJECTS, STORAGES)
            for snippet in snippets_of(table)]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_behaviour_is_pytorchs(snippet):
    assert_same(torch, snippet)
