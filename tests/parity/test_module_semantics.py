"""Corners of Module: hooks that come and go, state hooks, paths, conversions, containers."""

import collections
import copy
import pickle

import pytest

from tests.parity.programs import assert_same

torch = pytest.importorskip("torch")


def recording(torch, order, name="forward", raises=None):
    class Recording(torch.nn.Module):
        def forward(self, *args, **kwargs):
            order.append([name, list(args), kwargs])
            if raises is not None:
                raise raises
            return args[0] if args else None

    return Recording()


# ---- forward hooks -----------------------------------------------------------------------------------


def global_hooks_with_kwargs(torch):
    order, M = [], torch.nn.modules.module
    m = recording(torch, order)
    handle = M.register_module_forward_hook(
        lambda m, a, k, out: order.append(["global", list(a), k, out]) or 7, with_kwargs=True
    )
    m.register_forward_hook(lambda m, a, out: order.append(["own", out]) or out + 1)
    try:
        return order, m(1, key=2)
    finally:
        handle.remove()


def global_hooks_always_called(torch):
    order, M = [], torch.nn.modules.module
    m = recording(torch, order, raises=ValueError("inside"))
    handles = [
        M.register_module_forward_hook(lambda m, a, out: order.append(["plain", out])),
        M.register_module_forward_hook(lambda m, a, out: order.append(["always", out]), always_call=True),
    ]
    m.register_forward_hook(
        lambda m, a, k, out: order.append(["own", k, out]), always_call=True, with_kwargs=True
    )
    try:
        m(1, key=2)
    except ValueError as error:
        order.append(str(error))
    finally:
        for handle in handles:
            handle.remove()
    return order


def always_called_after_a_hook_failed(torch):
    order = []
    m = recording(torch, order)

    def failing(m, a, out):
        raise KeyError("hook")

    m.register_forward_hook(lambda m, a, out: order.append("first"), always_call=True)
    m.register_forward_hook(failing)
    m.register_forward_hook(lambda m, a, out: order.append(["last", out]), always_call=True)
    try:
        m(1)
    except KeyError as error:
        order.append(str(error))
    return order


def always_called_after_a_pre_hook_failed(torch):
    order = []
    m = recording(torch, order)

    def failing(m, a):
        raise KeyError("pre")

    m.register_forward_pre_hook(failing)
    m.register_forward_hook(lambda m, a, out: order.append(["always", list(a), out]), always_call=True)
    try:
        m(1)
    except KeyError as error:
        order.append(str(error))
    return order


def always_called_replaces_nothing_on_error(torch):
    m = recording(torch, [], raises=RuntimeError("r"))
    m.register_forward_hook(lambda m, a, out: 5, always_call=True)
    return m(1)


def pre_hook_values(torch):
    found = []
    for value in (None, 5, (5,), [5], (5, 6), (), {"a": 1}):
        m = recording(torch, found)
        m.register_forward_pre_hook(lambda m, a, value=value: value)
        m(1, k=2)
    return found


def pre_hook_values_with_kwargs(torch):
    found = []
    for value in (None, ((5,), {}), ((), {"z": 1}), (1, 2), ([5], {"z": 1})):
        m = recording(torch, found)
        m.register_forward_pre_hook(lambda m, a, k, value=value: value, with_kwargs=True)
        try:
            m(1, k=2)
        except Exception as error:
            found.append([type(error).__name__])
    return found


def wrong_pre_hook_values(torch):
    found = []
    for value in (5, (5,), [(), {}], ((1,), {}, 2)):
        m = recording(torch, found)
        m.register_forward_pre_hook(lambda m, a, k, value=value: value, with_kwargs=True)
        try:
            m(1)
        except Exception as error:
            found.append([type(error).__name__, str(error)])
    return found


def hooks_chain(torch):
    m = torch.nn.Identity()
    m.register_forward_pre_hook(lambda m, a: (a[0] + 1,))
    m.register_forward_pre_hook(lambda m, a: (a[0] * 10,))
    m.register_forward_hook(lambda m, a, out: out + 3)
    m.register_forward_hook(lambda m, a, out: [a[0], out])
    return m(1)


def hooks_return_falsy(torch):
    found = []
    for value in (0, False, "", [], ()):
        m = torch.nn.Identity()
        m.register_forward_hook(lambda m, a, out, value=value: value)
        found.append(m(1))
    return found


def handles(torch):
    order = []
    m = recording(torch, order)
    handle = m.register_forward_hook(lambda *a: order.append("hook"))
    with m.register_forward_pre_hook(lambda *a: order.append("inside")):
        m()
    m()
    handle.remove()
    handle.remove()
    m()
    return order, len(m._forward_hooks), type(handle).__name__, isinstance(handle.id, int)


def handle_removes_its_marks(torch):
    m = torch.nn.Identity()
    hooks = [
        m.register_forward_hook(lambda *a: None, with_kwargs=True, always_call=True),
        m.register_forward_pre_hook(lambda *a: None, with_kwargs=True),
    ]
    before = [
        len(m._forward_hooks_with_kwargs),
        len(m._forward_hooks_always_called),
        len(m._forward_pre_hooks_with_kwargs),
    ]
    for hook in hooks:
        hook.remove()
    after = [
        len(m._forward_hooks_with_kwargs),
        len(m._forward_hooks_always_called),
        len(m._forward_pre_hooks_with_kwargs),
    ]
    return before, after


def hook_that_removes_itself(torch):
    order = []
    m = recording(torch, order)
    kept = []

    def once(m, a, out):
        order.append("once")
        kept[0].remove()

    kept.append(m.register_forward_hook(once))
    m.register_forward_hook(lambda *a: order.append("other"))
    try:
        m()
        m()
    except RuntimeError as error:
        order.append(str(error))
    return order


def the_same_hook_twice(torch):
    order = []
    m = recording(torch, order)

    def hook(*a):
        order.append("hook")

    m.register_forward_hook(hook)
    m.register_forward_hook(hook, prepend=True)
    m()
    return order


def calling_forward_skips_hooks(torch):
    order = []
    m = recording(torch, order)
    m.register_forward_hook(lambda *a: order.append("hook"))
    m.forward()
    return order


def copies_have_hooks(torch):
    m = torch.nn.Linear(2, 2)
    m.register_forward_hook(doubled)
    m.register_forward_pre_hook(with_keywords, with_kwargs=True)
    torch.nn.init.ones_(m.weight)
    torch.nn.init.zeros_(m.bias)
    x = torch.ones(1, 2)
    return [one(x) for one in (m, copy.deepcopy(m), copy.copy(m), pickle.loads(pickle.dumps(m)))]


def doubled(m, args, out):
    return out * 2


def with_keywords(m, args, kwargs):
    return (args[0] + 1,), kwargs


def forward_of_none(torch):
    m = recording(torch, [])
    m.register_forward_hook(lambda m, a, out: out)
    return m()


FORWARD = [
    global_hooks_with_kwargs,
    global_hooks_always_called,
    always_called_after_a_hook_failed,
    always_called_after_a_pre_hook_failed,
    always_called_replaces_nothing_on_error,
    pre_hook_values,
    pre_hook_values_with_kwargs,
    wrong_pre_hook_values,
    hooks_chain,
    hooks_return_falsy,
    handles,
    handle_removes_its_marks,
    hook_that_removes_itself,
    the_same_hook_twice,
    calling_forward_skips_hooks,
    copies_have_hooks,
    forward_of_none,
]


# ---- backward hooks ----------------------------------------------------------------------------------


def net(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    for p in m.parameters():
        torch.nn.init.constant_(p, 0.5)
    return m, torch.ones(3, 2, requires_grad=True)


def backward_order(torch):
    order, M = [], torch.nn.modules.module
    m, x = net(torch)
    shared = [
        M.register_module_full_backward_pre_hook(
            lambda m, go: order.append(["global pre", type(m).__name__])
        ),
        M.register_module_full_backward_hook(lambda m, gi, go: order.append(["global", type(m).__name__])),
    ]
    for name, prepend in (("a", False), ("b", True)):
        m[0].register_full_backward_pre_hook(
            lambda m, go, name=name: order.append("pre " + name), prepend=prepend
        )
        m[0].register_full_backward_hook(
            lambda m, gi, go, name=name: order.append("post " + name), prepend=prepend
        )
    try:
        m(x).sum().backward()
    finally:
        for handle in shared:
            handle.remove()
    return order, x.grad


def backward_chain(torch):
    seen = []
    m, x = net(torch)
    m[1].register_full_backward_pre_hook(lambda m, go: go[0] * 2)
    m[1].register_full_backward_pre_hook(lambda m, go: seen.append(go[0]))
    m[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,))
    m[1].register_full_backward_hook(lambda m, gi, go: seen.append([gi[0], go[0]]))
    m(x).sum().backward()
    return seen, x.grad, m[0].weight.grad


def backward_hook_returns_a_tensor(torch):
    m, x = net(torch)
    m[1].register_full_backward_hook(lambda m, gi, go: gi[0] * 3)
    m(x).sum().backward()
    return x.grad


def backward_hook_sees_no_keywords(torch):
    class Keyed(torch.nn.Module):
        def forward(self, x, *, y):
            return x * y

    seen, m = [], Keyed()
    m.register_full_backward_hook(lambda m, gi, go: seen.append([len(gi), len(go)]))
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    m(x, y=y).sum().backward()
    return seen, x.grad, y.grad


def backward_hook_with_lists(torch):
    class Lists(torch.nn.Module):
        def forward(self, xs):
            return [xs[0] * 2, xs[1] * 3]

    seen, m = [], Lists()
    m.register_full_backward_hook(lambda m, gi, go: seen.append([len(gi), len(go)]))
    x = torch.ones(2, requires_grad=True)
    a, b = m([x, x])
    (a + b).sum().backward()
    return seen, x.grad


def in_place_on_output(torch):
    m, x = net(torch)
    m[0].register_full_backward_hook(lambda m, gi, go: None)
    y = m[0](x)
    y.add_(1)


def in_place_on_input(torch):
    class InPlace(torch.nn.Module):
        def forward(self, x):
            return x.mul_(2)

    m = InPlace()
    m.register_full_backward_hook(lambda m, gi, go: None)
    m(torch.ones(2, requires_grad=True) * 1)


def removed_before_backward(torch):
    seen = []
    m, x = net(torch)
    handle = m[1].register_full_backward_hook(lambda m, gi, go: seen.append("hook"))
    y = m(x).sum()
    handle.remove()
    y.backward()
    return seen, x.grad


def without_grad(torch):
    seen = []
    m, x = net(torch)
    m[1].register_full_backward_hook(lambda m, gi, go: seen.append("hook"))
    with torch.no_grad():
        y = m(x)
    return y.requires_grad, seen


def old_hook(torch):
    seen = []
    m, x = net(torch)
    m[2].register_backward_hook(lambda m, gi, go: seen.append([len(gi), len(go)]))
    m(x).sum().backward()
    return seen, x.grad


def old_hook_of_many_nodes(torch):
    m, x = net(torch)
    m.register_backward_hook(lambda m, gi, go: None)
    m(x).sum().backward()
    return x.grad


def old_hook_on_a_tuple(torch):
    class Pair(torch.nn.Module):
        def forward(self, x):
            return x * 2, x * 3

    m = Pair()
    m.register_backward_hook(lambda m, gi, go: None)
    x = torch.ones(2, requires_grad=True)
    a, b = m(x)
    (a + b).sum().backward()
    return x.grad


def old_hook_on_a_dict(torch):
    class Named(torch.nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    m = Named()
    m.register_backward_hook(lambda m, gi, go: None)
    x = torch.ones(2, requires_grad=True)
    m(x)["y"].sum().backward()
    return x.grad


def mixed_in_the_other_order(torch):
    m = torch.nn.Identity()
    m.register_backward_hook(lambda *a: None)
    m.register_full_backward_hook(lambda *a: None)


def pre_hook_wrong_count(torch):
    m, x = net(torch)
    m[0].register_full_backward_pre_hook(lambda m, go: (go[0], go[0]))
    m(x).sum().backward()


def double_backward(torch):
    seen = []
    m, x = net(torch)
    m[1].register_full_backward_hook(lambda m, gi, go: seen.append("hook"))
    (g,) = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
    return seen, x.grad


BACKWARD = [
    backward_order,
    backward_chain,
    backward_hook_returns_a_tensor,
    backward_hook_sees_no_keywords,
    backward_hook_with_lists,
    in_place_on_output,
    in_place_on_input,
    removed_before_backward,
    without_grad,
    old_hook,
    old_hook_of_many_nodes,
    old_hook_on_a_tuple,
    old_hook_on_a_dict,
    mixed_in_the_other_order,
    pre_hook_wrong_count,
    double_backward,
]


# ---- state -------------------------------------------------------------------------------------------


def state_pre_and_post_hooks(torch):
    seen = []
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False))
    m[0].register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(["pre", prefix, keep]))
    m[0].register_state_dict_post_hook(
        lambda m, state, prefix, meta: seen.append(["post", prefix, dict(meta)])
    )
    m._register_state_dict_hook(lambda m, state, prefix, meta: {"only": state["0.weight"]})
    state = m.state_dict(prefix="a.") if False else m.state_dict()
    return seen, list(state), type(state).__name__


def post_hook_that_returns(torch):
    m = torch.nn.Linear(1, 1)
    m.register_state_dict_post_hook(lambda *a: {})
    m.state_dict()


def registered_both_ways(torch):
    m = torch.nn.Linear(1, 1)

    def hook(*a):
        return None

    m.register_state_dict_post_hook(hook)
    m._register_state_dict_hook(hook)


def load_hooks(torch):
    seen = []
    m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())
    m[0].register_load_state_dict_pre_hook(
        lambda m, state, prefix, *rest: seen.append([type(m).__name__, prefix, len(rest)])
    )
    m[0]._register_load_state_dict_pre_hook(
        lambda state, prefix, *rest: seen.append([prefix, len(rest), list(state)])
    )
    m.register_load_state_dict_post_hook(
        lambda m, keys: seen.append([type(m).__name__, list(keys.missing_keys)]) or keys.missing_keys.clear()
    )
    state = m.state_dict()
    del state["0.bias"]
    return seen, repr(m.load_state_dict(state))


def post_load_hook_that_returns(torch):
    m = torch.nn.Linear(1, 1)
    m.register_load_state_dict_post_hook(lambda m, keys: keys)
    m.load_state_dict(m.state_dict())


def renaming_on_load(torch):
    class Renamed(torch.nn.Linear):
        def _load_from_state_dict(self, state, prefix, *args, **kwargs):
            if prefix + "kernel" in state:
                state[prefix + "weight"] = state.pop(prefix + "kernel")
            super()._load_from_state_dict(state, prefix, *args, **kwargs)

    m = torch.nn.Sequential(Renamed(1, 1))
    given = collections.OrderedDict([("0.kernel", torch.ones(1, 1)), ("0.bias", torch.zeros(1))])
    return repr(m.load_state_dict(given)), m[0].weight, list(given)


def missing_and_unexpected(torch):
    m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    state = {
        "0.weight": torch.ones(1, 1),
        "1.weight": torch.ones(2),
        "x": torch.ones(1),
        "0.y.z": torch.ones(1),
        "2.a": torch.ones(1),
    }
    keys = None
    try:
        keys = m.load_state_dict(state, strict=False)
    except RuntimeError as error:
        return str(error)
    return repr(keys)


def missing_not_strict(torch):
    m = torch.nn.Sequential(torch.nn.Linear(1, 1))
    keys = m.load_state_dict({"0.weight": torch.ones(1, 1), "x": torch.ones(1)}, strict=False)
    return (
        list(keys.missing_keys),
        list(keys.unexpected_keys),
        repr(keys),
        keys._fields,
        isinstance(keys, tuple),
    )


def assign(torch):
    m = torch.nn.Linear(2, 1)
    m.weight.requires_grad_(False)
    before = m.weight
    given = {"weight": torch.ones(1, 2, dtype=torch.float64), "bias": torch.nn.Parameter(torch.zeros(1))}
    m.load_state_dict(given, assign=True)
    return (
        m.weight is before,
        m.weight,
        m.bias,
        m.bias is given["bias"],
        m.weight.data_ptr() == given["weight"].data_ptr(),
    )


def assign_buffers(torch):
    m = torch.nn.BatchNorm1d(1)
    given = m.state_dict()
    given["running_mean"] = torch.ones(1, dtype=torch.float64)
    m.load_state_dict(given, assign=True)
    return m.running_mean, m.running_mean is given["running_mean"]


def assign_wrong_size(torch):
    torch.nn.Linear(2, 1).load_state_dict({"weight": torch.ones(1, 1), "bias": torch.zeros(1)}, assign=True)


def destination_and_prefix(torch):
    m = torch.nn.Linear(1, 1)
    into = collections.OrderedDict(first=1)
    found = m.state_dict(destination=into, prefix="p.")
    return found is into, list(into), hasattr(into, "_metadata")


def positional_state_dict(torch):
    return list(torch.nn.Linear(1, 1).state_dict(None, "p."))


def metadata(torch):
    m = torch.nn.Sequential(
        torch.nn.BatchNorm1d(1), torch.nn.MultiheadAttention(2, 1), torch.nn.InstanceNorm1d(1)
    )
    return {k: dict(v) for k, v in m.state_dict()._metadata.items()}


def old_batch_norm(torch):
    m = torch.nn.BatchNorm1d(1)
    m.num_batches_tracked += 3
    state = {k: v for k, v in torch.nn.BatchNorm1d(1).state_dict().items() if k != "num_batches_tracked"}
    return repr(m.load_state_dict(state)), m.num_batches_tracked


def extra_state_missing(torch):
    class Extra(torch.nn.Module):
        def get_extra_state(self):
            return {"a": 1}

        def set_extra_state(self, state):
            self.found = state

    m = torch.nn.Sequential(Extra())
    state = m.state_dict()
    m.load_state_dict(state)
    found = [list(state), m[0].found]
    try:
        m.load_state_dict({})
    except RuntimeError as error:
        found.append(str(error))
    try:
        torch.nn.Sequential(torch.nn.ReLU()).load_state_dict(state)
    except RuntimeError as error:
        found.append(str(error))
    return found


def only_get_extra_state(torch):
    class Extra(torch.nn.Module):
        def get_extra_state(self):
            return 1

    m = Extra()
    m.load_state_dict(m.state_dict())


STATE = [
    state_pre_and_post_hooks,
    post_hook_that_returns,
    registered_both_ways,
    load_hooks,
    post_load_hook_that_returns,
    renaming_on_load,
    missing_and_unexpected,
    missing_not_strict,
    assign,
    assign_buffers,
    assign_wrong_size,
    destination_and_prefix,
    positional_state_dict,
    metadata,
    old_batch_norm,
    extra_state_missing,
    only_get_extra_state,
]


# ---- attributes, paths, conversions ------------------------------------------------------------------


def property_that_fails(torch):
    class M(torch.nn.Module):
        @property
        def size(self):
            return self.missing

    return M().size


def super_init(torch):
    class Other:
        def __init__(self, *, a=1):
            self.a = a

    class M(torch.nn.Module, Other):
        call_super_init = True

    return M(a=5).a


def class_attributes(torch):
    class M(torch.nn.Module):
        weight = 3
        layer: torch.nn.Module

        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

    m = M()
    return m.weight, M.weight, "weight" in m._parameters


def named_with_prefixes(torch):
    inner = torch.nn.Linear(1, 1)
    m = torch.nn.ModuleDict({"a": inner, "b": torch.nn.Sequential(inner, torch.nn.BatchNorm1d(1))})
    return [
        [n for n, _ in m.named_parameters("p", remove_duplicate=False)],
        [n for n, _ in m.named_buffers("q")],
        [n for n, _ in m.named_modules(prefix="r")],
        [n for n, _ in m.named_parameters(recurse=False)],
        [n for n, _ in m.named_modules(memo={inner})],
        len(list(m.modules())),
        len(list(m.modules(remove_duplicate=False))),
    ]


def set_submodules(torch):
    m = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    m.set_submodule("0.0", torch.nn.Tanh())
    m.set_submodule("0.1", torch.nn.Linear(1, 1))
    m.set_submodule("new", torch.nn.Sigmoid())
    return repr(m)


def paths(torch):
    m = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    found = [m.get_submodule("") is m, m.get_parameter("0.weight"), m.get_buffer("0.running_var")]
    for wrong in (
        lambda: m.get_parameter("0.running_mean"),
        lambda: m.get_buffer("0.weight"),
        lambda: m.get_submodule("1"),
        lambda: m.get_submodule("0.weight"),
        lambda: m.get_parameter("0"),
        lambda: m.get_parameter("0.x"),
        lambda: m.get_buffer("0.x"),
        lambda: m.set_submodule("0.weight.a", m),
        lambda: m.set_submodule("0", 3),
    ):
        try:
            wrong()
        except Exception as error:
            found.append([type(error).__name__, str(error)])
    return found


def conversions(torch):
    found = []
    for convert in (
        lambda m: m.half(),
        lambda m: m.bfloat16(),
        lambda m: m.double(),
        lambda m: m.float(),
        lambda m: m.type(torch.float64),
        lambda m: m.to(torch.float16),
        lambda m: m.to("cpu", torch.float64),
        lambda m: m.to(torch.ones(1, dtype=torch.float64)),
        lambda m: m.to(dtype=torch.float64, non_blocking=True),
        lambda m: m.cpu(),
        lambda m: m.type("torch.DoubleTensor"),
    ):
        m = torch.nn.BatchNorm1d(2)
        p = m.weight
        p.grad = torch.ones(2)
        try:
            same = convert(m) is m
            found.append(
                [
                    same,
                    m.weight is p,
                    str(m.weight.dtype),
                    str(m.weight.grad.dtype),
                    str(m.running_mean.dtype),
                    str(m.num_batches_tracked.dtype),
                ]
            )
        except Exception as error:
            found.append([type(error).__name__])
    return found


def wrong_conversions(torch):
    found, m = [], torch.nn.Linear(1, 1)
    for convert in (lambda: m.to(torch.int32), lambda: m.to(3.5), lambda: m.to(), lambda: m.to("nowhere")):
        try:
            convert()
            found.append("fine")
        except Exception as error:
            found.append(type(error).__name__)
    return found


def shared_conversion(torch):
    m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    m[1].weight = m[0].weight
    m.double()
    return m[0].weight is m[1].weight, str(m[1].weight.dtype)


def buffers_by_assignment(torch):
    m = torch.nn.Module()
    m.register_buffer("a", None)
    m.a = torch.ones(1)
    m.b = torch.nn.Buffer(torch.zeros(1))
    m.c = torch.nn.Buffer(torch.zeros(1), persistent=False)
    m.c = torch.ones(2)
    m.b = None
    return list(m.state_dict()), [n for n, _ in m.named_buffers()], m.a, m.c, m.b


def modules_in_lists(torch):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = [torch.nn.Linear(1, 1)]
            self.seen = torch.nn.ModuleList([torch.nn.Linear(1, 1)])

    return [n for n, _ in M().named_parameters()]


def representations(torch):
    class Two(torch.nn.Module):
        def __init__(self, extra):
            super().__init__()
            self.extra = extra
            self.layer = torch.nn.Linear(1, 1)
            self.nothing = None
            self.register_module("none", None)

        def extra_repr(self):
            return self.extra

    class Leaf(torch.nn.Module):
        def extra_repr(self):
            return "a=1\nb=2"

    return [
        repr(Two("")),
        repr(Two("a=1")),
        repr(Two("a=1\nb=2")),
        repr(Leaf()),
        repr(torch.nn.Sequential(Leaf())),
        repr(torch.nn.Sequential()),
        repr(torch.nn.ModuleList()),
        repr(torch.nn.ModuleDict()),
        repr(torch.nn.ModuleList([torch.nn.ReLU()] * 3 + [torch.nn.Tanh()] + [Leaf(), Leaf()])),
    ]


def order_of_apply(torch):
    order = []
    m = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()), torch.nn.Tanh())
    return m.apply(lambda part: order.append(type(part).__name__)) is m, order


def zero_grads(torch):
    m = torch.nn.Linear(1, 1)
    m(torch.ones(1, 1)).backward()
    m.zero_grad(set_to_none=False)
    zeros = [p.grad for p in m.parameters()]
    m.zero_grad()
    return zeros, [p.grad for p in m.parameters()]


def deep_copy_of_ties(torch):
    m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    m[1].weight = m[0].weight
    c = copy.deepcopy(m)
    return c[0].weight is c[1].weight, c[0].weight is m[0].weight


def shallow_copy(torch):
    m = torch.nn.Linear(1, 1)
    c = copy.copy(m)
    c.weight = torch.nn.Parameter(torch.zeros(1, 1))
    return m.weight is c.weight


def deleting(torch):
    m = torch.nn.BatchNorm1d(1)
    del m.weight, m.running_mean
    m.child = torch.nn.ReLU()
    del m.child
    return (
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_buffers()],
        list(m.named_children()),
        hasattr(m, "weight"),
    )


def train_flags(torch):
    m = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Sequential(torch.nn.ReLU()))
    m[0].eval()
    return (
        [part.training for part in m.modules()],
        [part.training for part in m.train().modules()],
        m.eval() is m,
    )


def parameter_of_odd_things(torch):
    found = []
    for make in (
        lambda: torch.nn.Parameter(),
        lambda: torch.nn.Parameter(torch.tensor([1, 2]), requires_grad=False),
        lambda: torch.nn.Parameter(torch.ones(2, requires_grad=True) * 2),
        lambda: torch.nn.Parameter([1.0]),
        lambda: torch.nn.Parameter(torch.tensor(True)),
        lambda: torch.nn.Buffer(),
        lambda: torch.nn.Buffer(torch.ones(1)).persistent,
    ):
        try:
            found.append(make())
        except Exception as error:
            found.append(type(error).__name__)
    return found


def non_leaf_parameter(torch):
    m = torch.nn.Module()
    p = torch.nn.Parameter(torch.ones(1))
    m.register_parameter("a", p)
    m.register_parameter("b", p * 2)


OTHERS = [
    property_that_fails,
    super_init,
    class_attributes,
    named_with_prefixes,
    set_submodules,
    paths,
    conversions,
    wrong_conversions,
    shared_conversion,
    buffers_by_assignment,
    modules_in_lists,
    representations,
    order_of_apply,
    zero_grads,
    deep_copy_of_ties,
    shallow_copy,
    deleting,
    train_flags,
    parameter_of_odd_things,
    non_leaf_parameter,
]


# ---- containers --------------------------------------------------------------------------------------


def kinds(container):
    return [type(m).__name__ for m in container]


def lists(torch):
    nn, found = torch.nn, []
    m = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    m.insert(1, nn.Sigmoid())
    m += [nn.GELU()]
    found.append(kinds(m))
    found.append(
        [kinds(m[1:3]), type(m[-1]).__name__, kinds(m + nn.ModuleList([nn.ReLU()])), len(m), list(m._modules)]
    )
    found.append([type(m.pop(0)).__name__, type(m.pop(-1)).__name__, kinds(m), list(m._modules)])
    del m[0]
    m.append(nn.SiLU()).extend([nn.ELU()])
    m[0] = nn.Mish()
    del m[1:]
    return [*found, kinds(m), list(m._modules), nn.ReLU in m, m[0] in m]


def sequences(torch):
    nn = torch.nn
    m = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    found = [
        kinds(m[1:]),
        kinds(m[::2]),
        type(m[-1]).__name__,
        kinds(m + nn.Sequential(nn.ELU())),
        kinds(m * 2),
        kinds(2 * m),
    ]
    m.append(nn.ELU()).insert(1, nn.GELU()).extend([nn.SiLU()])
    del m[0]
    m.pop(1)
    m *= 2
    m += nn.Sequential(nn.Mish())
    m[0] = nn.Identity()
    return [*found, kinds(m), list(m._modules), m(torch.zeros(1))]


def dictionaries(torch):
    nn = torch.nn
    m = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    m["c"] = nn.Sigmoid()
    m.update([("d", nn.ELU())])
    m.update(nn.ModuleDict({"e": nn.GELU()}))
    popped = m.pop("b")
    del m["a"]
    found = [
        list(m),
        list(m.keys()),
        kinds(m.values()),
        [k for k, _ in m.items()],
        len(m),
        "c" in m,
        type(popped).__name__,
        repr(m),
    ]
    m.clear()
    return found, len(m)


def parameter_lists(torch):
    m = torch.nn.ParameterList([torch.ones(1), torch.nn.Parameter(torch.zeros(2)), 3, "text"])
    m.append(torch.ones(3))
    m.extend([torch.ones(1, 2)])
    m[0] = torch.full((1,), 5.0)
    m += [torch.ones(4)]
    return [
        [n for n, _ in m.named_parameters()],
        repr(m),
        len(m),
        m[-1],
        m[2],
        [type(v).__name__ for v in m[1:4]],
        [type(v).__name__ for v in m],
        list(m.state_dict()),
    ]


def parameter_dicts(torch):
    m = torch.nn.ParameterDict({"b": torch.ones(1), "a": torch.zeros(2)})
    m["c"] = torch.nn.Parameter(torch.ones(3))
    m["n"] = 4
    found = [
        list(m),
        [n for n, _ in m.named_parameters()],
        repr(m),
        len(m),
        "c" in m,
        m.get("x"),
        m.get("x", 1),
        m["n"],
    ]
    m.setdefault("d", torch.ones(1))
    m.update(torch.nn.ParameterDict({"e": torch.ones(1)}))
    popped = m.pop("b"), m.popitem()[0]
    both = m | torch.nn.ParameterDict({"z": torch.ones(1)})
    m |= {"y": torch.ones(1)}
    return [
        *found,
        list(m),
        popped,
        list(both),
        list(reversed(m)),
        list(m.copy()),
        list(m.fromkeys(["p", "q"], torch.ones(1))),
    ]


def wrong_uses_of_containers(torch):
    nn, found = torch.nn, []
    for wrong in (
        lambda: nn.ModuleList([1]),
        lambda: nn.ModuleList(3),
        lambda: nn.ModuleList([nn.ReLU()])[1],
        lambda: nn.ModuleList([nn.ReLU()])["0"],
        lambda: nn.ModuleList([nn.ReLU()])(1),
        lambda: nn.ModuleList().append(3),
        lambda: nn.ModuleList([nn.ReLU()]).pop(3),
        lambda: nn.ModuleList([nn.ReLU()]) + 3,
        lambda: nn.Sequential(1),
        lambda: nn.Sequential(nn.ReLU())[3],
        lambda: nn.Sequential(nn.ReLU()) + nn.ModuleList(),
        lambda: nn.Sequential(nn.ReLU()) * 0,
        lambda: nn.Sequential(nn.ReLU()) * 1.5,
        lambda: nn.Sequential(nn.ReLU()).insert(5, nn.ReLU()),
        lambda: nn.Sequential(nn.ReLU()).insert(0, 3),
        lambda: nn.ModuleDict({"a": 1}),
        lambda: nn.ModuleDict({"a.b": nn.ReLU()}),
        lambda: nn.ModuleDict({"keys": nn.ReLU()}),
        lambda: nn.ModuleDict(3),
        lambda: nn.ModuleDict([("a",)]),
        lambda: nn.ModuleDict([3]),
        lambda: nn.ModuleDict()["a"],
        lambda: nn.ModuleDict({1: nn.ReLU()}),
        lambda: nn.ModuleDict()(1),
        lambda: nn.ParameterList(3),
        lambda: nn.ParameterList([torch.ones(1)])[1],
        lambda: nn.ParameterList()(1),
        lambda: nn.ParameterList().extend(torch.ones(2)),
        lambda: nn.ParameterDict({1: torch.ones(1)}),
        lambda: nn.ParameterDict(3),
        lambda: nn.ParameterDict()["a"],
        lambda: nn.ParameterDict()(1),
        lambda: nn.ParameterDict([("a",)]),
    ):
        try:
            found.append(type(wrong()).__name__)
        except Exception as error:
            found.append([type(error).__name__, str(error)])
    return found


CONTAINERS = [lists, sequences, dictionaries, parameter_lists, parameter_dicts, wrong_uses_of_containers]


@pytest.mark.parametrize(
    "program", [*FORWARD, *BACKWARD, *STATE, *OTHERS, *CONTAINERS], ids=lambda p: p.__name__
)
def test_program(program):
    assert_same(torch, program)


# ---- functional_call ---------------------------------------------------------------------------------


def tied(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    m[1].weight = m[0].weight
    for p in m.parameters():
        torch.nn.init.ones_(p)
    return m, torch.ones(1, 2)


CALLS = {
    "one name of two": lambda torch, m, x, F: F(m, {"0.weight": torch.eye(2)}, x),
    "untied": lambda torch, m, x, F: F(m, {"0.weight": torch.eye(2)}, x, tie_weights=False),
    "both the same": lambda torch, m, x, F: F(m, dict.fromkeys(["0.weight", "1.weight"], torch.eye(2)), x),
    "both different": lambda torch, m, x, F: F(
        m, {"0.weight": torch.eye(2), "1.weight": torch.zeros(2, 2)}, x
    ),
    "both different, untied": lambda torch, m, x, F: F(
        m, {"0.weight": torch.eye(2), "1.weight": torch.zeros(2, 2)}, x, tie_weights=False
    ),
    "strict": lambda torch, m, x, F: F(m, {"0.weight": torch.eye(2)}, x, strict=True),
    "strict missing": lambda torch, m, x, F: F(m, {}, x, strict=True),
    "strict unexpected": lambda torch, m, x, F: F(m, {"0.weight": torch.eye(2), "y": x}, x, strict=True),
    "unexpected": lambda torch, m, x, F: F(m, {"y": x}, x),
    "two dicts": lambda torch, m, x, F: F(m, ({"0.weight": torch.eye(2)}, {}), x),
    "repeated": lambda torch, m, x, F: F(m, ({"0.weight": torch.eye(2)}, {"0.weight": torch.eye(2)}), x),
    "no dict": lambda torch, m, x, F: F(m, [1], x),
    "no tensor": lambda torch, m, x, F: F(m, {"0.weight": 3}, x),
    "no arguments": lambda torch, m, x, F: F(torch.nn.Identity(), {}),
    "tuple": lambda torch, m, x, F: F(m, {}, (x,)),
    "keywords": lambda torch, m, x, F: F(m, {}, kwargs={"input": x}),
}


@pytest.mark.parametrize("what", CALLS)
def test_functional_call(what):
    def program(torch):
        m, x = tied(torch)
        before = m[0].weight
        try:
            result = CALLS[what](torch, m, x, torch.func.functional_call)
        except Exception as error:
            result = [type(error).__name__, str(error)]
        return result, m[0].weight is before, m[1].weight is before

    assert_same(torch, program)


def test_stateless_is_functional_call():
    assert_same(
        torch,
        lambda torch: torch.nn.utils.stateless.functional_call(
            torch.nn.Linear(1, 1), {"weight": torch.ones(1, 1), "bias": torch.ones(1)}, torch.ones(1, 1)
        ),
    )


def buffers_of_functional_call(torch):
    m = torch.nn.BatchNorm1d(2)
    state = {
        "running_mean": torch.zeros(2),
        "running_var": torch.ones(2),
        "num_batches_tracked": torch.tensor(0),
    }
    x = torch.arange(6.0).view(3, 2)
    y = torch.func.functional_call(m, state, x)
    return y, state, dict(m.named_buffers())


def test_buffers_of_functional_call():
    assert_same(torch, buffers_of_functional_call)
