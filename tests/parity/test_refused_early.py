"""Calls that PyTorch refuses by their arguments' metadata: with the same words here, on sim at the call, too; and calls
beside them that it takes.
"""

import warnings

import pytest

torch = pytest.importorskip("torch")

import teachtorch

POOLS = """
    F.fractional_max_pool2d(x4, (-2, 2), output_size=(2, 2))
    F.fractional_max_pool2d(x4, (0, 2), output_size=(2, 2), return_indices=True, _random_samples=draws)
    F.fractional_max_pool2d(x4, 2, output_size=(-2, 2))
    F.fractional_max_pool2d(x4, 2, output_size=(0, 2))
    F.fractional_max_pool2d(x4, 2, output_size=(2, 0))
    F.fractional_max_pool2d(x4, 2, output_size=(9, 2))
    F.fractional_max_pool2d(x4, 2, output_size=(2, 2, 2))
    F.fractional_max_pool2d(x4, 2, output_ratio=(-0.5, 0.5))
    F.fractional_max_pool2d(x4, 2, output_size=(2, 2), _random_samples=draws[0])
    F.fractional_max_pool2d(x4, 2, output_size=(2, 2), _random_samples=draws[:1])
    F.fractional_max_pool2d(x4, 2, output_size=(2, 2), _random_samples=draws.double())
    F.fractional_max_pool3d(x4[None], 2, output_size=(2, -2, 2))
    F.fractional_max_pool3d(x4[None], (0, 2, 2), output_size=(1, 2, 2))
"""
LOSSES = """
    F.huber_loss(x, x.double())
    F.huber_loss(x.double(), x)
    F.huber_loss(x, x.double(), reduction="none")
    F.huber_loss(x.half(), x)
    F.huber_loss(x, x.long())
    F.huber_loss(x.long(), x)
    F.huber_loss(x.bool(), x)
    F.huber_loss(x.long(), x.long())
"""
CONVOLUTIONS = """
    F.conv1d(x4[0].double(), torch.ones(4, 3, 0).double().to(x.device))
    F.conv2d(x4.double(), torch.ones(4, 3, 2, 0).double().to(x.device))
    torch.convolution(x4, weight, None, (1,), (0,), (1,), False, (0,), 1).shape
    torch.convolution(x4, weight, None, (), (0, 0), (1, 1), False, (0, 0), 1)
    torch.convolution(x4, weight, None, (1, 1), (0, 0, 0), (1, 1), False, (0, 0), 1)
    torch.convolution(x4, weight, None, (1, 1), (0, 0), (1, 1), False, (), 1)
"""
HISTOGRAMS = """
    torch.histogram(x, 3, range=(1.0,))
    torch.histogram(x, 3, range=(1.0, 2.0, 3.0))
    torch.histogram(x, 3, range=())
    torch.histogram(x, 3, range=(float("nan"), 1.0))
    torch.histogram(x, 3, range=(2.0, 1.0))
    torch.histogram(x, x[:0])
"""
MATRICES = """
    torch.geqrf(square.half())
    torch.geqrf(square.long())
    torch.linalg.householder_product(square.half(), x.half())
    torch.linalg.householder_product(square.long(), x.long())
    torch.linalg.householder_product(torch.stack([square, square]), x[None])
    torch.ormqr(square.long(), x.long(), square.long())
    torch.ormqr(square.long(), x[:2].long(), square.long())
    torch.ormqr(x, x, square)
    torch.ormqr(square, x, x)
    torch.ormqr(square, x, square[:2])
    torch.ormqr(square, x, square[:, :2], left=False)
    torch.ormqr(square, x.double(), square)
    torch.ormqr(square, x, square.double())
    torch.ormqr(square[None], x, square)
    torch.ormqr(square[None], x[None], square)
    torch.ormqr(square.expand(2, 3, 3), x.expand(1, 3), square.expand(2, 3, 3))
    torch.ormqr(square.expand(2, 3, 3), x.expand(2, 3), square.expand(1, 3, 3))
    torch.lu_solve(square.half(), square.half(), pivots)
    torch.linalg.lu_solve(square.long(), pivots, square.long())
    torch.linalg.solve(square, x, left=False)
    torch.linalg.cond(square[None]).stride()
    torch.pdist(square.half())
"""
OTHERS = """
    torch.gather(x[:0], 100, x[:0].long())
    torch.gather(x[0], 100, x[0].long())
    torch.index_select(x[0], 100, x[:1].long())
    torch.affine_grid_generator(x4[:, :2, :3, 0].bool(), (2, 1, 3, 4), False)
    torch.isin([1, 2], x)
    torch.multinomial(x4[:0, 0, 0], 5, True)
    F.pad(x4.bool(), (1, 1, 1, 1), "reflect")
    F.pad(x4.bool(), (1, 1, 1, 1), "replicate")
    F.pad(x4[0].bool(), (1, 1), "replicate")
    x4.transpose(0, 1)[:, :1].abs().stride()
"""
LINES = [line.strip() for part in (POOLS, LOSSES, CONVOLUTIONS, HISTOGRAMS, MATRICES, OTHERS)
         for line in part.strip().splitlines()]  # fmt: skip


def names(library, device):
    """What the lines speak of."""
    x = library.arange(3.0)
    return {
        "torch": library,
        "F": library.nn.functional,
        "x": (x / 4).to(device),
        "x4": (library.arange(2 * 3 * 5 * 6.0).reshape(2, 3, 5, 6) / 100).to(device),
        "draws": (library.arange(12.0).reshape(2, 3, 2) / 12).to(device),
        "weight": library.ones(4, 3, 2, 2).to(device),
        "square": (library.eye(3) * 2 + 1).to(device),
        "pivots": library.arange(1, 4).int().to(device),
    }


def told(value):
    """A result, for comparing."""
    if hasattr(value, "tolist"):
        return str(value.dtype), tuple(value.shape), value.tolist()
    return [told(v) for v in value] if type(value) is tuple and hasattr(value[0], "tolist") else value


def outcome(library, line, device="cpu"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.manual_seed(0)
        try:
            found = eval(line, names(library, device))
        except Exception as error:
            return f"{type(error).__name__}: {error}".replace("sim:0", "cpu")
    return told(found)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_as_pytorch(line, device):
    assert outcome(teachtorch, line, device) == outcome(torch, line)
    teachtorch.sim.synchronize()  # nothing came late


def test_a_size_that_is_no_integer_leaves_the_allocator_as_it_was():
    assert teachtorch.ones(1, device="sim").item() == 1               # before the first use there is nothing to count
    before = teachtorch.sim.memory_stats()
    with pytest.raises(TypeError):
        teachtorch.nn.functional.adaptive_max_pool2d(teachtorch.ones(1, 4, 4, device="sim"), (1.5, 2))
    teachtorch.sim.synchronize()
    after = teachtorch.sim.memory_stats()
    assert after["allocated_bytes.all.current"] == before["allocated_bytes.all.current"]
    assert teachtorch.ones(5, device="sim").sum().item() == 5
