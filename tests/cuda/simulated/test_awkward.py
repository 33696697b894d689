"""The operators of ops/on_cuda on what trips kernels: sizes 0 and 1, no multiple of a block, strides,
broadcast, every dtype. Each call is made on both devices, and must not go over the host on `cuda`.
"""

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.core import observer

F = torch.nn.functional
WHOLE = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float32, torch.float64]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for each in value for t in tensors_in(each)] if isinstance(value, (list, tuple)) else []


def on(device, value):
    """The argument there, with its strides."""
    if isinstance(value, torch.Tensor):
        if any(step == 0 and size > 1 for step, size in zip(value.stride(), value.shape)):
            one = value[tuple(slice(0, 1) if step == 0 else slice(None) for step in value.stride())]
            return on(device, one.contiguous()).expand(value.shape)
        there = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)
        return there.copy_(value)
    return type(value)(on(device, each) for each in value) if isinstance(value, (list, tuple)) else value


def check(function, *args):
    """The call gives the same on both devices, in place too, and no launch of it goes over the host."""
    expected_args = [on("cpu", a) for a in args]
    expected = function(*expected_args)
    found_args, names = [on("cuda", a) for a in args], []

    def note(topic, event):
        if event["action"] == "launch":
            names.append(event["launch"].name)

    with observer.watching(note, "stream"):
        found = function(*found_args)
    assert not [name for name in names if name.endswith("on the host")]
    for a, b in zip(tensors_in([found, found_args]), tensors_in([expected, expected_args]), strict=True):
        assert (a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride()) or not b.numel()
        np.testing.assert_allclose(
            np.array(a.cpu().tolist()), np.array(b.tolist()), rtol=1e-4, atol=1e-5, err_msg=str(args)
        )


def layouts(rng, dtype=torch.float32):
    """Tensors of three dimensions: plain, permuted, every other element, broadcast, one element, none."""
    whole = torch.tensor(rng.integers(0, 9, (5, 6, 7)).tolist()).to(dtype)
    return [
        whole[:3, :2, :5].contiguous(),
        whole[:2, :3].permute(2, 0, 1)[:4],
        whole[::2, 1:4, ::3],
        whole[:1, :3, :1].expand(2, 3, 4),
        whole[:1, :1, :1],
        whole[:2, :0],
    ]


@pytest.mark.parametrize("dtype", [torch.bool, *WHOLE, *FLOATS])
def test_copies_of_every_dtype(rng, dtype):
    x = layouts(rng, dtype)[2]
    check(lambda t: torch.cat([t, t[:, :1], t[:, 1:]], 1), x)
    check(lambda t: torch.stack([t, t], -1), x)
    check(lambda t: t.flip(0, 2), x)
    check(lambda t: F.pad(t, (1, 2, -1, 0), value=1), x)
    check(lambda t: torch.where(t > 3, t, t.flip(1)), x)
    check(lambda t: t.masked_fill(t > 3, 1), x)
    check(lambda t: t.sum(1), x)
    check(lambda t: (t.amax(0), t.any(1), t.all(), t.count_nonzero(2)), x)


def test_every_layout(rng):
    for x in layouts(rng)[1:]:
        check(lambda t: torch.cat([t, t], 2), x)
        check(lambda t: t.repeat(2, 1, 3), x)
        check(lambda t: t.roll((1, -5), (0, 2)), x)
        check(lambda t: (t.tril(1).contiguous(), t.triu().contiguous()), x)
        check(lambda t: t.cumsum(2), x)
        check(lambda t: (t.sum(), t.sum((0, 2)), t.mean(1, True) if t.shape[1] else t), x)
        check(lambda t: t.masked_fill_(t > 3, -1) if 0 not in t.stride() else t, x)


def test_reductions_of_layouts(rng):
    for x in layouts(rng)[1:4]:
        check(lambda t: (t.max(1), t.min(-1, True), t.argmax(), t.argmin(0), t.aminmax()), x)
        check(lambda t: (t.logsumexp(1), t.logsumexp((0, 2), True)), x)
        check(lambda t: (t.norm(), t.norm(1, 2), torch.linalg.vector_norm(t, float("inf"))), x)
        check(lambda t: t.cummax(1), x)
    for x in layouts(rng)[2:4]:
        check(lambda t: (t.var(), t.std((0, 2), correction=0), *torch.std_mean(t, 2)), x)


def test_index_tensors(rng):
    i, j = torch.tensor([[2, -1], [0, 1]]), torch.tensor([1, -2])
    for x in layouts(rng)[:3]:
        check(lambda t, i, j: [each.contiguous() for each in (
            t[:, j], t[i % 2], t[i % 2, :, j], t[:, j, j], t[j[:, None] % 2, j])], x, i, j)  # fmt: skip
        check(
            lambda t, i, j: (t.index_select(1, j % 2), t.take(i), t.gather(1, j[:1, None, None] % 2)), x, i, j
        )
    x = torch.zeros(4, 5)
    source = torch.tensor(rng.random((2, 5)).tolist())

    def change(t, i, j, s):
        t[j] = s
        t.index_add_(0, j % 4, s, alpha=2)
        t.index_copy_(0, j % 4, s)
        t.index_fill_(1, j, 7)
        t.index_put_((i, j), s[0, :2], accumulate=True)
        t.scatter_(1, j[None] % 5, -3.0)
        t.put_(i, s[:, :2], accumulate=True)

    check(change, x, i, j, source)
    check(lambda t, j: t[:0].index_add(0, j[:0], t[:0]), x, j)


def test_losses_and_classes(rng):
    x, y = torch.tensor(rng.standard_normal((2, 5, 3)).tolist())
    target, weight = torch.tensor([2, -100, 0, 1, 2]), torch.tensor([1.0, 2.0, 0.5])
    for reduction in ("none", "sum", "mean"):
        for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits):
            check(lambda a, b: loss(a, b, reduction=reduction), x, y)  # noqa: B023  (called at once)
        check(lambda a, t, w: F.cross_entropy(a, t, w, reduction=reduction), x, target, weight)  # noqa: B023
    check(lambda a, t: F.nll_loss(a, t), x.t().contiguous().t(), target)
    check(lambda a, t: F.nll_loss(a.t()[None], t[None, None][0]), x, target)
    check(lambda a, t: F.nll_loss(a[0], t[0]), x, target)


def gradients(function, *args):
    leaves = [a.detach().clone().requires_grad_() if a.is_floating_point() else a for a in args]
    out = function(*leaves)
    out.backward((3 * out.detach()).sin())
    return [leaf.grad for leaf in leaves if leaf.requires_grad]


def test_gradients(rng):
    x, y = torch.tensor(rng.standard_normal((2, 4, 6)).tolist())
    target, index = torch.tensor([2, 5, 0, 1]), torch.tensor([[0, 3, 3], [1, 0, 3]])
    for function, args in (
        (lambda a, t: F.cross_entropy(a, t), (x, target)),
        (lambda a, t: F.cross_entropy(a, t, reduction="none"), (x, target)),
        (lambda a, b: F.mse_loss(a, b), (x, y)),
        (lambda a: a[:, 1:5:2].select(0, 2), (x,)),
        (lambda a: a.diagonal(1), (x,)),
        (lambda a: a.unfold(1, 3, 2), (x,)),
        (lambda a: a.max(1)[0], (x,)),
        (lambda a, i: a[i, :3], (x, index)),
        (lambda a, i: F.embedding(i, a, padding_idx=3), (x, index)),
        (lambda a: F.group_norm(a.view(1, 4, 6), 2), (x,)),
        (lambda a: a.cumsum(0), (x,)),
    ):
        check(lambda *a: gradients(function, *a), *args)  # noqa: B023  (called at once)


CONVOLUTIONS = [
    dict(shape=(2, 4, 7), weight=(6, 2, 3), stride=2, padding=1, dilation=2, groups=2),
    dict(shape=(2, 3, 5, 4), weight=(2, 3, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(shape=(1, 1, 3, 3, 2), weight=(2, 1, 2, 1, 2)),
    dict(shape=(2, 2, 3, 3), weight=(3, 2, 1, 1)),
]


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(rng, case):
    case = dict(case)
    x, weight = [torch.tensor(rng.standard_normal(case.pop(name)).tolist()) for name in ("shape", "weight")]
    bias = torch.tensor(rng.standard_normal(len(weight)).tolist())
    convolve = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.dim()]
    check(lambda a, w, b: convolve(a, w, b, **case), x, weight, bias)
    check(lambda a, w, b: gradients(lambda *t: convolve(*t, **case), a, w, b), x, weight, bias)


def test_transposed_convolution(rng):
    x, weight = (
        torch.tensor(rng.standard_normal((2, 4, 3)).tolist()),
        torch.tensor(rng.standard_normal((4, 2, 3)).tolist()),
    )
    how = dict(stride=2, padding=1, output_padding=1, groups=2)
    check(lambda a, w: F.conv_transpose1d(a, w, **how), x, weight)
    check(lambda a, w: gradients(lambda *t: F.conv_transpose1d(*t, **how), a, w), x, weight)


def test_pools(rng):
    x = torch.tensor(rng.standard_normal((2, 2, 5, 7)).tolist())
    for pool in (
        lambda t: F.avg_pool2d(t, 3, 2, 1),
        lambda t: F.avg_pool2d(t, (2, 3), ceil_mode=True, count_include_pad=False, padding=1),
        lambda t: F.avg_pool2d(t, 2, divisor_override=3),
        lambda t: F.adaptive_avg_pool2d(t, (2, 3)),
        lambda t: F.max_pool2d(t, 3, 2, 1),
        lambda t: F.max_pool1d(t[0], 2, dilation=2),
    ):
        check(pool, x.permute(0, 1, 3, 2))
        check(lambda t: gradients(pool, t), x)  # noqa: B023  (called at once)
    x[0, 0, 1, 1] = float("nan")
    check(lambda t: F.max_pool2d(t, 2, return_indices=True), x)


def test_norms(rng):
    x = torch.tensor(rng.standard_normal((3, 4, 2)).tolist())
    weight, bias = torch.tensor(rng.standard_normal((2, 4)).tolist())
    mean, var = torch.zeros(4), torch.ones(4)
    for training in (True, False):

        def normed(t, w, b, m, v, training=training):
            return F.batch_norm(t, m, v, w, b, training)

        check(normed, x, weight, bias, mean, var)
        check(
            lambda t, w, b, m, v: gradients(lambda *ts: normed(*ts, m, v), t, w, b),  # noqa: B023
            *(x, weight, bias, mean, var),
        )
    check(lambda t, w, b: F.group_norm(t, 2, w, b), x.permute(1, 0, 2)[:, :2].repeat(1, 2, 1), weight, bias)
    check(lambda t, w, b: gradients(lambda t, w, b: F.group_norm(t, 2, w, b), t, w, b), x, weight, bias)
    check(lambda t: F.rms_norm(t, (2,)), x)


def test_products_and_sums(rng):
    a, b = torch.tensor(rng.standard_normal((2, 3, 5)).tolist())
    c = torch.tensor(rng.standard_normal((3, 3)).tolist())
    check(lambda a, b, c: torch.addmm(c, a, b.t(), beta=0.5, alpha=2), a, b, c)
    check(lambda a, b, c: c.addmm_(a, b.t()), a, b, c)
    check(lambda a, b, c: torch.addmm(c * float("nan"), a, b.t(), beta=0), a, b, c)
    check(lambda a, b, c: torch.baddbmm(c, a[None], b.t()[None]), a, b, c)
    check(lambda a, b, c: torch.addbmm(c, a[None].expand(2, 3, 5), b.t()[None].expand(2, 5, 3)), a, b, c)
    check(lambda a, b, c: (torch.addmv(c[0], a, b[1]), torch.addr(c, a[:, 0], b[:, 1]), a[0] @ b[0]), a, b, c)
    check(lambda a, b, c: (a[:0] @ b.t(), a[:, :0] @ b.t()[:0], c.trace()), a, b, c)


def test_many_tensors_at_once(rng):
    params = [torch.tensor(rng.random(shape).tolist()) for shape in ((3, 2), (1,), (0,), (11,))]
    check(lambda ts: torch._foreach_add(ts, ts, alpha=2), params)
    check(lambda ts: torch._foreach_mul_(ts, [1.0, 2.0, 3.0, 4.0]), params)
    check(lambda ts: torch._foreach_sqrt(ts), params)


def test_random_numbers_are_drawn_there():
    def draw(t):
        torch.rand(3, device=t.device)
        t = t.clone()
        t.uniform_(2, 3), t.normal_(), t.exponential_(), t.bernoulli_(0.5), t.random_(5)
        F.dropout(t, 0.5)
        return t * 0

    check(draw, torch.ones(7))
    kept = F.dropout(torch.ones(999, device="cuda"), 0.25)
    assert set(kept.tolist()) == {0.0, 1 / 0.75} or torch.allclose(kept.cpu().amax(), torch.tensor(1 / 0.75))
    assert 150 < (kept == 0).sum().item() < 350
