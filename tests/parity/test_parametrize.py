"""Parametrizations, weight and spectral norm, orthogonal weights: the same programs in both libraries."""

import copy
import pickle

import pytest

from tests.parity.programs import assert_same

torch = pytest.importorskip("torch")


def symmetric(torch):
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, y):
            return y.triu()

    return Symmetric()


def scale(torch, factor=2.0, invertible=True):
    class Scale(torch.nn.Module):
        def forward(self, x):
            return x * factor

    if invertible:
        Scale.right_inverse = lambda self, y: y / factor
    return Scale()


def split(torch):
    """Two originals for one tensor."""

    class Sum(torch.nn.Module):
        def forward(self, a, b):
            return a + b

        def right_inverse(self, y):
            return y / 2, y / 2

    return Sum()


def returning(torch, forward, inverse=None):
    class Given(torch.nn.Module):
        def forward(self, *x):
            return forward(*x)

    if inverse is not None:
        Given.right_inverse = lambda self, y: inverse(y)
    return Given()


def linear(torch, seed=0, **options):
    torch.manual_seed(seed)
    return torch.nn.Linear(3, 3, **options)


def P(torch):
    return torch.nn.utils.parametrize


def names(m):
    return [[n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], list(m.state_dict())]


def register(torch):
    m = linear(torch)
    before = m.weight
    P(torch).register_parametrization(m, "weight", symmetric(torch))
    w = m.weight
    w.sum().backward()
    return [
        repr(m),
        names(m),
        type(m).__name__,
        m._get_name(),
        isinstance(m, torch.nn.Linear),
        w,
        m.parametrizations.weight.original,
        m.parametrizations.weight.original is before,
        m.parametrizations.weight.original.grad,
        "weight" in m._parameters,
        m.weight is m.weight,
        P(torch).is_parametrized(m),
        P(torch).is_parametrized(m, "weight"),
        P(torch).is_parametrized(m, "bias"),
        P(torch).type_before_parametrizations(m).__name__,
        m(torch.ones(2, 3)),
    ]


def register_twice(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    P(torch).register_parametrization(m, "weight", symmetric(torch))
    P(torch).register_parametrization(m, "bias", scale(torch, 3.0))
    first = m.weight
    with torch.no_grad():
        m.weight = torch.arange(9.0).view(3, 3)
    return [
        repr(m),
        names(m),
        first,
        m.weight,
        m.parametrizations.weight.original,
        m.bias,
        len(m.parametrizations.weight),
    ]


def assign_without_inverse(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch, invertible=False))
    m.weight = torch.ones(3, 3)


def assign_parameter(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    m.weight = torch.nn.Parameter(torch.ones(3, 3))


def assign_keeps_object(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    original = m.parametrizations.weight.original
    m.weight = torch.ones(3, 3)
    return original is m.parametrizations.weight.original, original, m.weight


def several_originals(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", split(torch))
    before = m.weight
    m.weight = torch.full((3, 3), 4.0)
    found = [
        names(m),
        before,
        m.weight,
        m.parametrizations.weight.is_tensor,
        m.parametrizations.weight.ntensors,
    ]
    P(torch).remove_parametrizations(m, "weight")
    return [*found, names(m), m.weight, repr(m)]


def several_originals_left(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", split(torch))
    P(torch).remove_parametrizations(m, "weight", leave_parametrized=False)


def buffers(torch):
    m = torch.nn.BatchNorm1d(3)
    P(torch).register_parametrization(m, "running_mean", scale(torch))
    return names(m), m.running_mean, m.parametrizations.running_mean.original


def remove(torch, leave):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", symmetric(torch))
    P(torch).register_parametrization(m, "weight", scale(torch))
    original = m.parametrizations.weight.original
    P(torch).remove_parametrizations(m, "weight", leave_parametrized=leave)
    return [
        repr(m),
        names(m),
        m.weight,
        m.weight is original,
        hasattr(m, "parametrizations"),
        type(m).__name__,
    ]


def remove_one_of_two(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    P(torch).register_parametrization(m, "bias", scale(torch))
    P(torch).remove_parametrizations(m, "weight")
    return type(m).__name__, names(m), P(torch).is_parametrized(m, "weight")


def cached(torch):
    m = linear(torch)
    calls = []
    p = returning(torch, lambda x: calls.append(1) or x * 2)
    P(torch).register_parametrization(m, "weight", p)
    calls.clear()
    with P(torch).cached():
        with P(torch).cached():
            same = m.weight is m.weight
        m(torch.ones(1, 3))
        inside = len(calls)
    return same, inside, m.weight is m.weight, len(calls)


def stale_in_cache(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    with P(torch).cached():
        before = m.weight
        m.weight = torch.ones(3, 3)
        inside = m.weight
    return before, inside, m.weight


def unsafe(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", returning(torch, lambda x: x[:2]), unsafe=True)
    return m.weight, m.parametrizations.weight.unsafe


def deep_copy(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    c = copy.deepcopy(m)
    with torch.no_grad():
        c.parametrizations.weight.original.zero_()
    return type(c).__name__, type(c) is type(m), m.weight, c.weight


def pickled(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", torch.nn.Identity())
    pickle.dumps(m)


def load(torch):
    m, other = linear(torch, 0), linear(torch, 1)
    for one in (m, other):
        P(torch).register_parametrization(one, "weight", scale(torch))
    return repr(m.load_state_dict(other.state_dict())), m.weight, other.weight


def load_plain(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    m.load_state_dict(linear(torch, 1).state_dict())


def transfer(torch):
    m, other = linear(torch), linear(torch, 1)
    P(torch).register_parametrization(m, "weight", scale(torch))
    P(torch).transfer_parametrizations_and_params(m, other)
    return (
        other.weight,
        names(other),
        other.parametrizations.weight.original is m.parametrizations.weight.original,
    )


def train_flag(torch):
    m = linear(torch).eval()
    p = scale(torch)
    P(torch).register_parametrization(m, "weight", p)
    return p.training, m.train().parametrizations.weight[0].training


def to_double(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    return m.double().weight


def functional(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", scale(torch))
    state = {"parametrizations.weight.original": torch.ones(3, 3), "bias": torch.zeros(3)}
    return torch.func.functional_call(m, state, torch.ones(1, 3)), m(torch.ones(1, 3))


def sgd(torch):
    m = linear(torch)
    P(torch).register_parametrization(m, "weight", symmetric(torch))
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        m(torch.ones(2, 3)).pow(2).sum().backward()
        optimizer.step()
    return m.weight, m.bias


REGISTRATIONS = [
    register,
    register_twice,
    assign_without_inverse,
    assign_parameter,
    assign_keeps_object,
    several_originals,
    several_originals_left,
    buffers,
    lambda torch: remove(torch, True),
    lambda torch: remove(torch, False),
    remove_one_of_two,
    cached,
    stale_in_cache,
    unsafe,
    deep_copy,
    pickled,
    load,
    load_plain,
    transfer,
    train_flag,
    to_double,
    functional,
    sgd,
]


@pytest.mark.parametrize("program", REGISTRATIONS, ids=lambda p: p.__name__)
def test_registration(program):
    assert_same(torch, program)


REFUSALS = {
    "no such tensor": lambda torch: P(torch).register_parametrization(linear(torch), "wight", scale(torch)),
    "an attribute": lambda torch: P(torch).register_parametrization(
        linear(torch), "in_features", scale(torch)
    ),
    "shape": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x: x[:2])
    ),
    "dtype": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x: x.double())
    ),
    "no tensor": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x: 1)
    ),
    "inverse of another dtype": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x: x, lambda y: y.double())
    ),
    "inverse that is no tensor": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x: x, lambda y: 1)
    ),
    "inverse with a number": lambda torch: P(torch).register_parametrization(
        linear(torch), "weight", returning(torch, lambda x, y: x, lambda y: (y, 1))
    ),
    "remove what is not there": lambda torch: P(torch).remove_parametrizations(linear(torch), "weight"),
    "empty list": lambda torch: P(torch).ParametrizationList([], torch.ones(2)),
}
SECOND = {
    "shape": lambda torch: returning(torch, lambda x: x[:2]),
    "dtype": lambda torch: returning(torch, lambda x: x.double()),
    "no tensor": lambda torch: returning(torch, lambda x: 1),
    "inverse's shape": lambda torch: returning(torch, lambda x: x, lambda y: y[:1]),
    "inverse's dtype": lambda torch: returning(torch, lambda x: x, lambda y: y.double()),
    "inverse no tensor": lambda torch: returning(torch, lambda x: x, lambda y: 1),
}
ASSIGNED = {
    "dtype": (lambda y: y, lambda torch: torch.ones(3, 3).double()),
    "other dtype of two": (lambda y: (y, y), lambda torch: torch.ones(3, 3).double()),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusal(what):
    assert_same(torch, REFUSALS[what])


@pytest.mark.parametrize("what", SECOND)
def test_refusal_of_a_second_one(what):
    def program(torch):
        m = linear(torch)
        P(torch).register_parametrization(m, "weight", scale(torch))
        P(torch).register_parametrization(m, "weight", SECOND[what](torch))

    assert_same(torch, program)


@pytest.mark.parametrize("what", ASSIGNED)
def test_refusal_of_an_assignment(what):
    inverse, value = ASSIGNED[what]

    def program(torch):
        m = linear(torch)
        P(torch).register_parametrization(m, "weight", returning(torch, lambda x, *_: x, inverse))
        m.weight = value(torch)

    assert_same(torch, program)


# ---- ready ones --------------------------------------------------------------------------------------


def trained(torch, m, x, steps=2):
    found = [repr(m), names(m), m(x)]
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        m(x).pow(2).sum().backward()
        optimizer.step()
    return [*found, m(x), m.weight, dict(m.state_dict())]


def layer(torch, kind):
    torch.manual_seed(3)
    if kind == "linear":
        return torch.nn.Linear(4, 3), torch.randn(2, 4)
    if kind == "conv":
        return torch.nn.Conv2d(4, 6, 3, groups=2), torch.randn(2, 4, 5, 5)
    return torch.nn.ConvTranspose1d(4, 2, 3), torch.randn(2, 4, 5)


KINDS = ["linear", "conv", "transposed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_weight_norm(kind, dim):
    def program(torch):
        m, x = layer(torch, kind)
        return trained(torch, torch.nn.utils.parametrizations.weight_norm(m, dim=dim), x)

    assert_same(torch, program, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [0, None])
def test_old_weight_norm(kind, dim):
    def program(torch):
        m, x = layer(torch, kind)
        m = torch.nn.utils.weight_norm(m, dim=dim)
        found = trained(torch, m, x)
        torch.nn.utils.remove_weight_norm(m)
        return [found, names(m), m.weight, len(m._forward_pre_hooks), repr(m)]

    assert_same(torch, program, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"n_power_iterations": 3}, {"dim": 1}], ids=str)
@pytest.mark.parametrize("old", [False, True])
def test_spectral_norm(kind, options, old):
    def program(torch):
        m, x = layer(torch, kind)
        norm = torch.nn.utils.spectral_norm if old else torch.nn.utils.parametrizations.spectral_norm
        m = norm(m, **options)
        return [*trained(torch, m, x), m.eval()(x), m(x)]

    assert_same(torch, program, rtol=1e-4)


def remove_spectral_norm(torch):
    m, x = layer(torch, "conv")
    m = torch.nn.utils.spectral_norm(m)
    m(x)
    torch.nn.utils.remove_spectral_norm(m)
    return names(m), m.weight, [len(h) for h in (m._forward_pre_hooks, m._state_dict_hooks)]


def spectral_states(torch):
    m, other = [torch.nn.utils.spectral_norm(layer(torch, "linear")[0]) for _ in range(2)]
    m(torch.ones(1, 4))
    state = m.state_dict()
    metadata = dict(state._metadata[""])
    other.load_state_dict(state)
    return metadata, other.weight_u, dict(other.state_dict())


def weight_norm_states(torch):
    old = torch.nn.utils.weight_norm(layer(torch, "linear")[0])
    new = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 3))
    return repr(new.load_state_dict(old.state_dict())), new.weight, old.weight


def one_dimensional_spectral_norm(torch):
    m = torch.nn.LayerNorm(4)
    return torch.nn.utils.parametrizations.spectral_norm(m).weight, names(m)


def set_spectral_norm(torch):
    m = torch.nn.utils.parametrizations.spectral_norm(layer(torch, "linear")[0])
    m.weight = torch.ones(3, 4)
    return m.parametrizations.weight.original


def set_weight_norm(torch):
    m = torch.nn.utils.parametrizations.weight_norm(layer(torch, "linear")[0])
    m.weight = torch.ones(3, 4) * 2
    return dict(m.state_dict()), m.weight


OTHERS = [
    remove_spectral_norm,
    spectral_states,
    weight_norm_states,
    one_dimensional_spectral_norm,
    set_spectral_norm,
    set_weight_norm,
]


@pytest.mark.parametrize("program", OTHERS, ids=lambda p: p.__name__)
def test_states_of_norms(program):
    assert_same(torch, program, rtol=1e-4)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivialized", [True, False])
def test_orthogonal(shape, orthogonal_map, trivialized):
    def program(torch):
        torch.manual_seed(0)
        m = torch.nn.Linear(shape[1], shape[0])
        torch.nn.utils.parametrizations.orthogonal(
            m, orthogonal_map=orthogonal_map, use_trivialization=trivialized
        )
        w = m.weight
        (w * torch.arange(float(w.numel())).view(w.shape)).sum().backward()
        return names(m), w, m.parametrizations.weight.original.grad

    assert_same(torch, program, rtol=1e-4)


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
def test_orthogonal_after_assignment(orthogonal_map):
    def program(torch):
        m = linear(torch)
        torch.nn.utils.parametrizations.orthogonal(m, orthogonal_map=orthogonal_map)
        m.weight = torch.eye(3).flip(0)
        return m.weight, m.parametrizations.weight[0].base

    assert_same(torch, program, rtol=1e-4)


READY_REFUSALS = {
    "no weight": lambda torch: torch.nn.utils.parametrizations.spectral_norm(torch.nn.ReLU()),
    "no power iterations": lambda torch: torch.nn.utils.parametrizations.spectral_norm(
        linear(torch), n_power_iterations=0
    ),
    "dim": lambda torch: torch.nn.utils.parametrizations.spectral_norm(linear(torch), dim=5),
    "map": lambda torch: torch.nn.utils.parametrizations.orthogonal(linear(torch), orthogonal_map="qr"),
    "a vector": lambda torch: torch.nn.utils.parametrizations.orthogonal(linear(torch), "bias"),
    "orthogonal without weight": lambda torch: torch.nn.utils.parametrizations.orthogonal(torch.nn.ReLU()),
    "old weight norm twice": lambda torch: torch.nn.utils.weight_norm(
        torch.nn.utils.weight_norm(linear(torch))
    ),
    "old spectral norm twice": lambda torch: torch.nn.utils.spectral_norm(
        torch.nn.utils.spectral_norm(linear(torch))
    ),
    "no old weight norm": lambda torch: torch.nn.utils.remove_weight_norm(linear(torch)),
    "no old spectral norm": lambda torch: torch.nn.utils.remove_spectral_norm(linear(torch)),
    "old iterations": lambda torch: torch.nn.utils.spectral_norm(linear(torch), n_power_iterations=0),
    "old without bias": lambda torch: torch.nn.utils.spectral_norm(linear(torch, bias=False), "bias"),
    "lazy": lambda torch: torch.nn.utils.weight_norm(torch.nn.LazyLinear(3)),
    "lazy spectral": lambda torch: torch.nn.utils.spectral_norm(torch.nn.LazyLinear(3)),
}


@pytest.mark.parametrize("what", READY_REFUSALS)
def test_refusals_of_ready_ones(what):
    assert_same(torch, READY_REFUSALS[what])
