"""Corners that users of PyTorch ran into, one table for each subject: the same here, errors and warnings included."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.snippets import assert_same, snippets_of

TIES_AND_NAN = """
    torch.tensor([1.0, nan, 2.0, nan]).cummax(0)
    torch.tensor([[nan, 3.0], [1.0, nan], [nan, nan]]).cummin(0)
    torch.tensor([nan, 1.0, nan]).half().cummax(0)
    x = torch.tensor([1.0, nan, 2.0, nan], requires_grad=True); x.cummax(0).values.sum().backward(); x.grad
    torch.tensor([inf, -inf, nan, 3e9, -3e9, 70000.0, 300.7]).int()
    torch.tensor([inf, -inf, nan, 3e9, -3e9, 70000.0, 300.7], dtype=torch.float64).to(torch.int16)
    torch.tensor([inf, nan, 3000000100.0, -130.0], dtype=torch.float64).to(torch.int8)
    torch.tensor([inf, nan, 3000000100.0, -130.0, -1.5], dtype=torch.float64).to(torch.uint8)
    torch.tensor([inf, nan, 1e20, -1e20]).long()
"""
SUMS = """
    torch.tensor([0.1] * 10).cumsum(0)
    torch.tensor([1.1] * 10).cumprod(0)
    torch.tensor([0.1] * 10).cumsum(0)[-1] == 1.0
    torch.ones(2, 3, dtype=torch.float64).cumsum(1)
    torch.full((3000,), 0.1).cumsum(0)[-1]
    torch.tensor([1.0, 2.0]).sum(dtype=float), torch.tensor([1, 2]).mean(dtype=float)
    torch.tensor([1, 2]).prod(dtype=float), torch.tensor([1.7, 1.7]).sum(dtype=int)
    torch.tensor([1, 2]).cumsum(0, dtype=float), torch.tensor([1.0, 2.0]).softmax(0, float)
    F.log_softmax(torch.ones(2), 0, dtype=float), torch.ones(2).norm(dtype=float)
    L.vector_norm(torch.ones(2), dtype=float)
    torch.tensor([1.0, 0.0]).sum(0, dtype=bool), torch.tensor([1, 2]).nansum(dtype=float)
    torch.mean(torch.tensor([1, 2]), out=torch.empty(()))
    torch.mean(torch.tensor([1, 2]), 0, dtype=torch.float32, out=torch.empty(()))
    str(torch.finfo(float)), str(torch.iinfo(int))
    torch.iinfo(bool)
    torch.finfo(int)
    torch.finfo(1.5)
"""
PICKED = """
    torch.arange(6).reshape(2, 3).index_select(1, torch.tensor([3]))
    torch.arange(6).reshape(2, 3).index_select(-1, torch.tensor([-1]))
    torch.arange(6).reshape(2, 3).index_select(0, torch.tensor([3]))
    torch.arange(24).reshape(2, 3, 4).index_select(1, torch.tensor([5], dtype=torch.int32))
    torch.arange(24).reshape(2, 3, 4).index_select(2, torch.tensor([5]))
    torch.ones(3, 0).index_select(0, torch.tensor([3]))
    torch.ones(3).index_select(0, torch.tensor([-1]))
    x = torch.tensor([2.0, 1.0], requires_grad=True); torch.unique(x).sum().backward()
    x = torch.tensor([2.0, 1.0], requires_grad=True); torch.unique_consecutive(x).sum().backward()
    x = torch.tensor([2.0, 1.0], requires_grad=True); u = torch.unique(x, return_inverse=True, return_counts=True)
    | [t.requires_grad for t in u]
    x = torch.tensor([2.0, 2.0], requires_grad=True); torch.unique(x.detach()), torch.tensor([1, 1]).unique()
    F.max_pool1d(torch.ones(1, 1, 4), 2, stride=[]), F.avg_pool1d(torch.ones(1, 1, 4), 2, stride=[])
    F.max_pool2d(torch.ones(1, 1, 4, 4), 2, stride=[]), F.avg_pool2d(torch.ones(1, 1, 4, 4), 2, stride=())
    F.upsample(torch.ones(1, 1, 2), scale_factor=2)
    F.upsample_nearest(torch.ones(1, 1, 2, 2), scale_factor=2)
    F.upsample_bilinear(torch.ones(1, 1, 2, 2), scale_factor=2)
"""
GRAD_MODES = """
    w = torch.ones(2, requires_grad=True)
    | with torch.inference_mode(), torch.enable_grad(): y, on = w * 2, torch.is_grad_enabled()
    | on, y.requires_grad, y.is_inference()
    w = torch.ones(2, requires_grad=True)
    | with torch.inference_mode(), torch.set_grad_enabled(True): y = nn.Linear(2, 1)(w).sum()
    | y.backward()
    w = torch.ones(2, requires_grad=True)
    | with torch.inference_mode():
    |     with torch.enable_grad(): pass
    |     with torch.inference_mode(False): y = w * 2
    |     z = w * 2
    | [t.requires_grad for t in (y, z, w * 2)], torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    w = torch.ones(2, requires_grad=True); w.register_post_accumulate_grad_hook(lambda t: t); w.sum().backward()
    w = torch.ones(2, requires_grad=True); w.register_post_accumulate_grad_hook(lambda t: t * 1); w.sum().backward()
    w = torch.ones(2, requires_grad=True); w.register_post_accumulate_grad_hook(lambda t: None); w.sum().backward()
    | w.grad
    del torch.ones(2).data
    torch.ones(2).imag
    torch.imag(torch.ones(2))
    torch.use_deterministic_algorithms("yes")
    torch.use_deterministic_algorithms(1)
"""
MODULES = """
    nn.Linear(1, 1).to("cpu", "cpu")
    nn.Linear(1, 1).to(torch.float32, "cpu")
    nn.Linear(1, 1).to([1])
    nn.Linear(1, 1).to(nn.Linear(1, 1))
    nn.Linear(1, 1).to(dtype="float64")
    nn.Linear(1, 1).to(foo=1)
    nn.Linear(1, 1).to(copy=True)
    nn.Linear(1, 1).to("cpu", torch.float64, True, True)
    nn.Linear(1, 1).to("cpu", torch.float64, True).weight.dtype, nn.Linear(1, 1).to(float).bias.dtype
    nn.Linear(1, 1).to(torch.ones(1, dtype=torch.float64)).weight.dtype, nn.Linear(1, 1).to(dtype=float).weight.dtype
    nn.Linear(1, 1).to(torch.ones(1, dtype=torch.int64))
    nn.Linear(1, 1).to(int)
"""
NUMPY = """
    n = np.ones(3, dtype=np.float32); t = torch.Tensor(n); t += 1; n
    n = np.ones(3, dtype=np.float32); t = torch.FloatTensor(n); t += 1; n
    n = np.ones(3); t = torch.DoubleTensor(n); t += 1; n
    n = np.ones(3); t = torch.Tensor(n); t += 1; n, t
    torch.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3).T), torch.LongTensor(np.array([1.7, 2.2]))
    torch.Tensor(np.arange(4, dtype=np.float32)[::-1])
    torch.from_numpy(np.ones(3)[None]).stride(), torch.from_numpy(np.zeros((0, 3))).stride()
    t = torch.from_numpy(np.arange(6).reshape(2, 3)[::2]); t, t.is_contiguous(), t.view(3), t + 1
    import warnings
    | with warnings.catch_warnings():
    |     warnings.simplefilter("ignore")
    |     t = torch.tensor([nan, 1.0]); found = np.isnan(t).dtype, np.isfinite(t), np.sin(t), np.add(t, 2)
    | found
"""
MATRICES = """
    L.cholesky(torch.tensor([[nan, 0.0], [0.0, 1.0]]))
    L.cholesky(torch.tensor([[1.0, 0.0], [nan, 1.0]]))
    L.cholesky(torch.stack([torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, nan]])]))
    L.cholesky_ex(torch.stack([torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, nan]])])).info
    L.cholesky(torch.tensor([[4.0, nan], [2.0, 5.0]]))
"""
AUTOCAST = """
    import copy; p = nn.Parameter(torch.ones(1)); o = torch.optim.SGD([p], lr=0.1)
    | s = torch.amp.GradScaler("cpu", init_scale=4.0); s.scale(p.sum()).backward(); copy.deepcopy(s); s.unscale_(o)
    | copy.deepcopy(s)
    import copy; p = nn.Parameter(torch.ones(1)); o = torch.optim.SGD([p], lr=0.1)
    | s = torch.amp.GradScaler("cpu", init_scale=4.0); s.scale(p.sum()).backward(); s.step(o); s.update()
    | copy.deepcopy(s).get_scale()
    s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(1)); s.update(new_scale=torch.ones(2))
    s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(1)); s.update(torch.tensor(3.0)); s.get_scale()
    with torch.autocast("cpu"): x = F.grid_sample(torch.ones(1, 1, 4, 4).bfloat16(), torch.zeros(1, 1, 1, 2).bfloat16())
    | x
    with torch.autocast("cpu"):
    |     x = F.ctc_loss(torch.zeros(2, 1, 2).bfloat16(), torch.tensor([[1]]), torch.tensor([2]), torch.tensor([1]))
    | x
"""
SHARED_MEMORY = """
    a = torch.arange(4.0); a.index_copy_(0, torch.arange(4), a)
    a = torch.arange(4.0); a.index_add_(0, torch.arange(4), a)
    a = torch.arange(4.0); a.index_add_(0, torch.tensor([0, 1]), a[2:])
    a = torch.arange(4.0); a.scatter_(0, torch.arange(4), a)
    a = torch.arange(4.0); a.scatter_(0, torch.tensor([0, 1]), a[2:]); a
    a = torch.arange(4.0); a.scatter_add_(0, torch.arange(4), a)
    a = torch.arange(4.0); a.scatter_reduce_(0, torch.arange(4), a, "sum")
    a = torch.arange(4.0); a.put_(torch.arange(4), a)
    a = torch.arange(4); a.scatter_(0, a, 1)
    a = torch.arange(4); a.index_fill_(0, a, 1)
    a = torch.arange(4.0); a.index_fill_(0, torch.tensor([0, 1]), a[3]); a
    a = torch.arange(4); a.index_add_(0, a, a.clone())
    a = torch.arange(4.0); a.masked_scatter_(a > 1, a); a
    a = torch.arange(4.0); a.masked_fill_(a > 1, a[0]); a
    a = torch.arange(4.0); torch.where(a > 1, a, a[0], out=a)
    a = torch.arange(4.0); torch.where(a > 1, a, torch.zeros(4), out=a); a
    torch.ones(2, dtype=torch.float64).new_tensor(torch.tensor([1, 2]))
    torch.tensor([1, 2]).new_tensor(torch.tensor([1.7], requires_grad=True))
"""
STORAGES = """
    x = torch.arange(6.0); torch.empty(0).set_(x.storage())
    x = torch.arange(6.0); torch.empty(0).set_(x.storage(), 1, (2,), (2,))
    torch.empty(0, dtype=torch.int64).set_(torch.ones(2).storage())
    b = io.BytesIO(); torch.save(torch.arange(3.0).storage(), b); b.seek(0); s = torch.load(b)
    | type(s).__name__, s.tolist(), str(s.dtype)
    x = torch.arange(3.0); b = io.BytesIO(); torch.save([x, x.storage()], b); b.seek(0); y, s = torch.load(b)
    | s[0] = 9.0; y
    x = torch.arange(3.0); s = x.storage(); s.resize_(5); s.size(), x.untyped_storage().nbytes(), x
    x = torch.arange(3.0); s = x.storage().clone(); s[0] = 5.0; x, s.tolist(), x.storage().cpu().tolist()
"""
WITHOUT_A_GPU = """
    issubclass(torch.cuda.OutOfMemoryError, RuntimeError), torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    torch.cuda.memory_cached() == 0
    torch.cuda.max_memory_cached() == 0
    with torch.cuda.device(-1): x = torch.ones(1)
    | with torch.cuda.device_of(x): x += 1
    | x
    len(torch.cuda.get_rng_state_all()) == torch.cuda.device_count(), torch.cuda.set_rng_state_all([])
    torch.cuda.is_bf16_supported() == torch.cuda.is_available()
"""
TABLES = (TIES_AND_NAN, SUMS, PICKED, GRAD_MODES, MODULES, NUMPY, MATRICES, AUTOCAST, SHARED_MEMORY, WITHOUT_A_GPU)
SNIPPETS = [snippet for table in TABLES for snippet in snippets_of(table)]
# PyTorch warns of TypedStorage in the first call of a process alone.
SNIPPETS += ["import warnings; warnings.simplefilter('ignore')\n" + snippet for snippet in snippets_of(STORAGES)]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_corner_is_pytorchs(snippet):
    assert_same(torch, snippet)
