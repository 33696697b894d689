"""Optimizers against PyTorch: numbers over many steps, groups, state dicts, hooks, refusals."""

import copy
import importlib
import pickle

import pytest

from tests.parity.programs import assert_same

torch = pytest.importorskip("torch")


def check(program, rtol=1e-5):
    assert_same(torch, program, rtol)


def programs(*functions):
    return pytest.mark.parametrize("program", functions, ids=lambda f: f.__name__)


def module_of(torch):
    return importlib.import_module(torch.__name__ + ".optim.optimizer")


def parameters(torch):
    """A matrix, a vector, one that never gets a gradient and one whose gradient is always zero."""
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(*shape)) for shape in ((3, 4), (5,), (2,), (1,))]


def set_gradients(torch, params, step):
    torch.manual_seed(10 + step)
    for p in params[:2]:
        p.grad = torch.randn(*p.shape)
    params[3].grad = torch.zeros(1)


SGDS = [
    "SGD(params)",
    "SGD(params, 0.1)",
    "SGD(params, lr=0.1, momentum=0.9)",
    "SGD(params, 0.1, 0.9, 0.3)",
    "SGD(params, 0.1, 0.9, nesterov=True)",
    "SGD(params, 0.1, weight_decay=0.2)",
    "SGD(params, 0.1, maximize=True)",
    "SGD(params, 0.1, 0.9, 0, 0.2, nesterov=True, maximize=True)",
    "SGD(params, 0.1, 0.9, 0.1, 0.2, fused=False)",
    "SGD(params, 0.1, 0.9, nesterov=True, foreach=False)",
    "SGD(params, 0.1, 0.9, weight_decay=0.1, foreach=True)",
    "SGD(params, 0.1, 0.9, 0.1, 0.1, fused=True)",
    "SGD(params, torch.tensor(0.1), 0.9)",
    "SGD(params, torch.tensor([0.1]), weight_decay=0.1)",
    "SGD(params, 0.1, differentiable=False)",
]
ADAMS = [
    "Adam(params)",
    "Adam(params, 0.1)",
    "Adam(params, 0.1, (0.8, 0.95), 1e-3)",
    "Adam(params, 0.1, weight_decay=0.2)",
    "Adam(params, 0.1, amsgrad=True)",
    "Adam(params, 0.1, maximize=True)",
    "AdamW(params)",
    "AdamW(params, 0.1)",
    "AdamW(params, 0.1, weight_decay=0.3, amsgrad=True, maximize=True)",
    "Adam(params, torch.tensor(0.1))",
    "Adam(params, 0.1, weight_decay=0.2, decoupled_weight_decay=True)",
    "Adam(params, 0.1, fused=True)",
]


def made(torch, spelling, params):
    return eval("torch.optim." + spelling, {"torch": torch, "params": params})


@pytest.mark.parametrize("spelling", SGDS + ADAMS)
def test_steps(spelling):
    def program(torch):
        params = parameters(torch)
        optimizer, path = made(torch, spelling, params), []
        for step in range(5):
            set_gradients(torch, params, step)
            optimizer.step()
            path.append([p.detach().clone() for p in params])
        state = optimizer.state_dict()
        return path, state["state"], [p._version for p in params[2:3]], repr(optimizer)

    check(program)


def zero_gradient_still_moves(torch):
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9, weight_decay=0.1)
    path = []
    for grad in (torch.ones(1), torch.zeros(1), None, torch.zeros(1)):
        p.grad = grad
        optimizer.step()
        path.append(p.item())
    return path


def large_parameters(torch):
    p = torch.nn.Parameter(torch.zeros(40000))
    q = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([p, q], lr=0.5, momentum=0.5)
    for _ in range(3):
        p.grad, q.grad = torch.ones(40000), torch.ones(3)
        optimizer.step()
    return p[:3], q, optimizer.state[p]["momentum_buffer"][:2]


def gradients_are_left_alone(torch):
    params = parameters(torch)
    optimizer = torch.optim.SGD(params, 0.1, 0.9, weight_decay=0.1)
    found = []
    for step in range(2):
        set_gradients(torch, params, step)
        optimizer.step()
        found.append(
            [params[0].grad.clone(), params[0].grad is optimizer.state[params[0]]["momentum_buffer"]]
        )
    return found


def closure_runs_with_gradients(torch):
    p = torch.nn.Parameter(torch.ones(2))
    optimizer, modes = torch.optim.SGD([p], lr=0.1), []

    def closure():
        modes.append(torch.is_grad_enabled())
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)
        modes.append(torch.is_grad_enabled())
    return loss, p, modes


def step_is_not_recorded(torch):
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.step()
    return p.grad_fn, p.requires_grad, p._version


def differentiable_step(torch):
    start = torch.ones(2, requires_grad=True)
    p = start * 1
    p.retain_grad()
    optimizer = torch.optim.SGD([p], lr=0.1, differentiable=True)
    p.grad = torch.ones(2) * start
    optimizer.step()
    p.sum().backward()
    return start.grad


def learning_rate_gets_a_gradient(torch):
    lr = torch.tensor(0.5, requires_grad=True)
    p = torch.ones(2, requires_grad=True) * 1
    optimizer = torch.optim.SGD([p], lr=lr, differentiable=True)
    p.grad = torch.tensor([1.0, 2.0])
    optimizer.step()
    p.sum().backward()
    return lr.grad


def zero_grad_both_ways(torch):
    params = parameters(torch)
    set_gradients(torch, params, 0)
    optimizer = torch.optim.SGD(params, 0.1)
    optimizer.zero_grad(set_to_none=False)
    kept = params[0].grad
    optimizer.zero_grad()
    return kept, [p.grad is None for p in params]


@programs(
    zero_gradient_still_moves,
    large_parameters,
    gradients_are_left_alone,
    closure_runs_with_gradients,
    step_is_not_recorded,
    differentiable_step,
    learning_rate_gets_a_gradient,
    zero_grad_both_ways,
)
def test_step(program):
    check(program)


# ---- groups ------------------------------------------------------------------------------------------------


def groups_with_their_own_options(torch):
    a, b, c, _ = parameters(torch)
    optimizer = torch.optim.SGD([{"params": a, "lr": 1.0}, {"params": [b], "momentum": 0.5}], lr=0.1)
    optimizer.add_param_group({"params": (c,), "weight_decay": 0.1, "name": "late"})
    for p in (a, b, c):
        p.grad = torch.ones_like(p)
    optimizer.step()
    return repr(optimizer), a, b, c, optimizer.state_dict()


def named_parameters(torch):
    m = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(m.named_parameters(), 0.1)
    return optimizer.state_dict(), optimizer.param_groups[0]["params"][0] is m.weight


def option_changed_by_hand(torch):
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    for group in optimizer.param_groups:
        group["lr"] = 1.0
    p.grad = torch.ones(1)
    optimizer.step()
    return p, optimizer.defaults["lr"]


REFUSED = {
    "tensor": lambda torch, p: torch.optim.SGD(p),
    "empty": lambda torch, p: torch.optim.SGD([]),
    "number": lambda torch, p: torch.optim.SGD([1]),
    "set": lambda torch, p: torch.optim.SGD([{"params": {p}}]),
    "non-leaf": lambda torch, p: torch.optim.SGD([p * 2]),
    "twice": lambda torch, p: torch.optim.SGD([p, p]),
    "two groups": lambda torch, p: torch.optim.SGD([{"params": [p]}, {"params": [p]}]),
    "lr": lambda torch, p: torch.optim.SGD([p], -1.0),
    "momentum": lambda torch, p: torch.optim.SGD([p], momentum=-1),
    "decay": lambda torch, p: torch.optim.SGD([p], weight_decay=-1),
    "nesterov": lambda torch, p: torch.optim.SGD([p], nesterov=True),
    "nesterov dampening": lambda torch, p: torch.optim.SGD([p], 0.1, 0.9, 0.1, nesterov=True),
    "lr of two": lambda torch, p: torch.optim.SGD([p], torch.ones(2)),
    "fused and foreach": lambda torch, p: torch.optim.SGD([p], fused=True, foreach=True),
    "fused differentiable": lambda torch, p: torch.optim.SGD([p], fused=True, differentiable=True),
    "group": lambda torch, p: torch.optim.SGD([p]).add_param_group([p]),
    "some names": lambda torch, p: torch.optim.SGD([("a", p), torch.nn.Parameter(torch.ones(1))]),
    "names later": lambda torch, p: torch.optim.SGD([("a", p)]).add_param_group(
        {"params": torch.nn.Parameter(torch.ones(1))}
    ),
    "no step": lambda torch, p: torch.optim.Optimizer([p], {}).step(),
    "required": lambda torch, p: torch.optim.Optimizer([p], {"x": module_of(torch).required}),
    "adam lr": lambda torch, p: torch.optim.Adam([p], -1.0),
    "eps": lambda torch, p: torch.optim.Adam([p], eps=-1.0),
    "beta": lambda torch, p: torch.optim.Adam([p], betas=(1.0, 0.5)),
    "beta 2": lambda torch, p: torch.optim.AdamW([p], betas=(0.5, 1.0)),
    "other groups": lambda torch, p: torch.optim.SGD([p]).load_state_dict({"state": {}, "param_groups": []}),
    "other size": lambda torch, p: torch.optim.SGD([p]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
}


@programs(groups_with_their_own_options, named_parameters, option_changed_by_hand)
def test_groups(program):
    check(program)


@pytest.mark.parametrize("what", REFUSED)
def test_refusal(what):
    def program(torch):
        return repr(REFUSED[what](torch, torch.nn.Parameter(torch.ones(2))))

    check(program)


# ---- state -------------------------------------------------------------------------------------------------


def trained(torch, spelling, steps, params=None):
    params = parameters(torch) if params is None else params
    optimizer = made(torch, spelling, params)
    for step in range(steps):
        set_gradients(torch, params, step)
        optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("spelling", ("SGD(params, 0.1, 0.9)", "Adam(params, 0.1)"))
def test_state_goes_on_where_it_was(spelling):
    def program(torch):
        params, optimizer = trained(torch, spelling, 3)
        other_params = [torch.nn.Parameter(p.detach().double()) for p in params]
        other = made(torch, spelling.replace("0.1", "0.7"), other_params)
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        for p in other_params[:2]:
            p.grad = torch.ones(*p.shape, dtype=torch.float64)
        other.step()
        return other_params, other.state_dict(), repr(other)

    check(program)


def state_is_not_shared_after_loading(torch):
    params, optimizer = trained(torch, "SGD(params, 0.1, 0.9)", 2)
    state = optimizer.state_dict()
    return state["state"][0]["momentum_buffer"] is optimizer.state[params[0]]["momentum_buffer"], sorted(
        state["state"]
    )


def pickled(torch):
    _, optimizer = trained(torch, "SGD(params, 0.1, 0.9)", 2)
    other = pickle.loads(pickle.dumps(optimizer))
    return other.state_dict(), repr(other), len(other.state)


def copied(torch):
    params, optimizer = trained(torch, "Adam(params, 0.1)", 2)
    other = copy.deepcopy(optimizer)
    return other.state_dict(), other.param_groups[0]["params"][0] is params[0]


def hook_order(torch):
    order = []
    params, optimizer = trained(torch, "SGD(params, 0.1)", 1)
    handles = [
        module_of(torch).register_optimizer_step_pre_hook(lambda *a: order.append("global pre")),
        module_of(torch).register_optimizer_step_post_hook(lambda *a: order.append("global post")),
    ]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: order.append(["pre", len(args), list(kwargs)]))
    optimizer.register_step_post_hook(lambda o, args, kwargs: order.append(["post", len(args), list(kwargs)]))
    optimizer.step()
    optimizer.step(closure=lambda: order.append("closure"))
    for handle in handles:
        handle.remove()
    optimizer.step(None)
    return order


def hook_replaces_the_arguments(torch):
    _, optimizer = trained(torch, "SGD(params, 0.1)", 1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 7,), {}))
    return optimizer.step()


def state_hooks(torch):
    order = []
    _, optimizer = trained(torch, "SGD(params, 0.1)", 1)
    optimizer.register_state_dict_pre_hook(lambda o: order.append("state pre"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: order.append(sorted(state)))
    optimizer.register_load_state_dict_post_hook(lambda o: order.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    return order


def own_optimizer(torch):
    class Halve(torch.optim.Optimizer):
        def __init__(self, params, factor=0.5):
            super().__init__(params, {"factor": factor})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.mul_(group["factor"])
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1

    p = torch.nn.Parameter(torch.ones(2))
    optimizer, order = Halve([p]), []
    optimizer.register_step_post_hook(lambda *a: order.append("post"))
    optimizer.step()
    return p, order, optimizer.state_dict(), repr(optimizer)


@programs(
    state_is_not_shared_after_loading,
    pickled,
    copied,
    hook_order,
    hook_replaces_the_arguments,
    state_hooks,
    own_optimizer,
)
def test_state(program):
    check(program)


def test_a_network_learns_the_same():
    def program(torch):
        torch.manual_seed(0)
        m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        optimizer, loss_of = torch.optim.SGD(m.parameters(), 0.1, 0.9), torch.nn.CrossEntropyLoss()
        x, y, losses = torch.randn(20, 4), torch.randint(0, 3, (20,)), []
        for _ in range(20):
            optimizer.zero_grad()
            loss = loss_of(m(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, m.state_dict()

    check(program, rtol=1e-3)
