"""Mixed precision: the dtypes, values and gradients that PyTorch's autocast gives on the CPU; GradScaler's factors."""
import warnings

import pytest

import teachtorch

torch = pytest.importorskip("torch")


def under_autocast(T, compute, dtype="bfloat16"):
    T.manual_seed(0)
    with T.amp.autocast("cpu", dtype=getattr(T, dtype)):
        return compute(T)


def dtypes(found):
    return [str(t.dtype) for t in (found if isinstance(found, tuple) else (found,))]


COMPUTATIONS = {
    "matmul": lambda T: T.randn(3, 4) @ T.randn(4, 2),
    "matrix @ vector": lambda T: T.randn(3, 4) @ T.randn(4),
    "vector @ vector": lambda T: T.randn(4) @ T.randn(4),
    "batch @ matrix": lambda T: T.randn(2, 3, 4) @ T.randn(4, 2),
    "vecdot": lambda T: T.linalg.vecdot(T.randn(3, 4), T.randn(3, 4)),
    "mm": lambda T: T.mm(T.randn(3, 4), T.randn(4, 2)),
    "bmm": lambda T: T.bmm(T.randn(2, 3, 4), T.randn(2, 4, 2)),
    "addmm": lambda T: T.addmm(T.randn(3, 2), T.randn(3, 4), T.randn(4, 2)),
    "baddbmm": lambda T: T.baddbmm(T.randn(2, 3, 2), T.randn(2, 3, 4), T.randn(2, 4, 2)),
    "mv": lambda T: T.mv(T.randn(3, 4), T.randn(4)),
    "einsum": lambda T: T.einsum("ij,jk->ik", T.randn(3, 4), T.randn(4, 2)),
    "linear": lambda T: T.nn.Linear(4, 2)(T.randn(3, 4)),
    "conv": lambda T: T.nn.Conv2d(2, 3, 3)(T.randn(1, 2, 5, 5)),
    "conv_transpose": lambda T: T.nn.ConvTranspose2d(2, 3, 3)(T.randn(1, 2, 5, 5)),
    "attention": lambda T: T.nn.functional.scaled_dot_product_attention(*(T.randn(1, 2, 4, 8) for _ in range(3))),
    "softmax": lambda T: (T.randn(3, 4) @ T.randn(4, 2)).softmax(1),
    "log_softmax": lambda T: (T.randn(3, 4) @ T.randn(4, 2)).log_softmax(1),
    "layer_norm": lambda T: T.nn.LayerNorm(2)(T.randn(3, 4) @ T.randn(4, 2)),
    "batch_norm": lambda T: T.nn.BatchNorm1d(2)(T.randn(3, 4) @ T.randn(4, 2)),
    "gelu": lambda T: T.nn.functional.gelu(T.randn(3, 4) @ T.randn(4, 2)),
    "cross_entropy": lambda T: T.nn.functional.cross_entropy(T.randn(3, 4) @ T.randn(4, 2), T.tensor([0, 1, 1])),
    "nll_loss": lambda T: T.nn.functional.nll_loss((T.randn(3, 4) @ T.randn(4, 2)).log_softmax(1),
                                                   T.tensor([0, 1, 1])),
    "mse_loss": lambda T: T.nn.functional.mse_loss(T.randn(3, 4) @ T.randn(4, 2), T.randn(3, 2)),
    "l1_loss": lambda T: T.nn.functional.l1_loss((T.randn(3, 4) @ T.randn(4, 2)), T.randn(3, 2).bfloat16()),
    "bce_with_logits": lambda T: T.nn.functional.binary_cross_entropy_with_logits(T.randn(3, 4) @ T.randn(4, 2),
                                                                                  T.rand(3, 2)),
    "kl_div": lambda T: T.nn.functional.kl_div((T.randn(3, 4) @ T.randn(4, 2)).log_softmax(1),
                                               T.rand(3, 2), reduction="batchmean"),
    "sum": lambda T: (T.randn(3, 4) @ T.randn(4, 2)).sum(),
    "prod": lambda T: (T.randn(3, 4) @ T.randn(4, 2)).prod(),
    "cat": lambda T: T.cat([T.randn(3, 4) @ T.randn(4, 2), T.randn(3, 2)]),
    "cat_short": lambda T: T.cat([T.randn(3, 4) @ T.randn(4, 2)] * 2),
    "stack": lambda T: T.stack([T.randn(3, 4) @ T.randn(4, 2), T.randn(3, 2)]),
    "float64": lambda T: T.randn(3, 4, dtype=T.float64) @ T.randn(4, 2, dtype=T.float64),
    "integers": lambda T: T.ones(3, 4, dtype=T.int64) @ T.ones(4, 2, dtype=T.int64),
    "group_norm": lambda T: T.nn.GroupNorm(1, 2)(T.randn(3, 4) @ T.randn(4, 2)),
    "triplet": lambda T: T.nn.functional.triplet_margin_loss(*(T.randn(3, 4) @ T.randn(4, 2) for _ in range(3))),
    "cosine": lambda T: T.nn.functional.cosine_similarity(T.randn(3, 4) @ T.randn(4, 2), T.randn(3, 2)),
    "gru_cell": lambda T: T.nn.GRUCell(4, 3)(T.randn(2, 4)),
    "multihead": lambda T: T.nn.MultiheadAttention(8, 2)(*(T.randn(4, 1, 8) for _ in range(3)))[0],
}


@pytest.mark.parametrize("name", COMPUTATIONS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_same_dtypes_and_nearly_the_same_values(name, dtype):
    theirs, ours = (under_autocast(T, COMPUTATIONS[name], dtype) for T in (torch, teachtorch))
    assert dtypes(ours) == dtypes(theirs)
    for a, b in zip(ours.double().reshape(-1).tolist(), theirs.double().reshape(-1).tolist()):
        assert a == pytest.approx(b, rel=3e-2, abs=3e-2)


@pytest.mark.parametrize("T", [teachtorch, torch], ids=["teachtorch", "torch"])
def test_gradients_come_back_in_the_parameters_dtype(T):
    T.manual_seed(0)
    model = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.ReLU(), T.nn.Linear(8, 1))
    with T.autocast("cpu"):
        assert T.is_autocast_enabled("cpu")
        loss = model(T.ones(2, 4)).float().mean()
    assert not T.is_autocast_enabled("cpu")
    loss.backward()
    assert {p.grad.dtype for p in model.parameters()} == {T.float32}


@pytest.mark.parametrize("T", [teachtorch, torch], ids=["teachtorch", "torch"])
def test_blocks_nest_and_decorate(T):
    a, b = T.ones(2, 2), T.ones(2, 2)

    @T.autocast("cpu")
    def product():
        return a @ b
    with T.autocast("cpu"):
        with T.autocast("cpu", enabled=False):
            assert (a @ b).dtype is T.float32
        assert (a @ b).dtype is T.bfloat16
    assert product().dtype is T.bfloat16 and (a @ b).dtype is T.float32


@pytest.mark.parametrize("T", [teachtorch, torch], ids=["teachtorch", "torch"])
def test_refusals_and_warnings(T):
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        T.autocast(0)
    with pytest.raises(RuntimeError, match="device"):
        T.autocast("abc")
    with pytest.warns(UserWarning, match="CUDA is not available"):
        T.autocast("cuda")
    with pytest.warns(UserWarning, match="target dtype is not supported. Disabling"):
        T.autocast("cpu", dtype=T.float64)
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        assert not T.amp.GradScaler().is_enabled()


def scaled_steps(T, losses, **options):
    """The factor after each step on these losses, and the weights."""
    weight = T.nn.Parameter(T.tensor([1.0]))
    optimizer = T.optim.SGD([weight], lr=0.1)
    scaler, seen = T.amp.GradScaler("cpu", **options), []
    for value in losses:
        optimizer.zero_grad()
        scaler.scale((weight * value).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append((scaler.get_scale(), weight.item()))
    return seen, scaler.state_dict()


@pytest.mark.parametrize("losses", [[1.0] * 5, [1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0], [2.0, 3e38, 1.0]])
def test_the_scalers_factors_are_pytorchs(losses):
    ours, theirs = (scaled_steps(T, losses, init_scale=4.0, growth_interval=2) for T in (teachtorch, torch))
    assert ours[1] == theirs[1]
    assert [s for s, _ in ours[0]] == [s for s, _ in theirs[0]]
    assert [w for _, w in ours[0]] == pytest.approx([w for _, w in theirs[0]])


def messages_of_misuse(T):
    weight = T.nn.Parameter(T.tensor([1.0]))
    optimizer, scaler, found = T.optim.SGD([weight], lr=0.1), T.amp.GradScaler("cpu"), []

    def attempt(action):
        try:
            action()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
        else:
            found.append(None)
    attempt(lambda: scaler.step(optimizer))
    attempt(scaler.update)
    scaler.scale(weight.sum())
    attempt(lambda: scaler.step(optimizer))
    scaler = T.amp.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    attempt(scaler.update)
    attempt(lambda: scaler.unscale_(optimizer))
    attempt(lambda: scaler.unscale_(optimizer))
    attempt(lambda: scaler.step(optimizer))
    attempt(lambda: scaler.step(optimizer))
    attempt(lambda: scaler.unscale_(optimizer))
    attempt(lambda: scaler.load_state_dict({}))
    attempt(lambda: T.amp.GradScaler("cpu", growth_factor=1.0))
    attempt(lambda: T.amp.GradScaler("cpu", backoff_factor=1.0))
    return found


def test_misuse_of_the_scaler_is_refused_as_in_pytorch():
    assert messages_of_misuse(teachtorch) == messages_of_misuse(torch)


def test_the_older_names_switch_themselves_off():
    for T in (teachtorch, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not T.cuda.amp.GradScaler().is_enabled()
            with T.cuda.amp.autocast():
                assert (T.ones(2, 2) @ T.ones(2, 2)).dtype is T.float32


def test_a_loaded_scaler_remembers_how_many_steps_went_well():
    """One step before the checkpoint and one behind it make two: the scale grows."""
    def scale_after(T):
        first, second = (T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2) for _ in range(2))
        for scaler in (first, second):
            weight = T.ones(1, requires_grad=True)
            optimizer = T.optim.SGD([weight], 0.1)
            scaler.scale((weight * 2).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            if scaler is first:
                second.load_state_dict(first.state_dict())
        return second.get_scale(), second.state_dict()["_growth_tracker"]

    assert scale_after(teachtorch) == scale_after(torch) == (8.0, 0)
