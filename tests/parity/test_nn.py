"""Modules against PyTorch: registration, state, hooks, containers, layers, initialisation."""

import collections
import copy
import pickle

import pytest

from tests.parity.programs import assert_same, assert_same_error_type, programs

torch = pytest.importorskip("torch")


def check(program):
    assert_same(torch, program)


def net(torch):
    """A module with everything: parameters, buffers, children, a shared one."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))
            self.first = torch.nn.Linear(3, 4)
            self.register_buffer("mean", torch.zeros(4))
            self.register_buffer("cache", torch.zeros(2), persistent=False)
            self.register_buffer("nothing", None)
            self.block = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
            self.again = self.block[0]
            self.register_parameter("offset", None)

        def forward(self, x):
            return self.again(self.block(self.first(x * self.scale)))

    torch.manual_seed(0)
    return Net()


# ---- walking -----------------------------------------------------------------------------------------------


def named_everything(torch):
    m = net(torch)
    return [
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_buffers()],
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_children()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        [n for n, _ in m.named_parameters("a", recurse=False)],
        len(list(m.parameters())),
        len(list(m.buffers())),
        len(list(m.modules())),
        len(list(m.children())),
    ]


def printout(torch):
    return repr(net(torch))


def state_dict_order_and_metadata(torch):
    state = net(torch).state_dict()
    return list(state), dict(state._metadata), state


def state_dict_with_prefix_and_vars(torch):
    state = net(torch).state_dict(prefix="x.", keep_vars=True)
    return list(state), [type(v).__name__ for v in state.values()]


def state_dict_values_are_aliases(torch):
    m = torch.nn.Linear(2, 1)
    state = m.state_dict()
    with torch.no_grad():
        m.weight.fill_(7)
    return state["weight"]


def members_by_path(torch):
    m = net(torch)
    return (
        m.get_submodule("block.1") is m.block[1],
        m.get_parameter("block.0.weight") is m.again.weight,
        m.get_buffer("mean") is m.mean,
    )


def set_submodule(torch):
    m = net(torch)
    m.set_submodule("block.1", torch.nn.Tanh())
    m.set_submodule("block.9", torch.nn.Tanh())
    return repr(m)


def dir_has_members(torch):
    names = dir(net(torch))
    return [n in names for n in ("first", "scale", "mean", "0", "forward")]


def train_and_eval(torch):
    m = net(torch)
    return m.eval().training, [c.training for c in m.modules()], m.train().block.training


def apply_order(torch):
    order = []
    net(torch).apply(lambda m: order.append(type(m).__name__))
    return order


@programs(
    named_everything,
    printout,
    state_dict_order_and_metadata,
    state_dict_with_prefix_and_vars,
    state_dict_values_are_aliases,
    members_by_path,
    set_submodule,
    dir_has_members,
    train_and_eval,
    apply_order,
)
def test_walking_and_state(program):
    check(program)


# ---- registration ------------------------------------------------------------------------------------------


def before_init(assign):
    def program(torch):
        class Early(torch.nn.Module):
            def __init__(self):
                assign(self, torch)

        Early()

    return program


ASSIGNED_BEFORE_INIT = {
    "parameter": lambda self, torch: setattr(self, "a", torch.nn.Parameter(torch.ones(1))),
    "module": lambda self, torch: setattr(self, "a", torch.nn.ReLU()),
    "buffer": lambda self, torch: self.register_buffer("a", torch.ones(1)),
    "register": lambda self, torch: self.register_parameter("a", None),
    "tensor": lambda self, torch: setattr(self, "a", torch.ones(1)),
}

REFUSED = {
    "tensor over parameter": lambda torch, m: setattr(m, "weight", torch.ones(2, 3)),
    "number over parameter": lambda torch, m: setattr(m, "weight", 3),
    "tensor over module": lambda torch, m: setattr(torch.nn.Sequential(m), "0", torch.ones(1)),
    "number over buffer": lambda torch, m: setattr(m, "b", 3),
    "dot in buffer": lambda torch, m: m.register_buffer("a.b", torch.ones(1)),
    "empty buffer name": lambda torch, m: m.register_buffer("", torch.ones(1)),
    "buffer name taken": lambda torch, m: m.register_buffer("forward", torch.ones(1)),
    "buffer over parameter": lambda torch, m: m.register_buffer("weight", torch.ones(1)),
    "buffer no tensor": lambda torch, m: m.register_buffer("c", 3),
    "buffer name no text": lambda torch, m: m.register_buffer(3, torch.ones(1)),
    "dot in parameter": lambda torch, m: m.register_parameter("a.b", None),
    "parameter no parameter": lambda torch, m: m.register_parameter("c", torch.ones(1)),
    "parameter name taken": lambda torch, m: m.register_parameter("forward", None),
    "dot in module": lambda torch, m: m.add_module("a.b", torch.nn.ReLU()),
    "module no module": lambda torch, m: m.add_module("a", torch.ones(1)),
    "module name no text": lambda torch, m: m.add_module(1, torch.nn.ReLU()),
    "module over parameter": lambda torch, m: m.add_module("weight", torch.nn.ReLU()),
    "missing attribute": lambda torch, m: m.nothing_here,
    "delete missing": lambda torch, m: delattr(m, "nothing_here"),
    "submodule missing": lambda torch, m: m.get_submodule("a.b"),
    "submodule is none": lambda torch, m: m.get_submodule("weight"),
    "parameter path": lambda torch, m: m.get_parameter("b"),
    "buffer path": lambda torch, m: m.get_buffer("weight"),
    "no forward": lambda torch, m: torch.nn.Module()(1),
    "call before init": lambda torch, m: torch.nn.Module.__new__(torch.nn.Module)(1),
    "arguments to Module": lambda torch, m: torch.nn.Module(1),
    "keywords to Module": lambda torch, m: torch.nn.Module(a=1),
    "mode no bool": lambda torch, m: m.train(1),
    "integer dtype": lambda torch, m: m.to(torch.int64),
    "integer parameter": lambda torch, m: torch.nn.Parameter(torch.tensor([1])),
    "set_submodule empty": lambda torch, m: m.set_submodule("", m),
    "set_submodule strict": lambda torch, m: m.set_submodule("x", torch.nn.ReLU(), strict=True),
    "set_submodule over parameter": lambda torch, m: m.set_submodule("weight", torch.nn.ReLU()),
    "load no dict": lambda torch, m: m.load_state_dict([1]),
}


@pytest.mark.parametrize("what", ASSIGNED_BEFORE_INIT)
def test_assignment_before_init(what):
    check(before_init(ASSIGNED_BEFORE_INIT[what]))


@pytest.mark.parametrize("what", REFUSED)
def test_refusal(what):
    def program(torch):
        m = torch.nn.Linear(3, 2)
        m.b = torch.nn.Buffer(torch.zeros(1))
        return REFUSED[what](torch, m)

    check(program)


def sorting_of_attributes(torch):
    m = torch.nn.Module()
    m.a = torch.nn.Parameter(torch.ones(1))
    m.b = torch.nn.Buffer(torch.ones(2), persistent=False)
    m.c = torch.ones(3)
    m.d = torch.nn.ReLU()
    m.a = None
    m.b = torch.zeros(2)
    m.d = None
    m.e = None
    m.e = torch.nn.ReLU()
    m.c = torch.nn.Parameter(torch.ones(1))
    return (
        list(m._parameters),
        list(m._buffers),
        list(m._modules),
        list(m.state_dict()),
        "c" in m.__dict__,
        m.a,
        m.b,
    )


def parameter_takes_a_buffers_name(torch):
    m = torch.nn.Module()
    m.register_buffer("a", torch.ones(1), persistent=False)
    m.a = torch.nn.Parameter(torch.ones(1))
    del m.a
    m.register_buffer("a", torch.ones(1))
    return list(m.state_dict()), hasattr(m, "a")


def parameter_facts(torch):
    p = torch.nn.Parameter(torch.arange(3.0))
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    return (
        repr(p),
        p.is_leaf,
        p,
        frozen,
        type(p * 2).__name__,
        type(p.detach()).__name__,
        type(p.data).__name__,
        type(p[1:]).__name__,
        isinstance(p, torch.Tensor),
        torch.nn.Parameter(),
    )


def parameter_shares_memory(torch):
    t = torch.zeros(2)
    p = torch.nn.Parameter(t)
    t[0] = 5
    return p, p.data_ptr() == t.data_ptr()


def registration_hooks(torch):
    seen, M = [], torch.nn.modules.module
    handles = [
        register(lambda m, name, value: seen.append(name))
        for register in (
            M.register_module_parameter_registration_hook,
            M.register_module_buffer_registration_hook,
            M.register_module_module_registration_hook,
        )
    ]
    m = torch.nn.Sequential(torch.nn.Linear(1, 1))
    m.register_buffer("b", torch.ones(1))
    for handle in handles:
        handle.remove()
    m.c = torch.nn.ReLU()
    return seen


@programs(
    sorting_of_attributes,
    parameter_takes_a_buffers_name,
    parameter_facts,
    parameter_shares_memory,
    registration_hooks,
)
def test_registration(program):
    check(program)


# ---- loading -----------------------------------------------------------------------------------------------


def loading(change, strict=True, assign=False):
    """Load a changed state into a fresh module; report the answer and what the module holds then."""

    def program(torch):
        source, target = net(torch), net(torch)
        with torch.no_grad():
            for p in source.parameters():
                p.add_(1)
        state = source.state_dict()
        change(torch, state)
        try:
            answer = target.load_state_dict(state, strict=strict, assign=assign)
            return (
                repr(answer),
                list(answer),
                target.state_dict(),
                [p.requires_grad for p in target.parameters()],
            )
        except RuntimeError as error:
            return str(error), target.state_dict()

    return program


def nothing(torch, state):
    """Leave the state as it is."""


def without_some(torch, state):
    del state["first.weight"], state["mean"]


def with_more(torch, state):
    state["extra"] = torch.ones(1)
    state["first.extra"] = torch.ones(1)
    state["other.x.y"] = torch.ones(1)


def of_other_size(torch, state):
    state["first.weight"] = torch.ones(2, 2)
    state["scale"] = torch.ones(1)


def of_other_dtype(torch, state):
    state["scale"] = torch.full((3,), 2.5, dtype=torch.float64)


def not_a_tensor(torch, state):
    state["scale"] = [1, 2, 3]


def all_wrong(torch, state):
    without_some(torch, state)
    with_more(torch, state)
    state["scale"] = torch.ones(1)


@pytest.mark.parametrize("assign", (False, True))
@pytest.mark.parametrize("strict", (True, False))
@pytest.mark.parametrize(
    "change",
    (nothing, without_some, with_more, of_other_size, of_other_dtype, not_a_tensor, all_wrong),
    ids=lambda f: f.__name__,
)
def test_load_state_dict(change, strict, assign):
    check(loading(change, strict, assign))


def loading_copies_in_place(torch):
    m = torch.nn.Linear(2, 2)
    weight, pointer = m.weight, m.weight.data_ptr()
    m.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.zeros(2)})
    return m.weight is weight, m.weight.data_ptr() == pointer, m.weight


def state_hooks(torch):
    order, m = [], net(torch)
    m.register_state_dict_pre_hook(lambda module, prefix, keep: order.append(["pre", prefix, keep]))
    m.block.register_state_dict_post_hook(
        lambda module, state, prefix, local: order.append(["post", prefix, len(state)])
    )
    m.first.register_load_state_dict_pre_hook(
        lambda module, state, prefix, *rest: order.append(["load", prefix, len(rest)])
    )
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    state = m.state_dict()
    del state["scale"]
    return repr(m.load_state_dict(state)), order


def extra_state(torch):
    class Counting(torch.nn.Module):
        count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    m = torch.nn.Sequential(Counting())
    state = m.state_dict()
    m[0].count = 9
    m.load_state_dict(state)
    missing = m.load_state_dict({}, strict=False)
    return list(state), m[0].count, repr(missing), repr(torch.nn.ReLU().load_state_dict(state, strict=False))


def versions_reach_the_loader(torch):
    seen = []

    class Versioned(torch.nn.Module):
        _version = 5

        def _load_from_state_dict(self, state, prefix, local_metadata, *rest):
            seen.append([prefix, local_metadata.get("version")])
            super()._load_from_state_dict(state, prefix, local_metadata, *rest)

    m = torch.nn.Sequential(Versioned())
    m.load_state_dict(m.state_dict())
    m.load_state_dict({})
    return seen


@programs(loading_copies_in_place, state_hooks, extra_state, versions_reach_the_loader)
def test_state(program):
    check(program)


# ---- conversion and copying --------------------------------------------------------------------------------


def to_double_keeps_parameters(torch):
    m = torch.nn.Linear(2, 1)
    m.register_buffer("count", torch.tensor([1]))
    before = m.weight
    m(torch.ones(1, 2)).sum().backward()
    m.double()
    return (
        m.weight is before,
        str(m.weight.dtype),
        str(m.weight.grad.dtype),
        str(m.count.dtype),
        m.weight.is_leaf,
    )


def to_in_all_spellings(torch):
    return [
        str(torch.nn.Linear(1, 1).to(*args, **kwargs).weight.dtype)
        for args, kwargs in (
            ((torch.float64,), {}),
            (("cpu", torch.float16), {}),
            ((), {"dtype": torch.float64}),
            (("cpu",), {}),
            ((torch.ones(1, dtype=torch.float64),), {}),
            ((torch.device("cpu"),), {"dtype": torch.float64}),
        )
    ]


def deepcopy_keeps_ties(torch):
    m = net(torch)
    other = copy.deepcopy(m)
    return (
        other.again is other.block[0],
        other.first.weight is m.first.weight,
        other.state_dict(),
        repr(other),
    )


def deepcopy_forgets_gradients(torch):
    m = torch.nn.Linear(1, 1)
    m(torch.ones(1)).backward()
    return copy.deepcopy(m).weight.grad is None


def pickling(torch):
    torch.manual_seed(0)
    m = pickle.loads(pickle.dumps(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval()))
    return m.state_dict(), repr(m), m.training, type(m[0].weight).__name__, m(torch.ones(1, 2))


def zero_grad_both_ways(torch):
    m = torch.nn.Linear(2, 1)
    m(torch.ones(2)).backward()
    m.zero_grad(set_to_none=False)
    zeros = m.weight.grad.clone()
    m.zero_grad()
    return zeros, m.weight.grad is None


def freezing(torch):
    m = net(torch).requires_grad_(False)
    return [p.requires_grad for p in m.parameters()], m(torch.ones(1, 3)).requires_grad


def empty_parameters_of_meta(torch):
    m = torch.nn.Linear(2, 3, device="meta")
    return m.weight.is_meta, list(m.weight.shape), m.to_empty(device="cpu").weight.is_meta


@programs(
    to_double_keeps_parameters,
    to_in_all_spellings,
    deepcopy_keeps_ties,
    deepcopy_forgets_gradients,
    pickling,
    zero_grad_both_ways,
    freezing,
    empty_parameters_of_meta,
)
def test_conversion(program):
    check(program)


# ---- hooks -------------------------------------------------------------------------------------------------


def forward_hook_order(torch):
    order, M = [], torch.nn.modules.module
    m = torch.nn.Identity()
    handles = [
        M.register_module_forward_pre_hook(lambda *a: order.append("global pre")),
        M.register_module_forward_hook(lambda *a: order.append("global post")),
    ]
    for name, prepend in (("a", False), ("b", True)):
        m.register_forward_pre_hook(lambda *a, name=name: order.append("pre " + name), prepend=prepend)
        m.register_forward_hook(lambda *a, name=name: order.append("post " + name), prepend=prepend)
    m(torch.ones(1))
    for handle in handles:
        handle.remove()
    m(torch.ones(1))
    return order


def hooks_replace(torch):
    class Pair(torch.nn.Module):
        def forward(self, x, y=1, *, z=0):
            return x + 10 * y + 100 * z

    m, found = Pair(), []
    single = m.register_forward_pre_hook(lambda module, args: 5)
    found.append(m(1))
    single.remove()
    m.register_forward_pre_hook(lambda module, args, kwargs: ((2, 3), {"z": 4}), with_kwargs=True)
    found.append(m(1))
    m.register_forward_hook(lambda module, args, kwargs, out: [args, kwargs, out], with_kwargs=True)
    found.append(m(1))
    m.register_forward_hook(lambda module, args, out: None)
    return found, m(1)


def wrong_pre_hook(torch):
    m = torch.nn.Identity()
    m.register_forward_pre_hook(lambda module, args, kwargs: (1,), with_kwargs=True)
    m(1)


def always_called(torch):
    class Failing(torch.nn.Module):
        def forward(self, x):
            raise ValueError("in forward")

    order, m = [], Failing()
    m.register_forward_hook(lambda *a: order.append("plain"))
    m.register_forward_hook(lambda module, args, out: order.append(["always", out]), always_call=True)
    m.register_forward_hook(lambda module, args, out: 1 / 0, always_call=True)
    try:
        m(1)
    except ValueError as error:
        order.append(str(error))
    return order


def numbers(grads):
    return [None if g is None else g.tolist() for g in grads]


def backward_hooks_of_two_inputs(torch):
    class Two(torch.nn.Module):
        def forward(self, x, y, k=3):
            return x * 2, y.detach() * 3

    seen, m = [], Two()
    m.register_full_backward_hook(lambda module, gi, go: seen.append([numbers(gi), numbers(go)]))
    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    first, second = m(x, y)
    first.sum().backward()
    return seen, x.grad, second.requires_grad


def backward_hooks_replace(torch):
    m = torch.nn.Linear(2, 2)
    with torch.no_grad():
        m.weight.fill_(1)
    m.register_full_backward_pre_hook(lambda module, go: (go[0] * 10,))
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 5,))
    x = torch.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    return x.grad, m.weight.grad


def backward_hook_without_input_gradient(torch):
    seen, m = [], torch.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda module, gi, go: seen.append([numbers(gi), numbers(go)]))
    m(torch.ones(1, 2)).sum().backward()
    return seen


def backward_hooks_nest(torch):
    order, m = [], torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    for part in (m, *m):
        part.register_full_backward_hook(lambda module, gi, go: order.append(type(module).__name__))
    m(torch.ones(1, 2, requires_grad=True)).sum().backward()
    return order


def backward_hook_of_wrong_count(torch):
    m = torch.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda module, gi, go: (gi[0], gi[0]))
    m(torch.ones(1, 2, requires_grad=True)).sum().backward()


def backward_hooks_of_both_kinds(torch):
    m = torch.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda *a: None)
    m.register_backward_hook(lambda *a: None)


def backward_hook_on_a_dict(torch):
    class Named(torch.nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    m = Named()
    m.register_full_backward_hook(lambda *a: None)
    return m(torch.ones(2, requires_grad=True))["y"]


@programs(
    forward_hook_order,
    hooks_replace,
    wrong_pre_hook,
    always_called,
    backward_hooks_of_two_inputs,
    backward_hooks_replace,
    backward_hook_without_input_gradient,
    backward_hooks_nest,
    backward_hook_of_wrong_count,
    backward_hooks_of_both_kinds,
    backward_hook_on_a_dict,
)
def test_hooks(program):
    check(program)


# ---- containers --------------------------------------------------------------------------------------------


def relus(torch, n):
    return [torch.nn.ReLU() if i % 3 else torch.nn.Tanh() for i in range(n)]


def sequential_as_a_list(torch):
    nn = torch.nn
    m = nn.Sequential(*relus(torch, 4))
    found = [repr(m[1:3]), repr(m[-1]), len(m), repr(m * 2), repr(m + nn.Sequential(nn.GELU()))]
    m.append(nn.GELU()).insert(1, nn.SiLU()).extend([nn.ELU()])
    del m[0]
    del m[1:3]
    m[0] = nn.Mish()
    found += [repr(m), repr(m.pop(1)), list(m.state_dict()), [n for n, _ in m.named_children()]]
    m *= 2
    m += nn.Sequential(nn.CELU())
    return found, repr(m)


def sequential_by_names(torch):
    m = torch.nn.Sequential(collections.OrderedDict(a=torch.nn.ReLU(), b=torch.nn.Tanh()))
    return repr(m), repr(m.a), repr(m[0:1])


def module_list(torch):
    nn = torch.nn
    m = nn.ModuleList(relus(torch, 5))
    m.append(nn.GELU()).extend([nn.GELU(), nn.GELU()])
    m.insert(2, nn.ELU())
    m += [nn.Mish()]
    del m[0]
    return (
        repr(m),
        repr(m[1:3]),
        len(m),
        repr(m + [nn.SELU()]),
        repr(m.pop(-1)),
        [n for n, _ in m.named_children()],
        repr(nn.ModuleList()),
    )


def module_dict(torch):
    nn = torch.nn
    m = nn.ModuleDict({"a": nn.ReLU()})
    m["b"] = nn.Tanh()
    m.update([("c", nn.GELU())])
    m.update(nn.ModuleDict({"a": nn.ELU()}))
    return repr(m), list(m), list(m.keys()), "b" in m, repr(m.pop("b")), len(m), [k for k, _ in m.items()]


def parameter_list(torch):
    nn = torch.nn
    m = nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.zeros(1)), 5])
    m.append(torch.ones(1)).extend([torch.zeros(2)])
    m[1] = torch.ones(4)
    return (
        repr(m),
        len(m),
        [n for n, _ in m.named_parameters()],
        m[2],
        m[-1],
        len(m[1:3]),
        list(m.state_dict()),
    )


def parameter_dict(torch):
    m = torch.nn.ParameterDict({"b": torch.ones(2), "a": torch.zeros(1)})
    m["c"] = 3
    copied = m | torch.nn.ParameterDict({"d": torch.ones(1)})
    return (
        repr(m),
        list(m),
        m.pop("b"),
        list(copied),
        m.get("x", 7),
        m.setdefault("e", 1),
        m.popitem(),
        list(reversed(m)),
        [n for n, _ in m.named_parameters()],
    )


CONTAINER_ERRORS = {
    "index": lambda nn, torch: nn.Sequential(nn.ReLU())[1],
    "list index": lambda nn, torch: nn.ModuleList()[0],
    "add": lambda nn, torch: nn.Sequential() + [nn.ReLU()],
    "times": lambda nn, torch: nn.Sequential() * 0,
    "insert": lambda nn, torch: nn.Sequential().insert(1, nn.ReLU()),
    "extend": lambda nn, torch: nn.ModuleList(3),
    "dict": lambda nn, torch: nn.ModuleDict(3),
    "pairs": lambda nn, torch: nn.ModuleDict([1]),
    "triples": lambda nn, torch: nn.ModuleDict([("a", nn.ReLU(), 1)]),
    "key": lambda nn, torch: nn.ModuleDict()["a"],
    "tensor list": lambda nn, torch: nn.ParameterList(torch.ones(2)),
    "call": lambda nn, torch: nn.ParameterList()(1),
    "number key": lambda nn, torch: nn.ParameterDict([(1, torch.ones(1))]),
    "call list": lambda nn, torch: nn.ModuleList()(1),
    "no module": lambda nn, torch: nn.Sequential(torch.ones(1)),
    "call dict": lambda nn, torch: nn.ParameterDict()(1),
}


@programs(sequential_as_a_list, sequential_by_names, module_list, module_dict, parameter_list, parameter_dict)
def test_containers(program):
    check(program)


@pytest.mark.parametrize("what", CONTAINER_ERRORS)
def test_container_refusals(what):
    check(lambda torch: CONTAINER_ERRORS[what](torch.nn, torch))


# ---- layers ------------------------------------------------------------------------------------------------

LAYERS = """
CELU() CELU(0.5) ELU(0.5) GELU() GELU('tanh') GLU() GLU(0) Hardshrink() Hardsigmoid() Hardswish()
Hardtanh(-0.5,0.5) LeakyReLU(0.2) LogSigmoid() LogSoftmax(1) Mish() PReLU() PReLU(4,init=0.1) ReLU()
ReLU6() SELU() SiLU() Sigmoid() Softmax(0) Softmin(1) Softplus(2,1.0) Softshrink(0.3) Softsign() Tanh()
Tanhshrink() Threshold(0.1,5.0) Identity(1,a=2) Flatten(0) Unflatten(1,(2,2)) Dropout(0.3)
AlphaDropout(0.3) Dropout(0.0) Linear(4,3) Linear(4,3,bias=False) ReLU(inplace=True) ELU(inplace=True)
Hardtanh(inplace=True)
""".split()


@pytest.mark.parametrize("layer", LAYERS)
def test_layer(layer):
    def program(torch):
        torch.manual_seed(3)
        m = eval("torch.nn." + layer, {"torch": torch})
        x = (torch.randn(4, 4) * 2).requires_grad_()
        y = m(x * 1)
        (y * y).sum().backward()
        return repr(m), y, x.grad, [p.grad for p in m.parameters()], m.eval()(x.detach().clone())

    check(program)


@pytest.mark.parametrize(
    "layer",
    [
        "Dropout1d(0.5)",
        "Dropout2d(0.5)",
        "Dropout3d(0.5)",
        "FeatureAlphaDropout(0.5)",
        "Softmax2d()",
        "Flatten()",
        "Flatten(2, 3)",
    ],
)
def test_layer_of_images(layer):
    def program(torch):
        torch.manual_seed(3)
        shape = {"Dropout1d(0.5)": (2, 3, 4), "Dropout3d(0.5)": (2, 3, 2, 2, 2)}.get(layer, (2, 3, 4, 4))
        return eval("torch.nn." + layer, {"torch": torch})(torch.randn(*shape))

    check(program)


def embedding(torch):
    torch.manual_seed(0)
    m = torch.nn.Embedding(5, 3, padding_idx=-1, scale_grad_by_freq=True)
    m(torch.tensor([[0, 4], [0, 1]])).sum().backward()
    fixed = torch.nn.Embedding.from_pretrained(torch.ones(2, 2))
    return repr(m), m.weight, m.weight.grad, fixed(torch.tensor([1])), fixed.weight.requires_grad


def functional_dropout(torch):
    F = torch.nn.functional
    torch.manual_seed(1)
    x = torch.ones(3, 4, 2)
    return [
        F.dropout(x, 0.4),
        F.dropout(x.transpose(0, 1), 0.4),
        F.dropout(x, 1.0),
        F.dropout(x, 0.5, training=False) is x,
        F.dropout(x.clone(), 0.5, inplace=True),
        F.dropout1d(x, 0.5),
        F.dropout1d(x[0], 0.5),
        F.alpha_dropout(x, 0.5, True),
        F.feature_alpha_dropout(x, 0.5, True),
        torch.dropout(x, 0.5, True),
        F.dropout(x.double(), 0.1),
        F.dropout(x, 0.5, training=False),
        torch.randn(1),
    ]


def embedding_bag(torch):
    torch.manual_seed(0)
    m = torch.nn.EmbeddingBag(5, 3, mode="sum", padding_idx=1, max_norm=1.0)
    out = m(torch.tensor([0, 4, 1, 2]), torch.tensor([0, 2]))
    out.sum().backward()
    fixed = torch.nn.EmbeddingBag.from_pretrained(torch.ones(2, 2), mode="max")
    return repr(m), m.weight, out, m.weight.grad, fixed(torch.tensor([[1, 0]])), fixed.weight.requires_grad


def normalisation(torch):
    torch.manual_seed(0)
    F, found = torch.nn.functional, []
    for m in (
        torch.nn.LayerNorm(4),
        torch.nn.LayerNorm((3, 4), eps=0.1, bias=False),
        torch.nn.LayerNorm([4], elementwise_affine=False),
        torch.nn.RMSNorm(4),
        torch.nn.RMSNorm((3, 4), eps=0.1),
        torch.nn.RMSNorm(4, elementwise_affine=False),
    ):
        x = torch.randn(2, 3, 4, requires_grad=True)
        y = m(x)
        (y * y * y).sum().backward()
        found.append([repr(m), y, x.grad, [p.grad for p in m.parameters()], m(x.detach().half().to(y.dtype))])
    x = torch.randn(2, 4)
    half = F.layer_norm(x.half(), (4,)).dtype
    return found, torch.native_layer_norm(x, (4,), None, None, 1e-5), str(half), F.layer_norm(x[:0], (4,))


def second_derivative_of_layer_norm(torch):
    torch.manual_seed(0)
    x, w = torch.randn(2, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    y = torch.nn.functional.layer_norm(x, (4,), w)
    (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    (g * g).sum().backward()
    return g, x.grad, w.grad


@programs(embedding, embedding_bag, functional_dropout, normalisation, second_derivative_of_layer_norm)
def test_random_layers(program):
    check(program)


LAYER_ERRORS = {
    "dropout": lambda nn, torch: nn.Dropout(1.5),
    "functional": lambda nn, torch: nn.functional.dropout(torch.ones(1), -0.1),
    "channels": lambda nn, torch: nn.Dropout1d()(torch.ones(1)),
    "hardtanh": lambda nn, torch: nn.Hardtanh(1, 0),
    "sizes": lambda nn, torch: nn.Unflatten(1, 3),
    "sizes of floats": lambda nn, torch: nn.Unflatten(1, (1.0, 2)),
    "features": lambda nn, torch: nn.Linear(3, 2)(torch.ones(2, 4)),
    "padding": lambda nn, torch: nn.Embedding(3, 2, 3),
    "bad weight": lambda nn, torch: nn.Embedding(3, 2, _weight=torch.ones(2, 2)),
    "huber": lambda nn, torch: nn.HuberLoss(delta="x"),
}


@pytest.mark.parametrize("what", LAYER_ERRORS)
def test_layer_refusals(what):
    check(lambda torch: LAYER_ERRORS[what](torch.nn, torch))


NORM_ERRORS = [
    "layer_norm(torch.ones(2, 3), (4,))",
    "layer_norm(torch.ones(2, 3), ())",
    "layer_norm(torch.ones(2, 3), (3,), torch.ones(2))",
    "layer_norm(torch.ones(2, 3), (3,), torch.ones(3), torch.ones(2))",
    "layer_norm(torch.ones(2, 3, dtype=torch.int64), (3,))",
    "layer_norm(torch.ones(2, 3), (3,), torch.ones(3).double())",
    "layer_norm(torch.ones(2, 3), 3)",
    "rms_norm(torch.ones(2, 3), (4,))",
    "rms_norm(torch.ones(2, 3), (2, 4))",
]


@pytest.mark.parametrize("call", NORM_ERRORS)
def test_normalisation_refusals(call):
    check(lambda torch: eval("torch.nn.functional." + call, {"torch": torch}))


OPERATOR_ERRORS = {
    "integers": lambda nn, torch: nn.functional.dropout(torch.ones(3, dtype=torch.int64)),
    "dtype": lambda nn, torch: nn.Linear(3, 2)(torch.ones(2, 3, dtype=torch.float64)),
}


@pytest.mark.parametrize("what", OPERATOR_ERRORS)
def test_refusals_of_operators_inside(what):
    assert_same_error_type(torch, lambda torch: OPERATOR_ERRORS[what](torch.nn, torch))


# ---- losses ------------------------------------------------------------------------------------------------

PAIR_LOSSES = ["L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss"]


def pair(torch):
    torch.manual_seed(0)
    return torch.rand(3, 4).requires_grad_(), torch.rand(3, 4).requires_grad_()


@pytest.mark.parametrize("reduction", ("mean", "sum", "none"))
@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_loss_between_tensors(loss, reduction):
    def program(torch):
        x, y = pair(torch)
        value = getattr(torch.nn, loss)(reduction=reduction)(x, y)
        (value * value).sum().backward()
        return value, x.grad, y.grad

    check(program)


OPTIONS = [
    "SmoothL1Loss(beta=0.1)",
    "SmoothL1Loss(beta=0.0)",
    "HuberLoss(delta=0.1)",
    "KLDivLoss(reduction='batchmean')",
    "KLDivLoss(log_target=True)",
    "BCELoss(torch.tensor([1.0, 2, 3, 4]))",
    "MSELoss(size_average=False)",
    "BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2, 3, 4]))",
    "BCEWithLogitsLoss(torch.tensor([1.0, 2, 3, 4]))",
    "BCEWithLogitsLoss(torch.ones(4), pos_weight=torch.tensor(3.0), reduction='sum')",
    "L1Loss(reduce=False)",
]


@pytest.mark.parametrize("loss", OPTIONS)
def test_loss_options(loss):
    def program(torch):
        x, y = pair(torch)
        module = eval("torch.nn." + loss, {"torch": torch})
        value = module(x, y)
        value.sum().backward()
        return value, x.grad, y.grad, list(module.state_dict())

    check(program)


CLASS_LOSSES = [
    "CrossEntropyLoss()",
    "NLLLoss()",
    "CrossEntropyLoss(torch.tensor([1.0, 2, 3, 4]), ignore_index=1)",
    "CrossEntropyLoss(label_smoothing=0.1, reduction='sum')",
    "NLLLoss(torch.tensor([1.0, 2, 3, 4]))",
]


@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_loss_of_classes(loss):
    def program(torch):
        x, _ = pair(torch)
        value = eval("torch.nn." + loss, {"torch": torch})(x, torch.tensor([1, 0, 3]))
        value.backward()
        return value, x.grad

    check(program)


LOSS_CALLS = {
    "broadcast": "F.mse_loss(torch.ones(3, 1), torch.ones(3))",
    "huber broadcast": "F.huber_loss(torch.ones(3, 1), torch.ones(3))",
    "weights": "F.mse_loss(torch.zeros(2), torch.ones(2), weight=torch.tensor([1.0, 3.0]))",
    "l1 weights": "F.l1_loss(torch.zeros(2), torch.tensor([1.0, 2.0]), weight=torch.tensor([1.0, 3.0]))",
    "huber weights": "F.huber_loss(torch.zeros(2), torch.ones(2), weight=torch.tensor([1.0, 3.0]))",
    "weights of other size": "F.mse_loss(torch.zeros(2), torch.ones(2), weight=torch.ones(3))",
    "float64": "F.mse_loss(torch.zeros(2, dtype=torch.float64), torch.ones(2))",
    "float16": "F.mse_loss(torch.zeros(2).half(), torch.ones(2).half())",
    "empty": "F.mse_loss(torch.zeros(0), torch.ones(0))",
    "empty sum": "F.mse_loss(torch.zeros(0), torch.ones(0), reduction='sum')",
    "integers": "F.mse_loss(torch.zeros(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))",
    "reduction": "F.mse_loss(torch.zeros(2), torch.ones(2), reduction='x')",
    "negative beta": "F.smooth_l1_loss(torch.zeros(2), torch.ones(2), beta=-1)",
    "delta 0": "F.huber_loss(torch.zeros(2), torch.ones(2), delta=0)",
    "no probability": "F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))",
    "bce size": "F.binary_cross_entropy(torch.ones(2), torch.ones(3))",
    "bce dtype": "F.binary_cross_entropy(torch.ones(2), torch.ones(2).double())",
    "logits size": "F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2))",
    "bce at the ends": "F.binary_cross_entropy(torch.tensor([0.0, 1, 0, 1]), "
    "torch.tensor([0.0, 1, 1, 0]), reduction='none')",
    "logits at the ends": "F.binary_cross_entropy_with_logits(torch.tensor([-1e3, 1e3]), "
    "torch.tensor([1.0, 0]), reduction='none')",
}


@pytest.mark.parametrize("what", LOSS_CALLS)
def test_loss_call(what):
    check(lambda torch: eval(LOSS_CALLS[what], {"torch": torch, "F": torch.nn.functional}))


# ---- initialisation ----------------------------------------------------------------------------------------

FILLINGS = [
    "uniform_(t, -1, 2)",
    "normal_(t, 1, 2)",
    "constant_(t, 3)",
    "ones_(t)",
    "zeros_(t)",
    "eye_(t)",
    "xavier_uniform_(t)",
    "xavier_normal_(t, 2.0)",
    "kaiming_uniform_(t, nonlinearity='relu')",
    "kaiming_normal_(t, mode='fan_out')",
    "orthogonal_(t)",
    "orthogonal_(t, gain=2)",
    "sparse_(t, 0.4)",
    "trunc_normal_(t, 0, 2)",
    "trunc_normal_(t, a=1, b=3)",
    "trunc_normal_(t, 9, 1)",
    "uniform(t)",
    "dirac_(t.unsqueeze(2))",
    "kaiming_uniform_(t[0])",
    "eye_(t[0])",
    "dirac_(t)",
    "kaiming_normal_(t, mode='x')",
    "kaiming_uniform_(t, nonlinearity='x')",
    "kaiming_uniform_(t[:0])",
    "orthogonal_(t[0])",
    "calculate_gain('leaky_relu', 0.5)",
    "calculate_gain('tanh')",
    "calculate_gain('leaky_relu', True)",
    "calculate_gain('relu')",
    "calculate_gain('selu')",
    "calculate_gain('conv2d')",
    "_calculate_fan_in_and_fan_out(t)",
]


@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("shape", ((6, 4), (3, 5)))
def test_filling(filling, shape):
    def program(torch):
        torch.manual_seed(0)
        t = torch.zeros(shape).requires_grad_()
        return eval(
            "init." + filling,
            {"init": torch.nn.init, "t": t if "[" not in filling and "un" not in filling else t.detach()},
        )

    check(program)


# ---- nn.utils ----------------------------------------------------------------------------------------------


def with_gradients(torch):
    params = [
        torch.nn.Parameter(torch.zeros(2, 2)),
        torch.nn.Parameter(torch.zeros(3)),
        torch.nn.Parameter(torch.zeros(1)),
    ]
    params[0].grad = torch.tensor([[3.0, -4.0], [0.5, 2.0]])
    params[1].grad = torch.tensor([1.0, -6.0, 0.0])
    return params


@pytest.mark.parametrize("norm_type", (2, 1, 3.5, float("inf"), 0))
def test_clip_grad_norm(norm_type):
    def program(torch):
        params = with_gradients(torch)
        norm = torch.nn.utils.clip_grad_norm_(params, 1.5, norm_type)
        return norm, [p.grad for p in params]

    check(program)


def clip_others(torch):
    params, utils = with_gradients(torch), torch.nn.utils
    total = utils.get_total_norm([p.grad for p in params[:2]])
    utils.clip_grad_value_(params, 2.5)
    return (
        total,
        [p.grad for p in params],
        utils.clip_grad_norm_(iter(()), 1.0),
        utils.clip_grad_norm_(params[0], 100.0),
    )


def clip_of_infinite_norm(torch):
    params = with_gradients(torch)
    params[1].grad[0] = float("inf")
    torch.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def clip_of_empty_generator(torch):
    return torch.nn.utils.clip_grad_norm_((p for p in ()), 1.0)


def vector_and_back(torch):
    m = torch.nn.Linear(2, 3)
    vector = torch.nn.utils.parameters_to_vector(m.parameters())
    torch.nn.utils.vector_to_parameters(torch.arange(9.0), m.parameters())
    return list(vector.shape), vector.requires_grad, m.weight, m.bias


@programs(clip_others, clip_of_infinite_norm, clip_of_empty_generator, vector_and_back)
def test_utils(program):
    check(program)
