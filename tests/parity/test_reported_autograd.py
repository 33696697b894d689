"""Forward mode, transforms, custom operators and what users read of them: the same as in PyTorch, down to the texts."""
import warnings

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.snippets import assert_same, snippets_of

# Begins each snippet: short names, and what the snippets share.
START = """
fw, fn, x, t = torch.autograd.forward_ad, torch.func, torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0])
def dual(function, *args):
    with fw.dual_level():
        return function(*args)
L, G = torch.library, torch.autograd.graph
def typed(x: torch.Tensor, y: int, s: str = "a", k: float = 2.0, j: float = 1e-5) -> torch.Tensor: return x * y
def twice(x: torch.Tensor) -> torch.Tensor: return x * 2
def check(function, values, **options):
    return torch.autograd.gradcheck(function, values.double().requires_grad_(), **options)
def scaled(factor):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a): return a * 2
        @staticmethod
        def backward(ctx, g): return g * 2 * factor
    return Scaled.apply
class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 2
    @staticmethod
    def backward(ctx, g): return g * 2
class Apart(torch.autograd.Function):
    @staticmethod
    def forward(a): return a * 2
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, g): return g * 2
class Generated(Apart):
    generate_vmap_rule = True
class Ruled(Apart):
    @staticmethod
    def vmap(info, in_dims, a): return Ruled.apply(a) + info.batch_size, in_dims[0]
class Both(Ruled):
    generate_vmap_rule = True
"""
FORWARD_MODE = """
    dual(lambda: repr(fw.make_dual(x, t)))
    dual(lambda: repr(fw.make_dual(x, t)[0] * 2))
    dual(lambda: str(fw.make_dual(x.clone().requires_grad_(), t)))
    dual(lambda: repr(fw.unpack_dual(fw.make_dual(x, t)).primal))
    dual(lambda: fw.make_dual(fw.make_dual(x, t), t))
    dual(lambda: fw.unpack_dual(torch.sin(fw.make_dual(torch.tensor([1.0]).expand(2), t))))
    dual(lambda: fw.unpack_dual(fw.make_dual(torch.arange(4.0).view(2, 2).t(), torch.ones(2, 2))).tangent)
    dual(lambda: torch.add(fw.make_dual(x, t), 1, out=torch.empty(2)))
    dual(lambda: torch.sum(fw.make_dual(x, t), 0, out=torch.empty(())))
    def off():
    |     d = fw.make_dual(x, t)
    |     with fw._set_fwd_grad_enabled(False): inside = fw.unpack_dual(d).tangent, fw.unpack_dual(d * 2).tangent
    |     return inside, fw.unpack_dual(d * 2).tangent
    | dual(off)
    fw._set_fwd_grad_enabled(False); found = dual(lambda: fw.unpack_dual(fw.make_dual(x, t)).tangent)
    | fw._set_fwd_grad_enabled(True); found, dual(lambda: fw.unpack_dual(fw.make_dual(x, t)).tangent)
"""
TRANSFORMS = """
    fn.jvp(torch.sin, (x,), (t, t))
    fn.jvp(torch.sin, (x,), t)
    fn.jvp(torch.sin, [x], [t])
    fn.jvp(lambda d: d["a"], ({"a": x},), ({"b": [t, t]},))
    fn.jvp(lambda a: (a, 3), (x,), (t,))
    fn.jvp(lambda a: (a, 3), (x,), (t,), has_aux=True)
    fn.grad(lambda a: (a.sum(), 5), has_aux=True)(x)
    fn.vjp(lambda a: (a.sum(), None), x, has_aux=True)
    fn.vjp(lambda a: (a * 2, [a]), x)[1]({"a": x})
    fn.jacrev(lambda a: (a, "text"), has_aux=True)(x)
    fn.jacfwd(torch.sin)(x)
    fn.jacfwd(lambda a: (a[:, None] * a, a.sum()))(x)
    fn.jacfwd(torch.sin, randomness="foo")(x)
    fn.hessian(lambda a: (a ** 3).sum())(x)
    torch.autograd.functional.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode")
    fn.vmap(lambda a: a, in_dims=(0, 0))(x)
    fn.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(x)
    fn.vmap(lambda a: a * 2)(torch.ones(0, 2))
    fn.vmap(lambda a: (a * 2, a.sum()), out_dims=(1, 0))(torch.ones(0, 2))
    fn.vmap(lambda a: 3)(torch.ones(0, 2))
    fn.vmap(Plain.apply)(torch.ones(2, 2))
    fn.grad(lambda a: Plain.apply(a).sum())(x)
    fn.jvp(Plain.apply, (x,), (t,))
    fn.jacrev(Plain.apply)(x)
    fn.grad(lambda a: Apart.apply(a).sum())(x)
    fn.vmap(Apart.apply)(torch.ones(2, 2))
    fn.vmap(fn.grad(lambda a: Apart.apply(a).sum()))(torch.ones(2, 2))
    fn.vmap(Generated.apply)(torch.ones(2, 2))
    fn.vmap(fn.grad(lambda a: Generated.apply(a).sum()))(torch.ones(2, 2))
    fn.vmap(Ruled.apply)(torch.ones(2, 2))
    fn.vmap(Both.apply)(torch.ones(2, 2))
    Apart.vmap(None, None)
    Plain.generate_vmap_rule
    m = nn.Sequential(nn.BatchNorm1d(2), nn.InstanceNorm1d(2, track_running_stats=True))
    | fn.replace_all_batch_norm_modules_(m) is m, [n for n, _ in m.named_buffers()], m[0].track_running_stats
"""
# `check`: gradcheck of float64 values; `scaled`: a function whose backward is wrong by a factor.
GRADCHECKS = """
    check(lambda a: a * a.detach(), x)
    check(lambda a: a * a.detach(), x, fast_mode=True)
    check(lambda a: (a * 2, a.sum() * a.detach()), torch.ones(2, 2))
    check(lambda a: (a * 2, a.sum() * a.detach()), torch.ones(2, 2), fast_mode=True)
    check(scaled(3), torch.arange(20.0), fast_mode=True)
    check(scaled(1 + 2e-3), torch.tensor([1.0]), fast_mode=True)
    check(scaled(3), x, raise_exception=False)
    check(torch.exp, x, eps=0.1, check_forward_ad=True, check_backward_ad=False)
    torch.autograd.gradcheck(lambda a, b: a * b.detach(), (x.requires_grad_(), torch.ones(2, requires_grad=True)))
    check(lambda a: a * nan, x)
    check(lambda a: 3, x)
    check(lambda a: (a, None), x)
    check(torch.exp, x, check_batched_forward_grad=True)
    check(torch.exp, x, check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)
    torch.autograd.gradgradcheck(torch.sin, x.double().requires_grad_(), check_rev_over_rev=False, check_fwd_over_rev=True)
    torch.autograd.gradgradcheck(torch.sin, x.double().requires_grad_(), check_rev_over_rev=False)
    class Varying(torch.autograd.Function):
    |     calls = 0
    |     @staticmethod
    |     def forward(ctx, a): return a * 2
    |     @staticmethod
    |     def backward(ctx, g): Varying.calls += 1; return g * Varying.calls
    | check(Varying.apply, x)
"""
OPERATORS = """
    L.infer_schema(typed, mutates_args=("x",)), L.infer_schema(typed, mutates_args=(), op_name="ra::f")
    L.infer_schema(typed, mutates_args=("y",))
    L.infer_schema(typed, mutates_args=("q",))
    L.infer_schema(lambda x: x, mutates_args=())
    op = L.custom_op("ra::typed", typed, mutates_args=())
    | repr(torch.ops.ra.typed.default._schema), str(op._opoverload._schema)
    op = L.custom_op("ra::typed", typed, mutates_args=()); op(x, 1, "a", 3, 5)
    op = L.custom_op("ra::typed", typed, mutates_args=()); op(x)
    op = L.custom_op("ra::only", lambda x, n=2: x * n, mutates_args=(), schema="(Tensor x, *, int n=2) -> Tensor"); op(x, 3)
    op = L.custom_op("ra::only", lambda x, n=2: x * n, mutates_args=(), schema="(Tensor x, *, int n=2) -> Tensor"); op(x, 3, n=4)
    op = L.custom_op("ra::cast", twice, mutates_args=()); op.register_autocast("cpu", torch.bfloat16); before = op(x)
    | with torch.autocast("cpu", dtype=torch.float16): inside = op(x), op(x.double())
    | op.register_autocast("cpu", torch.float16)
    | with torch.autocast("cpu"): again = op(x)
    | before, inside, again
    op = L.custom_op("ra::named", twice, mutates_args=()); L.register_autocast("ra::named", "cpu", torch.bfloat16)
    | with torch.autocast("cpu"): inside = torch.ops.ra.named(x)
    | inside
    L.custom_op("ra::cast", twice, mutates_args=()).register_autocast(3, torch.float16)
    op = L.custom_op("ra::fake", twice, mutates_args=()); L.impl_abstract("ra::fake", lambda x: torch.empty_like(x))
    | op(x.to("meta")).shape, L.opcheck(torch.ops.ra.fake, (x,))["test_schema"]
    L.register_fake("ra::nothing", lambda x: x)
    L.Library("ra", "FOO")
    L.Library("aten", "FRAGMENT")
    L.Library("ra", "FRAGMENT").define("bad")
    L.define("ra::defined" + torch.__name__, "(Tensor x) -> Tensor")
"""
MUTATIONS = """
    a = x.clone().requires_grad_()
    | with G.allow_mutation_on_saved_tensors() as kept:
    |     b = a.clone(); out = (b ** 2).sum(); before = len(kept.original), len(kept.cloned)
    |     b.sin_(); after = len(kept.original), len(kept.cloned); out.backward()
    | a.grad, before, after, type(kept).__name__
    a = x.clone().requires_grad_()
    | with G.allow_mutation_on_saved_tensors(): b = a.clone(); out = (b * b.exp()).sum(); b.copy_(t); b.mul_(2); out.backward()
    | a.grad
    a = x.clone().requires_grad_()
    | with G.allow_mutation_on_saved_tensors(): out = (a.clone() ** 2).sum()
    | out.backward()
    with G.allow_mutation_on_saved_tensors():
    |     with G.allow_mutation_on_saved_tensors(): pass
    with G.disable_saved_tensors_hooks("not here"):
    |     with G.allow_mutation_on_saved_tensors(): pass
    x.add_(1)
    | with torch.autograd._unsafe_preserve_version_counter(x): x.add_(1); inside = x._version
    | inside, x._version
    a = x.clone().requires_grad_(); out = (a * 2) ** 2; b = a * 2; c = b ** 2
    | with torch.autograd._unsafe_preserve_version_counter((b, t)): b.add_(1); t.mul_(2)
    | c.sum().backward(); a.grad, b._version, t._version
    G._get_grad_fn_or_grad_acc(x.requires_grad_()).name(), G._get_grad_fn_or_grad_acc(x * 2).name()
    G._get_grad_fn_or_grad_acc(x)
    x.requires_grad_().sum().grad_fn._saved_self_sym_sizes, x.view(1, 2).sum(1).grad_fn._saved_self_sym_sizes
    x.requires_grad_().exp().grad_fn._saved_self_sym_sizes
    G.register_multi_grad_hook([torch.ones(1)], lambda g: None)
    a, seen = x.clone().requires_grad_(), []; handle = G.register_multi_grad_hook([torch.ones(1), a], seen.append, mode="any")
    | (a * 2).sum().backward(); handle.remove(); (a * 2).sum().backward(); seen
"""


def test_saved_results_and_views_are_copied_before_they_change():
    """PyTorch asks for the address of the changed tensor, not of its memory, and so misses these."""
    a = teachtorch.arange(4.0, requires_grad=True)
    with teachtorch.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        out = (b ** 2).sum() + b.exp().mul_(3).sum()
        b[1:3].zero_()
        out.backward()
    assert teachtorch.allclose(a.grad, 2 * a.detach() + 3 * a.detach().exp())


SNIPPETS = [
    snippet for table in (FORWARD_MODE, TRANSFORMS, GRADCHECKS, OPERATORS, MUTATIONS) for snippet in snippets_of(table)
]


@pytest.fixture(scope="module", autouse=True)
def forward_mode_is_loaded():
    """PyTorch warns of a deprecation inside itself the first time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_behaviour_is_pytorchs(snippet):
    assert_same(torch, START + snippet)
