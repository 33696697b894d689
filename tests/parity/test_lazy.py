"""Lazy modules, uninitialized parameters, pruning, fusion, skip_init: the same programs in both libraries."""

import copy
import pickle

import pytest

import teachtorch.nn.utils.prune  # neither library imports it by itself
from tests.parity.programs import assert_same


torch = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")

LAYERS = {
    "linear": (lambda nn: nn.LazyLinear(3), (2, 5)),
    "linear of 3 dimensions": (lambda nn: nn.LazyLinear(3, bias=False), (2, 4, 5)),
    "conv1d": (lambda nn: nn.LazyConv1d(4, 3, 2, 1), (2, 3, 8)),
    "conv1d unbatched": (lambda nn: nn.LazyConv1d(4, 3), (3, 8)),
    "conv2d": (lambda nn: nn.LazyConv2d(4, 3, padding=1, groups=2, bias=False), (2, 6, 5, 5)),
    "conv2d same": (lambda nn: nn.LazyConv2d(4, 3, padding="same", padding_mode="circular"), (2, 2, 5, 5)),
    "conv3d": (lambda nn: nn.LazyConv3d(2, 2), (1, 3, 3, 3, 3)),
    "transposed 1d": (lambda nn: nn.LazyConvTranspose1d(4, 3, 2, 1, 1), (2, 3, 8)),
    "transposed 2d": (lambda nn: nn.LazyConvTranspose2d(4, 3, groups=2), (2, 4, 3, 3)),
    "transposed 3d": (lambda nn: nn.LazyConvTranspose3d(2, 2, bias=False), (1, 3, 2, 2, 2)),
    "batch norm 1d": (lambda nn: nn.LazyBatchNorm1d(), (4, 3)),
    "batch norm 2d": (lambda nn: nn.LazyBatchNorm2d(eps=1e-3, momentum=None), (4, 3, 2, 2)),
    "batch norm 3d": (lambda nn: nn.LazyBatchNorm3d(affine=False), (2, 3, 2, 2, 2)),
    "batch norm untracked": (lambda nn: nn.LazyBatchNorm1d(track_running_stats=False, bias=False), (4, 3)),
    "instance norm 1d": (lambda nn: nn.LazyInstanceNorm1d(), (4, 3, 5)),
    "instance norm 2d": (lambda nn: nn.LazyInstanceNorm2d(affine=False), (4, 3, 2, 2)),
    "instance norm 3d": (lambda nn: nn.LazyInstanceNorm3d(track_running_stats=True), (2, 3, 2, 2, 2)),
    "double": (lambda nn: nn.LazyLinear(3).double(), (2, 5)),
}


def facts(m):
    return [
        repr(m),
        type(m).__name__,
        list(m.state_dict()),
        [type(p).__name__ for p in m.parameters()],
        len(m._forward_pre_hooks),
        len(m._load_state_dict_pre_hooks),
    ]


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    make, shape = LAYERS[name]

    def program(torch):
        torch.manual_seed(0)
        m = make(torch.nn)
        x = torch.randn(*shape, dtype=torch.float64 if name == "double" else torch.float32)
        before = facts(m)
        first, second = m(x), m(x)
        first.sum().backward()
        return before, facts(m), first, second, dict(m.state_dict()), [p.grad for p in m.parameters()]

    assert_same(torch, program, rtol=1e-4)


def attributes(torch):
    p, b = torch.nn.UninitializedParameter(), torch.nn.UninitializedBuffer()
    found = [
        repr(p),
        str(b),
        type(p).__name__,
        isinstance(p, torch.nn.Parameter),
        p.requires_grad,
        b.requires_grad,
        str(p.dtype),
        str(p.device),
        p.is_leaf,
        p.grad is None,
        torch.nn.parameter.is_lazy(p),
        torch.nn.parameter.is_lazy(torch.ones(1)),
        isinstance(b, torch.Tensor),
        list(p.size()),
        p.is_floating_point(),
    ]
    p.materialize((2, 3))
    b.materialize((2,), dtype=torch.float64)
    return [
        *found,
        type(p).__name__,
        type(b).__name__,
        list(p.shape),
        str(b.dtype),
        list(b.shape),
        p.requires_grad,
    ]


def copies(torch):
    m = torch.nn.LazyLinear(3, dtype=torch.float64)
    c = copy.deepcopy(m)
    again = pickle.loads(pickle.dumps(torch.nn.UninitializedParameter(False)))
    c(torch.ones(2, 5, dtype=torch.float64))
    return (
        repr(m),
        repr(c),
        repr(m.weight),
        c.weight.is_leaf,
        str(c.weight.dtype),
        repr(again),
        again.requires_grad,
    )


def pickled_module(torch):
    m = pickle.loads(pickle.dumps(torch.nn.LazyLinear(3)))
    m(torch.ones(2, 5))
    return facts(m), [list(p.shape) for p in m.parameters()]


def states(torch):
    lazy, full = torch.nn.LazyLinear(2), torch.nn.Linear(3, 2)
    torch.manual_seed(0)
    for p in full.parameters():
        torch.nn.init.ones_(p)
    result = lazy.load_state_dict(full.state_dict())
    found = [
        repr(result),
        type(lazy).__name__,
        lazy.has_uninitialized_params(),
        lazy.weight,
        lazy.in_features,
    ]
    return [*found, lazy(torch.ones(1, 3)), facts(lazy)]


def states_of_norms(torch):
    lazy, full = torch.nn.LazyBatchNorm1d(), torch.nn.BatchNorm1d(3)
    full(torch.arange(6.0).view(2, 3))
    lazy.load_state_dict(full.state_dict())
    return dict(lazy.state_dict()), lazy(torch.arange(6.0).view(2, 3)), facts(lazy)


def lazy_into_lazy(torch):
    first, second = torch.nn.LazyLinear(2), torch.nn.LazyLinear(2)
    return repr(first.load_state_dict(second.state_dict())), repr(first.weight)


def lazy_into_full(torch):
    torch.nn.Linear(3, 2).load_state_dict(torch.nn.LazyLinear(2).state_dict())


def wrong_size_after_loading(torch):
    lazy = torch.nn.LazyLinear(2)
    lazy.load_state_dict(torch.nn.Linear(3, 2).state_dict())
    lazy(torch.ones(1, 4))


def in_a_sequence(torch):
    torch.manual_seed(0)
    m = torch.nn.Sequential(
        torch.nn.LazyConv2d(4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(2)
    )
    before = repr(m), [n for n, _ in m.named_parameters()]
    m(torch.ones(1, 3, 5, 5))
    return before, repr(m), m(torch.ones(1, 3, 5, 5))


def own_lazy_module(torch):
    class Scale(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.UninitializedParameter()

        def initialize_parameters(self, x, *, factor):
            self.scale.materialize(x.shape)
            with torch.no_grad():
                self.scale.fill_(factor)

        def forward(self, x, factor):
            return x * self.scale

    m = Scale()
    return m(torch.ones(3), factor=2.0), m.scale, type(m).__name__, facts(m)[1:]


def half_and_back(torch):
    m = torch.nn.LazyLinear(2).half()
    half = str(m.weight.dtype)
    m.to(torch.float64).eval()
    m(torch.ones(1, 2, dtype=torch.float64))
    return half, str(m.weight.dtype), m.training


def frozen(torch):
    m = torch.nn.LazyLinear(2)
    m.weight.requires_grad = False
    m(torch.ones(1, 2))
    return [p.requires_grad for p in m.parameters()]


def zeroed(torch):
    m = torch.nn.LazyLinear(2)
    m.zero_grad()
    return facts(m.train(False))[:2]


PROGRAMS = [
    attributes,
    copies,
    pickled_module,
    states,
    states_of_norms,
    lazy_into_lazy,
    lazy_into_full,
    wrong_size_after_loading,
    in_a_sequence,
    own_lazy_module,
    half_and_back,
    frozen,
    zeroed,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    assert_same(torch, program)


def incomplete(torch):
    class Forgets(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

        def forward(self, x):
            return x

    Forgets()(torch.ones(1))


def undefined(torch):
    class Undefined(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        def forward(self, x):
            return x

    Undefined()(torch.ones(1))


REFUSALS = {
    "shape": lambda torch: torch.nn.UninitializedParameter().shape,
    "shape of a buffer": lambda torch: torch.nn.UninitializedBuffer().shape,
    "sharing": lambda torch: torch.nn.LazyLinear(2).share_memory(),
    "incomplete": incomplete,
    "undefined": undefined,
    "dimensions": lambda torch: torch.nn.LazyConv2d(2, 3)(torch.ones(5)),
    "groups": lambda torch: torch.nn.LazyConv2d(2, 1, groups=2)(torch.ones(1, 3, 4, 4)),
    "batch norm of an image": lambda torch: torch.nn.LazyBatchNorm1d()(torch.ones(1, 3, 4, 4)),
}
OPERATORS = {
    "add": lambda torch, p: p + 1,
    "sum": lambda torch, p: p.sum(),
    "numel": lambda torch, p: p.numel(),
    "detach": lambda torch, p: p.detach(),
    "view": lambda torch, p: p.view(2),
    "dim": lambda torch, p: p.dim(),
    "stack": lambda torch, p: torch.stack([p, p]),
    "zeros_like": lambda torch, p: torch.zeros_like(p),
    "index": lambda torch, p: p[0],
    "fill": lambda torch, p: torch.nn.init.ones_(p),
    "bfloat16": lambda torch, p: p.bfloat16(),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusal(what):
    assert_same(torch, REFUSALS[what])


@pytest.mark.parametrize("what", OPERATORS)
def test_no_operator_takes_an_uninitialized_parameter(what):
    """PyTorch's text names the C++ function, ours does not: the beginning and the end are the same."""
    texts = []
    for library in (torch, teachtorch):
        with pytest.raises(ValueError) as refused:
            OPERATORS[what](library, library.nn.UninitializedParameter())
        texts.append(str(refused.value))
    start = "Attempted to use an uninitialized parameter"
    assert all(text.startswith(start) for text in texts)
    ends = [text[text.index("This error happens") :].replace("teachtorch", "torch") for text in texts]
    assert ends[0] == ends[1]


# ---- pruning -----------------------------------------------------------------------------------------


def prunable(torch):
    torch.manual_seed(0)
    return torch.nn.Conv2d(3, 4, 2)


def pruned(torch, m):
    found = [
        [n for n, _ in m.named_parameters()],
        dict(m.named_buffers()),
        m.weight,
        torch.nn.utils.prune.is_pruned(m),
    ]
    m(torch.ones(1, 3, 4, 4)).sum().backward()
    return [*found, m.weight_orig.grad, len(m._forward_pre_hooks)]


PRUNINGS = {
    "identity": lambda torch, P, m: P.identity(m, "weight"),
    "l1 by count": lambda torch, P, m: P.l1_unstructured(m, "weight", 5),
    "l1 by share": lambda torch, P, m: P.l1_unstructured(m, "weight", 0.3),
    "l1 nothing": lambda torch, P, m: P.l1_unstructured(m, "weight", 0),
    "l1 scores": lambda torch, P, m: P.l1_unstructured(m, "weight", 0.5, torch.arange(48.0).view(4, 3, 2, 2)),
    "random": lambda torch, P, m: P.random_unstructured(m, "weight", 0.25),
    "random slices": lambda torch, P, m: P.random_structured(m, "weight", 2, dim=0),
    "random no slices": lambda torch, P, m: P.random_structured(m, "weight", 0, dim=0),
    "l2 slices": lambda torch, P, m: P.ln_structured(m, "weight", 0.5, n=2, dim=1),
    "l1 last": lambda torch, P, m: P.ln_structured(m, "weight", 1, n=1, dim=-1),
    "max": lambda torch, P, m: P.ln_structured(m, "weight", 1, n=float("inf"), dim=0),
    "mask": lambda torch, P, m: P.custom_from_mask(m, "weight", torch.arange(48).view(4, 3, 2, 2) % 2),
    "twice": lambda torch, P, m: (P.l1_unstructured(m, "weight", 10), P.l1_unstructured(m, "weight", 10)),
    "slices, then elements": lambda torch, P, m: (
        P.ln_structured(m, "weight", 1, 2, 0),
        P.l1_unstructured(m, "weight", 0.5),
    ),
    "elements, then slices": lambda torch, P, m: (
        P.l1_unstructured(m, "weight", 0.5),
        P.ln_structured(m, "weight", 1, 2, 1),
        P.identity(m, "weight"),
    ),
    "global": lambda torch, P, m: P.global_unstructured([(m, "weight")], P.L1Unstructured, amount=0.3),
}


@pytest.mark.parametrize("what", PRUNINGS)
def test_pruning(what):
    def program(torch):
        m = prunable(torch)
        PRUNINGS[what](torch, torch.nn.utils.prune, m)
        found = pruned(torch, m)
        torch.nn.utils.prune.remove(m, "weight")
        return [*found, [n for n, _ in m.named_parameters()], m.weight, torch.nn.utils.prune.is_pruned(m)]

    assert_same(torch, program)


def global_of_two(torch):
    P, layers = torch.nn.utils.prune, [prunable(torch), torch.nn.Linear(3, 5)]
    chosen = [(layers[0], "weight"), (layers[1], "weight"), (layers[1], "bias")]
    P.global_unstructured(chosen, P.L1Unstructured, amount=20)
    return [dict(m.named_buffers()) for m in layers]


def container(torch):
    P, m = torch.nn.utils.prune, prunable(torch)
    P.l1_unstructured(m, "weight", 3)
    method = P.RandomStructured.apply(m, "weight", 1, dim=0)
    return (
        type(method).__name__,
        len(method),
        [type(one).__name__ for one in method],
        type(method[0]).__name__,
    )


def without_module(torch):
    P = torch.nn.utils.prune
    t = torch.arange(6.0).view(2, 3)
    return P.L1Unstructured(2).prune(t), P.LnStructured(1, 2, 0).prune(t, importance_scores=-t)


def own_method(torch):
    class Ends(torch.nn.utils.prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[0] = 0
            return mask

    m = prunable(torch)
    Ends.apply(m, "weight")
    Ends.apply(m, "weight")
    return m.weight, dict(m.named_buffers())


@pytest.mark.parametrize(
    "program", [global_of_two, container, without_module, own_method], ids=lambda p: p.__name__
)
def test_pruning_program(program):
    assert_same(torch, program)


PRUNING_REFUSALS = {
    "amount type": lambda torch, P, m: P.l1_unstructured(m, "weight", "a"),
    "amount share": lambda torch, P, m: P.l1_unstructured(m, "weight", 1.5),
    "amount below 0": lambda torch, P, m: P.l1_unstructured(m, "weight", -1),
    "amount count": lambda torch, P, m: P.l1_unstructured(m, "weight", 100),
    "slices of a vector": lambda torch, P, m: P.ln_structured(m, "bias", 1, 2, 0),
    "dim": lambda torch, P, m: P.ln_structured(m, "weight", 1, 2, 7),
    "mask": lambda torch, P, m: P.custom_from_mask(m, "weight", torch.ones(2)),
    "scores": lambda torch, P, m: P.l1_unstructured(m, "weight", 1, torch.ones(2)),
    "remove": lambda torch, P, m: P.remove(m, "weight"),
    "global": lambda torch, P, m: P.global_unstructured(3, P.L1Unstructured, amount=1),
    "global structured": lambda torch, P, m: P.global_unstructured(
        [(m, "weight")], P.RandomStructured, amount=1
    ),
    "global scores": lambda torch, P, m: P.global_unstructured(
        [(m, "weight")], P.Identity, importance_scores=[1]
    ),
    "no method": lambda torch, P, m: P.PruningContainer(P.L1Unstructured(1)).add_pruning_method(3),
    "abstract": lambda torch, P, m: P.BasePruningMethod(),
    "no weight": lambda torch, P, m: P.identity(m, "wight"),
}


@pytest.mark.parametrize("what", PRUNING_REFUSALS)
def test_pruning_refusal(what):
    def program(torch):
        m = prunable(torch)
        try:
            PRUNING_REFUSALS[what](torch, torch.nn.utils.prune, m)
        except Exception as error:
            text = str(error) if "0x" not in str(error) else ""
            return [
                type(error).__name__,
                text,
                [n for n, _ in m.named_parameters()],
                len(m._forward_pre_hooks),
            ]

    assert_same(torch, program)


# ---- fusion, skip_init -------------------------------------------------------------------------------


def with_statistics(torch, bn, *shape):
    torch.manual_seed(1)
    bn(torch.randn(4, *shape))
    for p in bn.parameters():
        torch.nn.init.normal_(p)
    return bn.eval()


FUSIONS = {
    "conv": lambda torch, U: U.fuse_conv_bn_eval(
        torch.nn.Conv2d(2, 3, 2).eval(), with_statistics(torch, torch.nn.BatchNorm2d(3), 3, 2, 2)
    ),
    "conv without bias": lambda torch, U: U.fuse_conv_bn_eval(
        torch.nn.Conv1d(2, 3, 2, bias=False).eval(),
        with_statistics(torch, torch.nn.BatchNorm1d(3, affine=False), 3, 2),
    ),
    "transposed": lambda torch, U: U.fuse_conv_bn_eval(
        torch.nn.ConvTranspose2d(2, 3, 2).eval(),
        with_statistics(torch, torch.nn.BatchNorm2d(3), 3, 2, 2),
        True,
    ),
    "linear": lambda torch, U: U.fuse_linear_bn_eval(
        torch.nn.Linear(2, 3).eval(), with_statistics(torch, torch.nn.BatchNorm1d(3), 3)
    ),
    "training": lambda torch, U: U.fuse_conv_bn_eval(torch.nn.Conv2d(2, 3, 2), torch.nn.BatchNorm2d(3)),
    "untracked": lambda torch, U: U.fuse_conv_bn_eval(
        torch.nn.Conv2d(2, 3, 2).eval(), torch.nn.BatchNorm2d(3, track_running_stats=False).eval()
    ),
    "sizes": lambda torch, U: U.fuse_linear_bn_eval(
        torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(2).eval()
    ),
}


@pytest.mark.parametrize("what", FUSIONS)
def test_fusion(what):
    def program(torch):
        torch.manual_seed(0)
        m = FUSIONS[what](torch, torch.nn.utils)
        return repr(m), dict(m.named_parameters())

    assert_same(torch, program)


def test_skip_init_gives_everything_but_values():
    """PyTorch makes the same, but needs ten seconds to load what its meta device wants."""
    m = teachtorch.nn.utils.skip_init(teachtorch.nn.BatchNorm1d, num_features=3, dtype=teachtorch.float64)
    facts = {
        n: (tuple(t.shape), str(t.dtype), str(t.device), t.requires_grad)
        for n, t in m.state_dict(keep_vars=True).items()
    }
    assert facts["weight"] == ((3,), "torch.float64", "cpu", True)
    assert facts["running_var"] == ((3,), "torch.float64", "cpu", False)
    assert teachtorch.nn.utils.skip_init(teachtorch.nn.Linear, 5, 2, device="meta").weight.is_meta


@pytest.mark.parametrize(
    "make",
    [lambda torch: torch.nn.utils.skip_init(torch.nn.ReLU), lambda torch: torch.nn.utils.skip_init(int, 3)],
)
def test_refusals_of_skip_init(make):
    assert_same(torch, make)


@pytest.mark.parametrize("which", ["input", "weight"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_of_convolutions(count, which):
    def program(torch):
        torch.manual_seed(0)
        x, w = torch.randn(2, 4, *[5] * count), torch.randn(6, 2, *[3] * count)
        y = getattr(torch.nn.functional, f"conv{count}d")(x, w, None, 2, 1, 1, 2)
        grad = getattr(torch.nn.grad, f"conv{count}d_{which}")
        given = (x.shape, w) if which == "input" else (x, w.shape)
        return grad(*given, torch.ones_like(y), 2, 1, 1, 2)

    assert_same(torch, program, rtol=1e-4)
