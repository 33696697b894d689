"""What the tests of the compiler share: a compiled call next to the same call as it is."""
import teachtorch as torch
from teachtorch.utils._pytree import tree_flatten


def cloned(tensors):
    """Fresh leaves with the same values and requires_grad; strides are kept."""
    return [t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t for t in tensors]


def assert_alike(found, wanted, tolerance=1e-6):
    """The same nesting, shapes, dtypes, strides and requires_grad, and values within a relative tolerance."""
    found, spec = tree_flatten(found)
    wanted, wanted_spec = tree_flatten(wanted)
    assert spec == wanted_spec
    for a, b in zip(found, wanted):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and a == b
            continue
        assert (a.shape, a.dtype, a.stride(), a.requires_grad) == (b.shape, b.dtype, b.stride(), b.requires_grad)
        assert near(a.detach(), b.detach(), tolerance), (a, b)


def near(a, b, tolerance):
    """Within `tolerance` of the largest element."""
    if not b.dtype.is_floating_point or not b.numel():
        return torch.equal(a, b)
    a, b = a.double(), b.double()
    odd = b.isnan() | b.isinf()
    if not bool(((a == b) | (a.isnan() & b.isnan()) | ~odd).all()):
        return False
    a, b = torch.where(odd, 0.0, a), torch.where(odd, 0.0, b)
    return bool(((a - b).abs() <= tolerance * b.abs().max() + 1e-30).all())


def check(function, *args, tolerance=1e-6, fullgraph=True, backend="fused", **kwargs):
    """A compiled call equals the call as it is: results, and the gradients of all that requires grad."""
    compiled = torch.compile(function, fullgraph=fullgraph, backend=backend)
    mine, theirs = cloned(args), cloned(args)
    found, wanted = compiled(*mine, **kwargs), function(*theirs, **kwargs)
    assert_alike(found, wanted, tolerance)
    results = [(a, b) for a, b in zip(tree_flatten(found)[0], tree_flatten(wanted)[0])
               if isinstance(b, torch.Tensor) and b.requires_grad]
    if results:
        compare_gradients(results, mine, theirs, tolerance)
    return compiled


def compare_gradients(results, mine, theirs, tolerance):
    torch.manual_seed(5)
    tangents = [torch.randn(b.shape, dtype=b.dtype) for _, b in results]
    places = [i for i, t in enumerate(theirs) if isinstance(t, torch.Tensor) and t.requires_grad]
    if places:
        found = torch.autograd.grad([a for a, _ in results], [mine[i] for i in places], tangents, allow_unused=True)
        wanted = torch.autograd.grad([b for _, b in results], [theirs[i] for i in places], tangents, allow_unused=True)
        assert_alike(found, wanted, tolerance)
