"""Optimizers against PyTorch: numbers over many steps, groups, state dicts, hooks, refusals."""

import copy
import importlib
import inspect
import pickle

import numpy as np
import pytest

import teachtorch
from tests.parity.programs import assert_same, programs

torch = pytest.importorskip("torch")


def check(program, rtol=1e-5):
    assert_same(torch, program, rtol)


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


# Every optimizer with its options; each runs in all implementations that PyTorch has for it.
OPTIONS = {
    "SGD": ["", "0.1", "0.1, 0.9", "0.1, 0.9, 0.3", "0.1, 0.9, nesterov=True", "0.1, weight_decay=0.2",
            "0.1, maximize=True", "0.1, 0.9, 0, 0.2, nesterov=True, maximize=True", "torch.tensor(0.1), 0.9",
            "torch.tensor([0.1]), weight_decay=0.1"],
    "Adam": ["", "0.1", "0.1, (0.8, 0.95), 1e-3", "0.1, (0.4, 0.5)", "0.1, weight_decay=0.2",
             "0.1, amsgrad=True",
             "0.1, maximize=True, amsgrad=True, weight_decay=0.1", "0.1, weight_decay=0.2, "
                                                                   "decoupled_weight_decay=True"],
    "AdamW": ["", "0.1", "0.1, weight_decay=0.3, amsgrad=True, maximize=True"],
    "RMSprop": ["", "0.1, 0.9, weight_decay=0.1", "momentum=0.9", "centered=True", "lr=torch.tensor(0.1)",
                "centered=True, momentum=0.5, maximize=True, weight_decay=0.1, eps=1e-3"],
    "Adagrad": ["", "0.1, 0.1", "weight_decay=0.1, initial_accumulator_value=0.5", "maximize=True, eps=1e-2",
                "torch.tensor(0.1)"],
    "Adadelta": ["", "0.5, 0.8, weight_decay=0.1", "maximize=True, eps=1e-3"],
    "Adamax": ["", "0.1, (0.8, 0.9), weight_decay=0.1", "maximize=True, eps=1e-2"],
    "NAdam": ["", "0.1, weight_decay=0.1", "weight_decay=0.1, decoupled_weight_decay=True",
              "momentum_decay=0.1, maximize=True"],
    "RAdam": ["", "0.1, (0.9, 0.9)", "0.1, (0.9, 0.95), weight_decay=0.1",
              "weight_decay=0.1, decoupled_weight_decay=True, maximize=True"],
    "ASGD": ["", "0.1, 0.1, t0=5", "weight_decay=0.1, maximize=True, t0=2, alpha=0.5"],
    "Rprop": ["", "0.1, (0.4, 1.5), (1e-3, 0.2)", "maximize=True"],
    "Adafactor": ["", "0.5, weight_decay=0.1", "torch.tensor(0.1), -0.5, (1e-3, 1e-2), 1.5", "maximize=True"],
}
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")


def spellings():
    for name, options in OPTIONS.items():
        for implementation in ("", "foreach=False",
                               "foreach=True") + (("fused=True",) if name in FUSED else ()):
            for option in options:
                yield f"{name}({', '.join(part for part in ('params', option, implementation) if part)})"


def made(torch, spelling, params):
    return eval("torch.optim." + spelling, {"torch": torch, "params": params})


SHAPES = ((3, 4), (5,), (2,), (1,), (2, 3, 2))


def path_of(torch, spelling, dtype, steps=20):
    """All numbers of a run: parameters and states at the end, by name."""
    values = np.random.default_rng(0)
    arrays = [values.standard_normal(shape).astype(dtype) for shape in SHAPES]
    params = [torch.nn.Parameter(torch.from_numpy(array)) for array in arrays]
    optimizer = made(torch, spelling, params)
    for step in range(steps):
        for i, p in enumerate(params):
            if i != 2:                             # one never has a gradient, one has a gradient now and then
                skips = i == 4 and step % 3 == 1
                p.grad = None if skips else torch.from_numpy(values.standard_normal(SHAPES[i]).astype(dtype))
        optimizer.step()
    return params, optimizer


def numbers_of(params, optimizer):
    found = {f"parameter {i}": p.detach() for i, p in enumerate(params)}
    for i, state in optimizer.state_dict()["state"].items():
        found.update({f"{name} {i}": value for name, value in state.items()})
    return {name: (str(value.dtype).replace("teachtorch", "torch"), value.numpy()) for name,
            value in found.items()}


@pytest.mark.parametrize("dtype, rtol", (("float32", 1e-6), ("float64", 1e-12)))
@pytest.mark.parametrize("spelling", list(spellings()))
def test_twenty_steps(spelling, dtype, rtol):
    wanted, found = path_of(torch, spelling, dtype), path_of(teachtorch, spelling, dtype)
    assert repr(found[1]) == repr(wanted[1])
    wanted, found = numbers_of(*wanted), numbers_of(*found)
    assert list(found) == list(wanted)
    for name, (kind, value) in wanted.items():
        assert found[name][0] == kind
        np.testing.assert_allclose(found[name][1], value, rtol=rtol, atol=rtol * np.abs(value).max())


def as_ours(value):
    """A state dict of PyTorch's with teachtorch's tensors in the place of PyTorch's."""
    if isinstance(value, torch.Tensor):
        return teachtorch.from_numpy(value.numpy().copy())
    if isinstance(value, dict):
        return {name: as_ours(v) for name, v in value.items()}
    return [as_ours(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", OPTIONS)
def test_a_state_dict_of_pytorch_goes_on_here(name):
    _, theirs = path_of(torch, f"{name}(params, lr=0.1)", "float32", 4)
    params, ours = path_of(teachtorch, f"{name}(params)", "float32", 4)
    ours.load_state_dict(as_ours(theirs.state_dict()))
    for p, q in zip(theirs.param_groups[0]["params"], params):
        q.data = teachtorch.from_numpy(p.detach().numpy().copy())
        p.grad, q.grad = torch.ones(p.shape), teachtorch.ones(p.shape)
    theirs.step()
    ours.step()
    assert list(ours.state_dict()["param_groups"][0]) == list(theirs.state_dict()["param_groups"][0])
    for p, q in zip(theirs.param_groups[0]["params"], params):
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-6, atol=1e-7)


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
    "nothing to load": lambda torch, p: torch.optim.SGD([p]).load_state_dict(None),
    "a vector for Muon, later": lambda torch, p: late_vector(torch),
    "other size": lambda torch, p: torch.optim.SGD([p]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
}


def late_vector(torch):
    """The constructor refuses vectors, add_param_group does not; step does."""
    optimizer = torch.optim.Muon([torch.nn.Parameter(torch.ones(2, 2))])
    vector = torch.nn.Parameter(torch.ones(2))
    optimizer.add_param_group({"params": [vector]})
    vector.grad = torch.ones(2)
    optimizer.step()


@programs(groups_with_their_own_options, named_parameters, option_changed_by_hand)
def test_groups(program):
    check(program)


@pytest.mark.parametrize("what", REFUSED)
def test_refusal(what):
    def program(torch):
        return repr(REFUSED[what](torch, torch.nn.Parameter(torch.ones(2))))

    check(program)


OPTIONS_REFUSED = [
    *[f"{name}([p], capturable=True{more})" for more in ("", ", foreach=True")
      for name in ("Adam", "RMSprop", "NAdam", "RAdam", "ASGD", "Adadelta", "Adamax", "Rprop")],
    *[f"{name}([p], fused=True, foreach=True)" for name in ("Adam", "AdamW", "Adagrad")],
    *[f"{name}([p], fused=True, differentiable=True)" for name in ("Adam", "AdamW", "Adagrad")],
    *[f"{name}([p], lr=-1)" for name in ("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD",
                                         "Rprop",
                                         "LBFGS")],
    *[f"{name}([p], lr=torch.ones(2))" for name in ("Adam", "RMSprop", "Adagrad", "Rprop", "LBFGS")],
    *[f"{name}([p], eps=-1)" for name in ("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam")],
    *[f"{name}([p], weight_decay=-1)" for name in ("RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "ASGD")],
    *[f"{name}([p], betas=(0.5, 1.0))" for name in ("Adamax", "NAdam", "RAdam")],
    *[f"Adafactor([p], {option})" for option in (
        "lr=-1", "lr=torch.ones(2)", "beta2_decay=0.1", "eps=(-1, 1)", "eps=(None, -1)", "d=0.5",
        "weight_decay=-1", "1, 2, 3, 4, 5, 6, 7")],
    *[f"Muon([p.reshape(1, 2).detach()], {option})" for option in (
        "lr=-1", "lr=torch.ones(2)", "momentum=-1", "weight_decay=-1", "adjust_lr_fn='x'", "fused=True")],
    "Muon([p])",
    "Muon([m], ns_steps=100)",
    "Muon([m], ns_coefficients=(1, 2))",
    "Adam([p], foreach=True, differentiable=True)",
    "RMSprop([p], foreach=True, differentiable=True)",
    "RMSprop([p], fused=True)",
    "Adam([p], lr=torch.tensor(0.1), foreach=True)",
    "Adam([p], betas=(1, 0.5))",
    "Adam([p], betas=(0.5, torch.tensor(0.5)))",
    "Adam([p], betas=(torch.tensor(0.5), torch.tensor(0.5)), foreach=True)",
    "RMSprop([p], momentum=-1)",
    "RMSprop([p], alpha=-1)",
    "Adagrad([p], lr_decay=-1)",
    "Adagrad([p], initial_accumulator_value=-1)",
    "Adadelta([p], rho=2)",
    "NAdam([p], momentum_decay=-1)",
    "Rprop([p], etas=(1.0, 2.0))",
    "LBFGS([{'params': [p]}, {'params': [torch.nn.Parameter(torch.ones(2))]}])",
]


@pytest.mark.parametrize("spelling", OPTIONS_REFUSED)
def test_refused_options(spelling):
    def program(torch):
        p = torch.nn.Parameter(torch.ones(2))
        m = torch.nn.Parameter(torch.ones(1, 2))
        p.grad, m.grad = torch.ones(2), torch.ones(1, 2)
        optimizer = eval("torch.optim." + spelling, {"torch": torch, "p": p, "m": m})
        optimizer.step()

    check(program)


# ---- Muon: matrices only, in bfloat16 inside -----------------------------------------------------------

MUON = ("", "0.1, 0.3", "0.1, momentum=0.5, nesterov=False, ns_steps=2",
        "0.1, adjust_lr_fn='match_rms_adamw'",
        "torch.tensor(0.1), adjust_lr_fn='original', ns_coefficients=(2, -1.5, 0.5), eps=1e-3")


def matrix_path(torch, options, dtype):
    values = np.random.default_rng(0)
    arrays = [values.standard_normal(shape).astype(dtype) for shape in ((3, 4), (5, 2), (4, 4), (1, 6))]
    params = [torch.nn.Parameter(torch.from_numpy(array)) for array in arrays]
    optimizer = eval(f"torch.optim.Muon(params, {options})", {"torch": torch, "params": params})
    for _ in range(3):
        for p in params[:3]:                       # the last never has a gradient
            p.grad = torch.from_numpy(values.standard_normal(tuple(p.shape)).astype(dtype))
        optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("options", MUON)
def test_muon(options, dtype):
    wanted, found = matrix_path(torch, options, dtype), matrix_path(teachtorch, options, dtype)
    assert repr(found[1]) == repr(wanted[1])
    wanted, found = numbers_of(*wanted), numbers_of(*found)
    assert list(found) == list(wanted)
    for name, (kind, value) in wanted.items():
        assert found[name][0] == kind
        # bfloat16 has 8 bits of mantissa, and each library rounds the steps inside addmm in its own way
        error = 0.03 if "parameter" in name else 1e-6
        np.testing.assert_allclose(found[name][1], value, rtol=1e-6, atol=error)


# ---- differentiable ----------------------------------------------------------------------------------------

RECORDED = [
    "SGD([p], lr, 0.9, weight_decay=wd, differentiable=True)",
    "Adam([p], lr, weight_decay=wd, differentiable=True)",
    "Adam([p], 0.1, betas=(b1, b2), differentiable=True)",
    "AdamW([p], lr, weight_decay=wd, differentiable=True)",
    "RMSprop([p], 0.1, momentum=0.5, differentiable=True)",
    "Adagrad([p], 0.1, differentiable=True)",
    "Adadelta([p], 0.1, differentiable=True)",
    "RAdam([p], 0.1, (0.9, 0.9), differentiable=True)",
    "NAdam([p], 0.1, differentiable=True)",
    "ASGD([p], 0.1, differentiable=True)",
]


@pytest.mark.parametrize("steps", (1, 3))
@pytest.mark.parametrize("spelling", RECORDED)
def test_gradients_through_steps(spelling, steps):
    def program(torch):
        start = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
        slope = torch.tensor([0.3, 0.6, -2.0], dtype=torch.float64, requires_grad=True)
        options = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
                   for name, value in {"lr": 0.1, "wd": 0.1, "b1": 0.9, "b2": 0.99}.items()}
        p = start * 1.0
        p.retain_grad()
        optimizer = eval("torch.optim." + spelling, {"torch": torch, "p": p, **options})
        for step in range(steps):
            p.grad = slope * (1 + step)
            optimizer.step()
        sources = [start, slope,
                   *[value for name, value in options.items() if name in spelling.replace("lr=", "")]]
        return [g if g is None else g.tolist() for g in torch.autograd.grad(p.square().sum(), sources,
                                                                          allow_unused=True)]

    check(program, rtol=1e-4)                            # PyTorch computes Adam's corrections in float32 here


# ---- L-BFGS ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    (
        "max_iter=6",
        "lr=0.1, max_iter=5, history_size=3",
        "line_search_fn='strong_wolfe', max_iter=7, history_size=2",
        "lr=0.5, max_eval=3, line_search_fn='strong_wolfe'",
        "lr=torch.tensor(0.5), max_iter=3",
        "tolerance_grad=10.0",
        "tolerance_change=1.0, line_search_fn='strong_wolfe'",
    ),
)
def test_lbfgs(options):
    def program(torch):
        x = torch.nn.Parameter(torch.tensor([-1.5, 2.0], dtype=torch.float64))
        y = torch.nn.Parameter(torch.tensor([[0.5]], dtype=torch.float64))
        optimizer = eval(f"torch.optim.LBFGS([x, y], {options})", {"torch": torch, "x": x, "y": y})
        calls, path = [], []

        def closure():
            calls.append(torch.is_grad_enabled())
            optimizer.zero_grad()
            loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + ((y - x[1]) ** 2).sum()
            loss.backward()
            return loss.detach()                       # PyTorch warns, once, of numbers from recorded tensors

        for _ in range(2):
            path.append([optimizer.step(closure).item(), len(calls), x.tolist(), y.tolist()])
        state = optimizer.state_dict()["state"][0]
        return path, list(state), state["n_iter"], state["func_evals"], len(state.get("old_dirs", ()))

    check(program, rtol=1e-6)


def lbfgs_needs_a_known_search(torch):
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.LBFGS([p], line_search_fn="golden")

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss.detach()

    return optimizer.step(closure)


@programs(lbfgs_needs_a_known_search)
def test_lbfgs_program(program):
    check(program)


# ---- lists of tensors --------------------------------------------------------------------------------------

FOREACH = [
    "_foreach_add(a, b, alpha=2)", "_foreach_add(a, 1.5)", "_foreach_add(a, numbers)", "_foreach_sub(a, b)",
    "_foreach_sub(a, b, alpha=0.5)", "_foreach_mul(a, b)", "_foreach_mul(a, numbers)", "_foreach_div(a, b)",
    "_foreach_div(a, 3)", "_foreach_maximum(a, b)", "_foreach_maximum(a, 0.1)", "_foreach_minimum(a, b)",
    "_foreach_minimum(a, numbers)", "_foreach_sqrt(b)", "_foreach_neg(a)", "_foreach_abs(a)",
    "_foreach_sign(a)",
    "_foreach_reciprocal(b)", "_foreach_lerp(a, b, 0.3)", "_foreach_lerp(a, b, 0.8)",
    "_foreach_lerp(a, b, b)",
    "_foreach_addcmul(a, b, a)", "_foreach_addcmul(a, b, a, numbers)", "_foreach_addcdiv(a, a, b, 0.5)",
    "_foreach_addcdiv(a, a, b, torch.tensor(numbers))", "_foreach_norm(a)", "_foreach_norm(a, 1)",
    "_foreach_add_(a, b, alpha=2)", "_foreach_sub_(a, 1)", "_foreach_mul_(a, numbers)", "_foreach_div_(a, b)",
    "_foreach_maximum_(a, b)", "_foreach_minimum_(a, 0.1)", "_foreach_sqrt_(b)", "_foreach_neg_(a)",
    "_foreach_lerp_(a, b, 0.3)", "_foreach_lerp_(a, b, b)", "_foreach_addcmul_(a, b, b, 0.5)",
    "_foreach_addcdiv_(a, a, b, numbers)", "_foreach_copy_(a, b)", "_foreach_zero_(a)",
    "_foreach_add([], 1)", "_foreach_add(a, b[:1])", "_foreach_mul(a, numbers[:1])",
]


def foreach_cases():
    """PyTorch has not all of them for halves and integers; in-place results of halves do not fit integers."""
    for call in FOREACH:
        yield from ((call, "float32"), (call, "float64"))
        if not any(name in call for name in ("lerp", "addcdiv", "reciprocal_", "norm")):
            yield call, "float16"
            if "_(" not in call:
                yield call, "int64"


@pytest.mark.parametrize("call, dtype", list(foreach_cases()))
def test_foreach(call, dtype):
    def program(torch):
        values = np.random.default_rng(0)
        a, b = [[torch.from_numpy((values.standard_normal(shape) * 4).astype(dtype)) for shape in ((3, 2),
                                                                                                   (4,), ())]
                for _ in range(2)]
        b = [t.abs() + 1 for t in b]
        numbers = [0.5, 2.0, -1.0]
        found = eval("torch." + call, {"torch": torch, "a": a, "b": b, "numbers": numbers})
        return found, a, b, [t._version for t in a]

    check(program, rtol=2e-3 if dtype == "float16" else 1e-6)


def foreach_is_recorded(torch):
    a = [torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]
    squares = torch._foreach_mul(a, a)
    sums = torch._foreach_add(squares, a, alpha=2.0)
    (sums[0].sum() + sums[1].sum()).backward()
    return [t.grad for t in a]


def foreach_takes_layouts_as_they_are(torch):
    a = [torch.arange(6.0).reshape(2, 3).t(), torch.arange(3.0).expand(2, 3)]
    b = [torch.ones(3, 2), torch.ones(3)]
    return torch._foreach_add(a, b), torch._foreach_mul(a, 2)[0].stride()


def foreach_refuses_leaves(torch):
    torch._foreach_mul_([torch.ones(1, requires_grad=True)], 2.0)


@programs(foreach_is_recorded, foreach_takes_layouts_as_they_are, foreach_refuses_leaves)
def test_foreach_program(program):
    check(program)


def gradients_of_a_scaler(torch):
    params = [torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(2))]
    optimizer, path = torch.optim.Adam(params, 0.1, fused=True), []
    for found_inf in (0.0, 1.0, 0.0):
        for p in params:
            p.grad = torch.full_like(p, 8.0)
        optimizer.grad_scale, optimizer.found_inf = torch.tensor(4.0), torch.tensor(found_inf)
        optimizer.step()
        path.append([p.tolist() for p in params])
        path.append([optimizer.state[params[0]]["step"].item(), params[0].grad.tolist()])
    return path


@programs(gradients_of_a_scaler)
def test_fused(program):
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


# ---- other parameters for a while -----------------------------------------------------------------------

SWAPS = {
    "fits": lambda s, params: None,
    "less parameters": lambda s, params: params.popitem(),
    "one group more": lambda s, params: s["param_groups"].append({}),
    "no groups": lambda s, params: s.pop("param_groups"),
    "no state": lambda s, params: s.pop("state"),
    "state that is no dict": lambda s, params: s["state"].update({0: 3}),
    "tensor for a key": lambda s, params: s["state"].update({params["a"]: {}}),
    "extra state": lambda s, params: s["state"].update({9: {}}),
    "extra option": lambda s, params: s["param_groups"][0].update(more=1),
    "option gone": lambda s, params: s["param_groups"][0].pop("lr"),
    "number gone": lambda s, params: s["param_groups"][0]["params"].pop(),
    "names for numbers": lambda s, params: s["param_groups"][0].update(params=["a", "b"]),
    "group that is no dict": lambda s, params: s.update(param_groups=[3]),
}


@pytest.mark.parametrize("how", SWAPS)
def test_other_parameters_for_a_while(how):
    def program(torch):
        own = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
        optimizer = torch.optim.SGD(own, 0.1, 0.5)
        for p in own:
            p.grad = torch.ones(2)
        optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
        saved["param_groups"][0]["lr"] = 1.0
        params = {name: torch.nn.Parameter(torch.zeros(2)) for name in "ab"}
        params["a"].grad = torch.ones(2)
        SWAPS[how](saved, params)
        with torch.optim.swap_in_optimizer_params_and_state(optimizer, params, saved):
            optimizer.step()
            inside = optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["params"][0] is params["a"]
        kept = optimizer.param_groups[0]["params"][0] is own[0], optimizer.param_groups[0]["lr"]
        return inside, kept, own, params, saved, optimizer.state_dict()

    check(program)


def test_a_swap_needs_a_state():
    def program(torch):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))])
        with torch.optim.swap_in_optimizer_params_and_state(optimizer, {}, {}):
            pass

    check(program)


# ---- names and defaults ------------------------------------------------------------------------------------

def test_every_public_name_is_here():
    public = {name for name in torch.optim.__all__ if not name.startswith("_")}
    assert public <= set(dir(teachtorch.optim))
    for module in ("lr_scheduler", "swa_utils"):
        theirs, ours = getattr(torch.optim, module), getattr(teachtorch.optim, module)
        assert set(theirs.__all__) <= set(dir(ours))


def constructor(module, name):
    """Names, order, kinds and defaults of the arguments."""
    arguments = inspect.signature(getattr(module, name).__init__).parameters
    return [(p.name, p.kind, p.default) for p in arguments.values()]


@pytest.mark.parametrize("module", ("optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data"))
def test_constructors_take_the_same_arguments(module):
    theirs, ours = (importlib.import_module(f"{name}.{module}") for name in ("torch", "teachtorch"))
    classes = [name for name in theirs.__all__ if inspect.isclass(getattr(theirs, name))]
    names = [name for name in classes if hasattr(ours, name)]
    assert len(names) > 1
    different = [name for name in names if constructor(ours, name) != constructor(theirs, name)]
    assert different == []


@pytest.mark.parametrize("name, options", [
    ("AdamW", {}), ("AdamW", {"foreach": True}), ("AdamW", {"foreach": False}), ("Adam", {"weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1}), ("RMSprop", {}), ("Adagrad", {})])
def test_a_step_changes_a_parameter_as_often_as_pytorchs(name, options):
    """What a graph saved of a parameter is stale behind the step: version counters tell."""
    def versions(T):
        p = T.nn.Parameter(T.ones(3))
        p.grad = T.ones(3)
        optimizer = getattr(T.optim, name)([p], lr=0.1, **options)
        for _ in range(2):
            optimizer.step()
            yield p._version

    import teachtorch

    assert list(versions(teachtorch)) == list(versions(torch))
