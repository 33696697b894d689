"""Gradients and casts at infinity, NaN and -0.0, calls with odd arguments: the same here, down to texts."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.snippets import assert_same, snippets_of

EDGES = "x = torch.tensor([inf, -inf, 0.0, -0.0, -2.5, -0.5, 0.25, 1.0, nan], requires_grad=True)"
FUNCTIONS = """
    torch.digamma(x)
    torch.polygamma(1, x)
    torch.polygamma(2, x)
    torch.i0(x)
    torch.special.i1(x)
    torch.special.i1e(x)
    torch.logit(x)
    torch.logit(x, 0.25)
    x.amax()
    x[:4].amax()
    x.amin()
    x[2:4].amin()
    x.logsumexp(0)
    x[4:].logsumexp(0)
    x.half()
"""
CASTS = """
    torch.tensor([65520.0, -1e9, 1.0]).half()
    torch.full((2, 3), 1e6).t().to(torch.float16)
    torch.full((2, 3), 1e300).double().t().to(torch.float32)
"""
CONSTRUCTORS = """
    torch.FloatTensor(torch.ones(2, dtype=torch.int64))
    torch.FloatTensor(torch.ones(2))
    torch.BoolTensor(torch.ones(2, dtype=torch.uint8))
    torch.Tensor(torch.ones(2, dtype=torch.float64))
    torch.ones(2).new(torch.ones(2).double())
    torch.tensor(nan, dtype=torch.int64)
    torch.tensor([nan], dtype=torch.int32)
    torch.tensor([inf, 1], dtype=torch.uint8)
    torch.tensor(inf, dtype=torch.bool)
    torch.tensor(1e30, dtype=torch.int64)
    torch.tensor(2**64, dtype=torch.int64)
    torch.tensor(300.0, dtype=torch.uint8)
    torch.ones(1).type(float)
    torch.zeros(2, out=torch.ones(2, dtype=torch.int64), dtype=torch.float32)
    torch.arange(3, out=torch.ones(3), dtype=torch.int64)
    torch.randperm(3, out=torch.ones(3).double(), dtype=torch.float)
    torch.randint(3, (2,), out=torch.ones(2))
    torch.randperm(3, out=torch.ones(3).double())
    torch.zeros(2, out=torch.ones(5))
    torch.eye(2, out=torch.ones(5))
    torch.linspace(0, 1, 2, out=torch.ones(5))
    torch.arange(2, out=torch.ones(5))
    torch.arange(4, out=torch.ones(2, 2))
    torch.iinfo(torch.int64)
    torch.iinfo(torch.int16)
    torch.finfo(torch.bfloat16)
    torch.finfo(torch.bool)
    torch.finfo(3)
    torch.iinfo(torch.bool)
    torch.iinfo(torch.float32)
"""
BATCH_NORM = """
    m = nn.BatchNorm1d(2); y = m(torch.eye(2)); m.running_mean.add_(1); y.sum().backward()
    m = nn.BatchNorm1d(2).eval(); y = m(torch.eye(2)); m.reset_running_stats(); y.sum().backward()
    m = nn.BatchNorm1d(2); y = m(torch.eye(2)); m(torch.eye(2)); y.sum().backward(); m.bias.grad
    F.batch_norm(torch.ones(2, 3), torch.zeros(3), torch.ones(3), momentum=None)
"""
INDEXING = """
    y = torch.ones(2, 3, requires_grad=True) * 1
    | z = y.gather(1, torch.tensor([[0]])); y.add_(1); z.sum().backward()
    torch.index_put_(torch.ones(2, 3), (torch.tensor([0]),), torch.zeros(3))
    torch.where(torch.ones(2).to(torch.uint8), torch.ones(2), 0)
    torch.ones(2).where(torch.zeros(2).to(torch.uint8), 0)
    torch.ones(1, 2).scatter(1, torch.tensor([[0]]), torch.ones(1, 2), reduce="add")
    torch.ones(1, 2).scatter(1, torch.tensor([[0]]), 3.0, reduce="multiply")
    torch.ones(2, 3).index_reduce(0, torch.tensor([0]), torch.full((1, 3), 2.0), "amax")
"""
FUNCTIONS_OF_OLD = """
    torch.conv_tbc(torch.arange(8.0).reshape(4, 1, 2), torch.arange(12.0).reshape(3, 2, 2), torch.ones(2))
    F.conv_tbc(torch.arange(8.0).reshape(4, 1, 2), torch.arange(12.0).reshape(3, 2, 2), torch.ones(2), 1)
    torch.conv_tbc(torch.ones(4, 1), torch.ones(3, 2, 2), torch.ones(2))
    torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 3, 2), torch.ones(2))
    torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 2, 2), torch.ones(3))
    torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 2), torch.ones(3))
    torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 2, 2), torch.ones(2, 2))
    x = torch.ones(6, requires_grad=True); torch.native_dropout(x, 0.5, True)[0].sum().backward(); x.grad
    torch.native_dropout(torch.ones(6), 0.5, True)
    torch.native_dropout(torch.ones(6), 0.5, False)
    torch.native_dropout(torch.ones(6).double(), 0.5, None)
    torch.native_dropout(torch.ones(6), 0.0, True)
    torch.native_dropout(torch.ones(6), 1.0, True)
    torch.native_dropout(torch.ones(6), 2.0, True)
"""
CONVOLUTIONS = """
    F.conv2d(torch.ones(1, 1, 8, 8), torch.ones(2, 1, 3, 3).double())
    F.conv2d(torch.ones(2, 1, 8, 8), torch.ones(2, 1, 3, 3).double())
    F.conv2d(torch.ones(1, 1, 8, 8), torch.ones(2, 1, 4, 4).half())
    F.conv2d(torch.ones(1, 1, 200, 200), torch.ones(2, 1, 3, 3).double())
    F.conv_transpose2d(torch.ones(1, 2, 8, 8), torch.ones(2, 1, 3, 3).double(), groups=2)
    F.conv_transpose2d(torch.ones(1, 2, 8, 8), torch.ones(2, 1, 3, 3).double(), torch.ones(1).double())
    F.conv1d(torch.ones(1, 1, 8), torch.ones(2, 1, 5).double())
    F.conv3d(torch.ones(1, 1, 8, 8, 8), torch.ones(2, 1, 2, 4, 4).double())
    nn.Conv2d(1, 2, 3)(torch.ones(1, 1, 8, 8).double())
    nn.Conv2d(1, 2, 3)(torch.ones(2, 1, 8, 8, dtype=torch.int64))
    nn.Conv2d(1, 2, 3).double()(torch.ones(2, 1, 8, 8))
    nn.ConvTranspose1d(1, 2, 3).double()(torch.ones(2, 1, 8))
    F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), padding="same")
"""
SHAPES = """
    torch.arange(6.0).reshape(2, 3).t().tril()
    torch.ones(2, 3, 4).permute(2, 0, 1).tril()
    torch.ones(3, 3, 3).transpose(0, 1).triu(1)
    torch.ones(2, 3, 4, 4).contiguous(memory_format=torch.channels_last).triu()
    F.pad(torch.ones(2), (1, 1), mode="reflect")
    F.pad(torch.ones(1, 1, 2, 2), (1, 1), mode="circular")
    F.pad(torch.ones(1, 1, 2, 2), (1, 1, 1, 1, 0, 0, 0, 0), mode="replicate")
"""
LOADERS = """
    type(iter(torch.utils.data.DataLoader([1, 2]))).__name__
    isinstance(iter(torch.utils.data.DataLoader([1])), torch.utils.data.dataloader._BaseDataLoaderIter)
    torch.utils.data.dataloader._MultiProcessingDataLoaderIter.__name__
    torch.utils.data.ConcatDataset([[1, 2], [3, 4, 5]]).cummulative_sizes
    torch.utils.data._utils.collate.default_collate([1.0, 2.0])
    torch.utils.data._utils.collate.collate_tensor_fn([torch.ones(2), torch.zeros(2)])
    C = torch.utils.data._utils.collate
    | C.collate([{"a": 1}, {"a": 2}], collate_fn_map={int: C.collate_int_fn})
    C = torch.utils.data._utils.collate
    | joined = {**C.default_collate_fn_map, str: lambda batch, **_: "".join(batch)}
    | C.collate([(1, "x"), (2, "y")], collate_fn_map=joined)
    C = torch.utils.data._utils.collate; C.default_collate([np.ones(2), np.zeros(2)])
    torch.utils.data._utils.worker.get_worker_info()
    torch.utils.data._utils.pin_memory.pin_memory("text")
"""
ATTENTION = """
    x = torch.ones(1, 2, 3, 2); F.scaled_dot_product_attention(x, x, x, torch.tensor([True, False, True]))
    x = torch.ones(1, 2, 3, 2); F.scaled_dot_product_attention(x, x, x, torch.tensor(1.0))
    x = torch.ones(2, 3, 2); F.scaled_dot_product_attention(x, x, x, torch.tensor([True, False, True]))
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval(); x = torch.ones(3, 2, 4)
    | with torch.no_grad(): y = m(x, x, x)
    | y[0].stride(), y[1].stride()
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval(); x = torch.ones(3, 2, 4); m(x, x, x)[0].stride()
    m = nn.MultiheadAttention(4, 2, batch_first=True); x = torch.ones(3, 2, 4)
    | with torch.no_grad(): y = m(x, x, x)[0].stride()
    | y
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval(); x = torch.ones(3, 2, 4)
    | with torch.no_grad(): y = m(x, x.clone(), x, need_weights=False)[0].stride()
    | y
    m = nn.MultiheadAttention(3, 3, batch_first=True).eval(); x = torch.ones(3, 2, 3)
    | with torch.no_grad(): y = m(x, x, x)[0].stride()
    | y
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval().requires_grad_(False); x = torch.ones(3, 2, 4)
    | m(x, x, x, key_padding_mask=torch.tensor([[False, True]] * 3), need_weights=False)[0].stride()
    m = nn.MultiheadAttention(4, 2, batch_first=True, bias=False).eval(); x = torch.ones(3, 2, 4)
    | with torch.no_grad(): y = m(x, x, x)[0].stride()
    | y
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval(); x = torch.ones(3, 2, 4)
    | with torch.no_grad(): y = m(x, x, x, attn_mask=torch.zeros(2, 2))[0].stride()
    | y
"""
EMBEDDINGS = """
    F.embedding(torch.tensor([True]), torch.ones(2, 2))
    F.embedding(torch.tensor([1.0]).bfloat16(), torch.ones(2, 2))
    F.embedding(torch.tensor([1.0]), torch.ones(2, 2))
    w = torch.ones(1, 2).double()
    | F.embedding_bag(torch.tensor([[0, 1]]), torch.eye(2), mode="sum", per_sample_weights=w)
    w = torch.ones(1, 2).bfloat16()
    | F.embedding_bag(torch.tensor([[0, 1]]), torch.eye(2), mode="sum", per_sample_weights=w)
    w = torch.ones(1, 2).double()
    | F.embedding_bag(torch.tensor([[0, 1]]), torch.eye(2), mode="max", per_sample_weights=w)
    F.conv2d(torch.ones(1, 1, 4, 4).bfloat16(), torch.ones(1, 1, 2, 2))
"""
LISTS_AS_INDICES = """
    torch.arange(6).reshape(2, 3)[0, [None]]
    torch.arange(6).reshape(2, 3)[0, [[slice(None)]]]
    torch.arange(6).reshape(2, 3)[0, [torch.tensor([0, 1])]]
    torch.arange(6).reshape(2, 3)[0, [torch.tensor([1]), 0]]
    torch.arange(6).reshape(2, 3)[0, [torch.tensor(1.0), 0]]
    torch.arange(6).reshape(2, 3)[0, [1, "a"]]
    torch.arange(6).reshape(2, 3)[0, [[0, 1], [2]]]
    torch.arange(6).reshape(2, 3)[0, [True, 1, 0.7]]
    torch.arange(6).reshape(2, 3)[torch.Size([1, 2])]
    torch.arange(6).reshape(2, 3)[[slice(None)]]
"""
OTHERS = """
    list(torch.utils.data.DataLoader([1], timeout=5))
    d = torch.utils.data.DataLoader([1]); d.multiprocessing_context = "fork"
    x = torch.ones(2, dtype=torch.int64); x.requires_grad = True
    @torch.no_grad()
    | class A: pass
    torch.signal.windows.hann(5)
    torch.signal.windows.kaiser(5, beta=3.0, sym=False, dtype=torch.float64)
    torch.signal.windows.gaussian(4, std=2.0, requires_grad=True)
    torch.signal.windows.exponential(4, center=1.0, sym=False)
    torch.signal.windows.exponential(4, center=1.0)
    torch.signal.windows.general_cosine(4, a=[])
    torch.signal.windows.cosine(-1)
    torch.signal.windows.bartlett(3, dtype=torch.int64)
    [getattr(torch.signal.windows, name)(6, sym=sym) for name in ("bartlett", "blackman", "hamming", "nuttall") for sym in (True, False)]
"""
ASSIGNED_BY_MASK = """
    x = torch.arange(6.0).reshape(2, 3); x[x > 2] = torch.tensor(7); x
    x = torch.arange(6.0).reshape(2, 3); x[x > 2] = torch.tensor([7], dtype=torch.float64); x
    x = torch.arange(6).reshape(2, 3); x[x > 2] = torch.tensor(1.5); x
    x = torch.arange(6.0).reshape(2, 3); x[:, torch.tensor([True, False, True])] = torch.tensor(7); x
    x = torch.arange(6.0).reshape(2, 3); x[torch.tensor([True, False]), 1:] = torch.tensor(7); x
    x = torch.arange(6.0).reshape(2, 3); x[torch.tensor([0, 1])] = torch.tensor(7); x
    x = torch.arange(6.0).reshape(2, 3); x[torch.tensor([True, False]), torch.tensor([0])] = torch.tensor(7); x
    x = torch.arange(6.0).reshape(2, 3); x[x > 2] = torch.tensor([7, 8, 9]); x
    x = torch.arange(6.0).reshape(2, 3); x.index_put_((x > 2,), torch.tensor(7), accumulate=True); x
    x = torch.arange(6.0); v = torch.tensor(7.0, dtype=torch.double, requires_grad=True); x[x > 2] = v; x.sum().backward(); v.grad
    torch.arange(2.0).index_put_((torch.tensor([1, 0], dtype=torch.uint8),), torch.tensor(9.0))
"""
LAYERS = """
    F.embedding_bag(torch.tensor([[0, 1], [2, 3]]), torch.arange(8.0).reshape(4, 2), include_last_offset=True)
    F.cross_entropy(torch.ones(2, 0), torch.ones(2, 0))
    F.cross_entropy(torch.ones(2, 0), torch.ones(2, 0), label_smoothing=0.1)
    F.cross_entropy(torch.ones(0, 3), torch.ones(0, 3))
    F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 2]), ignore_index=True)
    F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 0))
    F.conv3d(torch.ones(1, 1, 4, 4, 4), torch.ones(1, 1, 2, 0, 1))
    F.conv_transpose2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 0, 1))
    F.batch_norm(torch.ones(2, 3), None, None, training=True, eps=0)
    F.batch_norm(torch.ones(2, 3), torch.zeros(3), torch.ones(3), eps=-2)
    F.batch_norm(torch.ones(2, 3), None, None, training=1)
    F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2), pos_weight=torch.tensor([2, 3]))
    F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2), pos_weight=torch.tensor(2.0, dtype=torch.double))
    F.binary_cross_entropy_with_logits(torch.ones(2).half(), torch.ones(2).half(), pos_weight=torch.tensor(2.0))
    F.kl_div(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))
    F.kl_div(torch.ones(2), torch.ones(2), log_target=1)
    F.poisson_nll_loss(torch.ones(2), torch.ones(2), log_input=0)
    F.triplet_margin_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3), swap=1)
    F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 2]), margin=(1, 2))
    F.max_pool2d(torch.ones(1, 1, 4, 4), 2, ceil_mode=1)
    F.max_pool2d(torch.ones(1, 1, 4, 4), True)
    nn.Sigmoid()([1.0])
    nn.Tanh()(None)
"""
TABLES = (CASTS, CONSTRUCTORS, BATCH_NORM, INDEXING, FUNCTIONS_OF_OLD, CONVOLUTIONS, SHAPES, LOADERS,
          ATTENTION, EMBEDDINGS, ASSIGNED_BY_MASK, LAYERS, LISTS_AS_INDICES, OTHERS)
SNIPPETS = [snippet for table in TABLES for snippet in snippets_of(table)]


@pytest.mark.parametrize("call", [line.strip() for line in FUNCTIONS.strip().splitlines()])
def test_values_and_gradients_at_the_edges(call):
    assert_same(torch, f"{EDGES}; y = {call}; y.sum().backward(); y.detach(), x.grad")


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_call_is_pytorchs(snippet):
    assert_same(torch, snippet)
