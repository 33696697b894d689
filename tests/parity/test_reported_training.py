"""What users of PyTorch hit while training: gradients and their memory, hooks, refused arguments. The same here."""
import warnings

import pytest

torch = pytest.importorskip("torch")

from tests.parity.snippets import assert_same, snippets_of  # noqa: E402

# Begins each snippet.
START = """
grad, fw = torch.autograd.grad, torch.autograd.forward_ad
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
w, lib = torch.tensor([1.0, 2.0, 0.5, 0.0, -1.0], requires_grad=True), torch.library
def twice(function):
    g, = grad(function(w), w, create_graph=True)
    return g.requires_grad, grad(g.sum(), w) if g.requires_grad else None
class Changed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 1
    @staticmethod
    def backward(ctx, g): return g.mul_(2)
def hooked(register, hook):
    y = w * 2; register(y)(hook); y.sum().backward()
    return w.grad
"""
# A mean's gradient has memory of its own, a sum's is one number seen everywhere, which cannot be changed in place.
GRADIENTS = """
    grad(x.mean(), x)[0].add_(1)
    grad(x.mean(0).sum(), x)[0].add_(1)
    grad(x.mean(1, keepdim=True).sum(), x)[0].add_(1)
    grad(x.mean((0, 1)), x)[0].stride(), grad(x.mean(1).sum(), x)[0].stride(), grad(x.sum(), x)[0].stride()
    g, = grad(x.mean(), x, create_graph=True); type(g.grad_fn).__name__
    grad(x.sum(), x)[0].add_(1)
    grad((x + 1).sum(), x)[0].exp_()
    grad(x.sum(0).sum(), x)[0].add_(1)
    y = x * 1; y.register_hook(lambda g: g.mul_(2)); y.mean().backward(); x.grad
    y = x * 1; y.register_hook(lambda g: g.mul_(2)); y.sum().backward()
    Changed.apply(x).mean().backward(); x.grad
    Changed.apply(x).sum().backward()
    torch.add(torch.ones(2, 3), 1, out=grad(x.sum(), x)[0])
    grad(torch.empty(0, 3, requires_grad=True).mean(0).sum(), x, allow_unused=True)
    e = torch.empty(0, 3, requires_grad=True); grad(e.mean(), e)
    grad((x * 2).sum(), {"a": x})
    grad((x * 2).sum(), {"a": x, "b": w}, allow_unused=True)
    grad((x * 2).sum(), {"a": x, "b": w})
    grad((x * 2).sum(), {})
    import collections; grad((x * 2).sum(), collections.OrderedDict(a=x))
"""
# A slope that is constant but for jumps has the derivative 0, and remains part of the graph.
SECOND_DERIVATIVES = """
    twice(lambda t: F.leaky_relu(t).sum())
    twice(lambda t: F.hardtanh(t).sum())
    twice(lambda t: F.relu6(t).sum())
    twice(lambda t: F.softshrink(t).sum())
    twice(lambda t: F.hardshrink(t).sum())
    twice(lambda t: F.max_pool1d(t.view(1, 1, 5), 2).sum())
    twice(lambda t: F.max_pool2d(t.view(1, 1, 1, 5), (1, 2)).sum())
    twice(lambda t: F.smooth_l1_loss(t, torch.zeros(5), reduction="sum"))
    twice(lambda t: F.huber_loss(t, torch.zeros(5), reduction="sum"))
    twice(lambda t: F.huber_loss(torch.zeros(5), t, delta=0.5))
    twice(lambda t: F.elu(t).sum())
    twice(lambda t: F.celu(t, 2.0).sum())
    twice(lambda t: t.clamp(0, 1).sum())
"""
# What an in-place activation keeps for backward, and what then spoils it.
IN_PLACE = """
    y = F.leaky_relu(w * 1, 0.1, inplace=True); y.sum().backward()
    | w.grad, [n for n in dir(y.grad_fn) if n.startswith("_saved")]
    y = F.elu(w * 1, 1.5, inplace=True); y.sum().backward()
    | w.grad, [n for n in dir(y.grad_fn) if n.startswith("_saved")]
    F.celu(w.double() * 1, 2.0, inplace=True).sum().backward(); w.grad
    F.selu(w * 1, inplace=True).sum().backward(); w.grad
    F.leaky_relu(w * 1, 0.1, inplace=True).mul_(2).sum().backward()
    F.elu(F.leaky_relu(w * 1, 0.1, inplace=True), 1.0, True).sum().backward()
    nn.Sequential(nn.LeakyReLU(inplace=True), nn.ELU(inplace=True))(w * 1).sum().backward()
    F.leaky_relu(w * 1, -0.1, inplace=True)
    F.leaky_relu(w * 1, -0.1, inplace=True).sum().backward()
    F.elu(w * 1, -0.1, inplace=True).sum().backward()
    F.leaky_relu(w * 1, -0.1).sum().backward(); w.grad
    twice(lambda t: F.leaky_relu(t * 1, 0.1, inplace=True).sum())
    twice(lambda t: F.elu(t * 2, 1.5, inplace=True).pow(2).sum())[1]
"""
HOOKS = """
    w.register_post_accumulate_grad_hook(lambda p: 3); w.sum().backward()
    w.register_post_accumulate_grad_hook(lambda p: (p,)); w.sum().backward()
    w.register_post_accumulate_grad_hook(lambda p: p * 2); w.sum().backward(); w.grad
    hooked(lambda y: y.grad_fn.register_hook, lambda inputs, outputs: inputs[0])
    hooked(lambda y: y.grad_fn.register_hook, lambda inputs, outputs: list(inputs))
    hooked(lambda y: y.grad_fn.register_hook, lambda inputs, outputs: (inputs[0] * 3, None))
    hooked(lambda y: y.grad_fn.register_prehook, lambda outputs: outputs[0])
    hooked(lambda y: y.grad_fn.register_prehook, lambda outputs: [outputs[0]])
    hooked(lambda y: y.grad_fn.register_prehook, lambda outputs: (outputs[0] * 3,))
    w.grad = torch.ones(5, device="meta")
"""
MAKING = """
    torch.Tensor(x), torch.FloatTensor(x * 2), torch.Tensor(x)._is_view()
    torch.Tensor(x).sum().backward(); x.grad
    import pickle; x.register_hook(print); y = pickle.loads(pickle.dumps(x)); y
    x.register_hook(print); copy.copy(x).sum().backward(); x.grad
    x.register_hook(print); copy.deepcopy(x); torch.save(x, io.BytesIO())
    x.register_hook(torch.utils.hooks.unserializable_hook(lambda g: g)); torch.save(x, io.BytesIO())
    p = nn.Parameter(torch.ones(1)); p.register_hook(print); torch.save(p, io.BytesIO())
    torch.Tensor(True)
    torch.Tensor(2, "a")
    torch.Tensor(2, 3.0)
    torch.Tensor(None)
    torch.Tensor({"a": 1})
    torch.Tensor({1})
    torch.Tensor([None])
    torch.Tensor(i for i in range(3))
    torch.Tensor(np.float32(3))
    torch.Tensor(np.array(3)).shape, torch.Tensor(np.int64(3)).shape, torch.Tensor(torch.tensor(2), 3).shape
    torch.Tensor(size=(2, 3)).shape, torch.Tensor(data=[1]), torch.FloatTensor(size=(2,)).shape
    torch.Tensor(2, device="meta")
    torch.LongTensor(2, 1.0)
    torch.LongTensor(None)
    torch.ones(1).new(2, "a")
    torch.tensor([None], dtype=torch.float32)
    torch.tensor([None], dtype=torch.int64)
    torch.tensor(None, dtype=torch.float32)
    torch.tensor([{}], dtype=torch.float32)
    torch.tensor([1.5, "a"], dtype=torch.int64)
    torch.tensor([[1, 2], None])
    torch.tensor([[1, 2], None], dtype=torch.int64)
    from decimal import Decimal; torch.tensor([Decimal("1.5")], dtype=torch.float32)
    torch.cat([torch.ones(1), torch.ones(1).long()], out=torch.empty(2, dtype=torch.int64))
    torch.stack([torch.ones(1), torch.ones(1) > 0], out=torch.empty(2, 1, dtype=torch.bool))
    torch.hstack([torch.ones(1), torch.ones(1).long()], out=torch.empty(2, dtype=torch.int64))
    torch.set_default_tensor_type("torch.DoubleTensor"); found = torch.ones(1).dtype
    | torch.set_default_dtype(torch.float32); found
    torch.set_default_tensor_type(torch.LongTensor)
    torch.set_default_tensor_type(torch.float32)
    torch.set_default_dtype(torch.int64)
    torch.set_default_dtype("float32")
"""
REFUSED = """
    torch.broadcast_shapes((1,), (-1,))
    torch.broadcast_shapes((3,), (-1,))
    torch.broadcast_shapes(2.0)
    F.batch_norm(x, torch.zeros(3), None, training=True)
    F.batch_norm(x, None, torch.zeros(3), training=True)
    F.instance_norm(torch.ones(2, 3, 2), torch.zeros(3), None)
    F.batch_norm(torch.ones(2), torch.zeros(2), torch.ones(2))
    F.batch_norm(torch.ones(2), None, None, training=True)
    F.group_norm(torch.ones(1, 3), 2)
    F.group_norm(torch.ones(1, 4), 4)
    F.group_norm(torch.ones(2, 4), 4)
    F.conv2d(torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3), dilation=(1, 0))
    F.conv2d(torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3), dilation=-1)
    F.conv1d(torch.ones(1, 2, 5), torch.ones(4, 2, 3), dilation=0)
    torch.multinomial(torch.tensor([-1.0, 2.0]), 2, replacement=True)
    torch.multinomial(torch.tensor([inf, 2.0]), 2, replacement=True)
    torch.multinomial(torch.tensor([-1.0, 2.0]), 1)
    torch.ones(2).masked_fill(torch.tensor([1, 0]), 1)
    F.embedding_bag(torch.arange(4.0).view(2, 2), torch.tensor([[0, 1]]))
"""
# Orders of arguments that old optimizers use, and numbers where tensors are wanted.
OLDER_CALLS = """
    torch.add(torch.tensor([1.0]), 10, torch.tensor([2.0]))
    torch.sub(torch.tensor([1.0]), 2, torch.tensor([3.0]))
    torch.tensor([1.0]).add_(2, torch.tensor([3.0])), torch.tensor([1.0]).sub_(2, torch.tensor([3.0]))
    a = torch.tensor([4.0]); a.mul_(0.5).add_(0.25, torch.tensor([8.0]))
    torch.tensor([1.0]).addcmul_(2, torch.tensor([3.0]), torch.tensor([3.0]))
    torch.tensor([1.0]).addcdiv_(-2, torch.tensor([3.0]), torch.tensor([6.0]))
    torch.addcmul(torch.tensor([1.0]), 2, torch.tensor([3.0]), torch.tensor([3.0]))
    torch.addcdiv(torch.tensor([1.0]), 2, torch.tensor([3.0]), torch.tensor([3.0]), out=torch.empty(1))
    torch.ones(1, 1).addmm_(0.5, 2, torch.ones(1, 1), torch.ones(1, 1))
    torch.ones(1, 1).addmm_(0.5, torch.ones(1, 1), torch.ones(1, 1))
    x.detach().clone().addcmul_(torch.ones(3), torch.ones(3), torch.ones(3))
    torch.add(1, 1.0), torch.add(1.0, 1.0), torch.add(1, 2, alpha=3)
    torch.sub(1, 2), torch.mul(2, 3.5), torch.mul(2, True)
    torch.div(7, 2), torch.div(7, 2, rounding_mode="floor"), torch.floor_divide(7, 2)
    torch.sub(1, True)
    torch.add("a", 1)
"""
# Class weights and statistics cannot be trained: an error, not silence. Without recording they are taken.
UNTRAINABLE = """
    F.cross_entropy(x, torch.tensor([0, 1]), weight=torch.ones(3, requires_grad=True))
    F.cross_entropy(x, torch.tensor([0, 1]), weight=torch.ones(3, requires_grad=True), label_smoothing=0.1)
    F.cross_entropy(x, torch.ones(2, 3), weight=torch.ones(3, requires_grad=True)).requires_grad
    F.nll_loss(torch.ones(2, 3, 2, 2), torch.zeros(2, 2, 2).long(), weight=torch.ones(3, requires_grad=True))
    F.binary_cross_entropy_with_logits(w, torch.ones(5), pos_weight=torch.ones(5, requires_grad=True))
    F.binary_cross_entropy_with_logits(w, torch.ones(5), weight=torch.ones(5, requires_grad=True))
    nn.BCEWithLogitsLoss(pos_weight=nn.Parameter(torch.ones(5)))(w, torch.ones(5))
    F.binary_cross_entropy(torch.ones(2) / 2, torch.ones(2), weight=torch.ones(2, requires_grad=True))
    F.multi_margin_loss(x, torch.tensor([0, 1]), weight=torch.ones(3, requires_grad=True))
    F.soft_margin_loss(w, torch.ones(5, requires_grad=True))
    F.batch_norm(x, torch.zeros(3, requires_grad=True), torch.ones(3), training=True)
    F.batch_norm(x, torch.zeros(3), torch.ones(3, requires_grad=True))
    F.instance_norm(torch.rand(1, 2, 3), torch.zeros(2, requires_grad=True), torch.ones(2))
    with torch.no_grad(): y = F.cross_entropy(x, torch.tensor([0, 1]), weight=torch.ones(3, requires_grad=True))
    | y
    F.dropout(x, 0.5, training=None)
    F.dropout(x, 0.5, training="a")
    F.dropout(x, 0.5, training=1)
"""
LIBRARY = """
    l = lib.Library("rt", "FRAGMENT"); l.define("older(Tensor x) -> Tensor")
    | kernel = lambda x: x + 5
    | lib.impl(l, "older", "CPU")(kernel) is kernel, torch.ops.rt.older(torch.ones(1))
    l = lib.Library("rt", "FRAGMENT"); l.define("oldest(Tensor x) -> Tensor"); lib.impl(l, "oldest")(lambda x: x + 6)
    | torch.ops.rt.oldest(torch.ones(1))
    l = lib.Library("rt", "FRAGMENT"); l.define("keyed(Tensor x) -> Tensor")
    | lib.impl("rt::keyed", ("CPU", "Meta"))(lambda x: x * 2)
    | torch.ops.rt.keyed(torch.ones(1)), torch.ops.rt.keyed(torch.ones(1, device="meta")).shape
    lib.infer_schema(eval("lambda x: x", {}), mutates_args=())
    def lazy(x: "Tensor") -> "Tensor": return x
    | lib.custom_op("rt::lazy", lazy, mutates_args=())
    def lazy(x: "torch.Tensor") -> "torch.Tensor": return x * 2
    | lib.custom_op("rt::lazy", lazy, mutates_args=())(torch.ones(1))
    def double(x: torch.Tensor) -> torch.Tensor: return x * 2
    | lib.custom_op("rt::double", double, mutates_args=())(torch.ones(1, device="meta"))
"""
FORWARD_MODE = """
    with fw.dual_level():
    |     d = fw.make_dual(torch.ones(2), torch.ones(2))
    |     with torch.inference_mode(): inside = fw.unpack_dual(d * 2).tangent, fw.unpack_dual(d).tangent
    |     with torch.inference_mode(False): left = fw.unpack_dual(d * 2).tangent
    |     after = fw.unpack_dual(d * 2).tangent
    | inside, left, after
    with torch.inference_mode():
    |     with fw.dual_level(): inside = fw.unpack_dual(fw.make_dual(torch.ones(2), torch.ones(2)) * 3).tangent
    | inside
"""
TABLES = (GRADIENTS, SECOND_DERIVATIVES, IN_PLACE, HOOKS, MAKING, REFUSED, UNTRAINABLE, OLDER_CALLS, LIBRARY,
          FORWARD_MODE)
SNIPPETS = [snippet for table in TABLES for snippet in snippets_of(table)]


@pytest.fixture(scope="module", autouse=True)
def forward_mode_is_loaded():
    """PyTorch warns of a deprecation inside itself the first time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_behaviour_is_pytorchs(snippet):
    assert_same(torch, START + snippet)
