"""teachtorch.func beside torch.func: values, shapes, what requires grad, and refusals."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402


def x(m):
    return m.tensor([1.0, 2.0, 3.0], dtype=m.float64)


def tracked(m):
    return x(m).requires_grad_()


def outcome(program, m):
    """A result as plain values, or an error's type and first line."""
    try:
        return plain(program(m), m)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0].split('has structure')[0]}"


def plain(value, m):
    if isinstance(value, m.Tensor):
        values = [round(v, 5) for v in value.detach().reshape(-1).tolist()]
        return value.requires_grad, list(value.shape), values
    if isinstance(value, (tuple, list)):
        return [plain(part, m) for part in value]
    if isinstance(value, dict):
        return {key: plain(part, m) for key, part in value.items()}
    return "a function" if callable(value) else value


PROGRAMS = {
    "grad": lambda m: m.func.grad(lambda a: (a ** 3).sum())(x(m)),
    "gradgrad": lambda m: m.func.grad(lambda a: m.func.grad(lambda b: (b ** 3).sum())(a).sum())(x(m)),
    "grad3": lambda m: m.func.grad(m.func.grad(m.func.grad(lambda a: a ** 4)))(m.tensor(2.0)),
    "grad tracked": lambda m: m.func.grad(lambda a: (a ** 3).sum())(tracked(m)),
    "grad captured": lambda m: (lambda w: m.func.grad(lambda a: (w * a).sum())(x(m)))(tracked(m)),
    "grad no_grad":
        lambda m: m.no_grad()(lambda: m.func.grad(lambda a: (a ** 3).sum())(x(m)))(),
    "argnums": lambda m: m.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x(m), x(m)),
    "argnums1": lambda m: m.func.grad(lambda a, b: (a * b * b).sum(), argnums=1)(x(m), x(m)),
    "argnums-1": lambda m: m.func.grad(lambda a, b: (a * b * b).sum(), argnums=-1)(x(m), x(m)),
    "aux": lambda m: m.func.grad(lambda a: ((a * a).sum(), {"k": a * 2}), has_aux=True)(x(m)),
    "gv": lambda m: m.func.grad_and_value(lambda a: (a * a).sum())(x(m)),
    "gv aux": lambda m: m.func.grad_and_value(lambda a: ((a * a).sum(), a), has_aux=True)(x(m)),
    "dict arg": lambda m: m.func.grad(lambda p: (p["w"] * p["b"]).sum())({"w": x(m), "b": x(m)}),
    "not scalar": lambda m: m.func.grad(lambda a: a * 2)(x(m)),
    "not tensor": lambda m: m.func.grad(lambda a: 3.0)(x(m)),
    "bad argnum": lambda m: m.func.grad(lambda a: a.sum(), argnums=3)(x(m)),
    "dup argnum": lambda m: m.func.grad(lambda a: a.sum(), argnums=(0, 0))(x(m)),
    "txt argnum": lambda m: m.func.grad(lambda a: a.sum(), argnums="x")(x(m)),
    "number arg": lambda m: m.func.grad(lambda a: a * 2)(3.0),
    "aux missing": lambda m: m.func.grad(lambda a: a.sum(), has_aux=True)(x(m)),
    "vjp": lambda m: (lambda o, f: [o, f(x(m))])(*m.func.vjp(lambda a: a * a, x(m))),
    "vjp2":
        lambda m: (lambda o, f: [o, f((x(m), m.tensor(1.0, dtype=m.float64)))])(
            *m.func.vjp(lambda a, b: (a * b, a.sum()), x(m), x(m))),
    "vjp aux": lambda m: m.func.vjp(lambda a: (a * a, a), x(m), has_aux=True)[2],
    "vjp bad": lambda m: m.func.vjp(lambda a: a * a, x(m))[1]((x(m),)),
    "vjp int": lambda m: m.func.vjp(lambda a: a.long(), x(m)),
    "jvp": lambda m: m.func.jvp(lambda a: a.sin(), (x(m),), (x(m),)),
    "jvp2": lambda m: m.func.jvp(lambda a, b: (a * b, a + b), (x(m), x(m)), (x(m), x(m))),
    "jvp aux": lambda m: m.func.jvp(lambda a: (a.sin(), a * 2), (x(m),), (x(m),), has_aux=True),
    "jvp strict": lambda m: m.func.jvp(lambda a: m.ones(2), (x(m),), (x(m),), strict=True),
    "jvp const": lambda m: m.func.jvp(lambda a: m.ones(2), (x(m),), (x(m),)),
    "jvp shape": lambda m: m.func.jvp(lambda a: a.sin(), (x(m),), (m.ones(2, dtype=m.float64),)),
    "jvp notuple": lambda m: m.func.jvp(lambda a: a.sin(), x(m), x(m)),
    "jvp jvp":
        lambda m: m.func.jvp(lambda a: m.func.jvp(lambda b: b ** 3, (a,), (x(m),))[1], (x(m),), (x(m),)),
    "grad jvp": lambda m: m.func.grad(lambda a: m.func.jvp(lambda b: b ** 3, (a,), (x(m),))[1].sum())(x(m)),
    "jvp grad": lambda m: m.func.jvp(m.func.grad(lambda b: (b.exp() * b).sum()), (x(m),), (x(m),)),
    "jacrev": lambda m: m.func.jacrev(lambda a: a.exp())(x(m)),
    "jacfwd": lambda m: m.func.jacfwd(lambda a: a.exp())(x(m)),
    "jacrev2": lambda m: m.func.jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(x(m), x(m)),
    "jacfwd2": lambda m: m.func.jacfwd(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(x(m), x(m)),
    "jacrev aux": lambda m: m.func.jacrev(lambda a: (a * a, a), has_aux=True)(x(m)),
    "jacfwd aux": lambda m: m.func.jacfwd(lambda a: (a * a, a), has_aux=True)(x(m)),
    "jacjac": lambda m: m.func.jacrev(m.func.jacrev(lambda a: a ** 3))(x(m)),
    "jacfwdfwd": lambda m: m.func.jacfwd(m.func.jacfwd(lambda a: a ** 3))(x(m)),
    "jacfwdrev": lambda m: m.func.jacfwd(m.func.jacrev(lambda a: a.exp()))(x(m)),
    "jacrevfwd": lambda m: m.func.jacrev(m.func.jacfwd(lambda a: a.exp() * a))(x(m)),
    "hessian": lambda m: m.func.hessian(lambda a: (a.exp() * a.sin()).sum())(x(m)),
    "hessian relu": lambda m: m.func.hessian(lambda a: (a.relu() * a.sigmoid() * a.tanh()).sum())(x(m)),
    "hessian2": lambda m: m.func.hessian(lambda a, b: (a * b * b).sum(), argnums=(0, 1))(x(m), x(m)),
    "vmap": lambda m: m.func.vmap(lambda a: a * 2)(m.arange(6.0).view(2, 3)),
    "vmap2":
        lambda m: m.func.vmap(m.dot, in_dims=(0, 1))(m.arange(6.0).view(2, 3), m.arange(6.0).view(3, 2)),
    "vmap none": lambda m: m.func.vmap(lambda a, b: a + b, in_dims=(0, None))(m.arange(3.0), m.tensor(1.0)),
    "vmap out": lambda m: m.func.vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(m.arange(6.0).view(2, 3)),
    "vmap grad": lambda m: m.func.vmap(m.func.grad(lambda a: (a ** 2).sum()))(m.arange(6.0).view(2, 3)),
    "vmap vmap":
        lambda m: m.func.vmap(m.func.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(
            m.arange(3.0), m.arange(2.0)),
    "vmap dict":
        lambda m: m.func.vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))(
            {"a": m.arange(3.0), "b": m.tensor(1.0)}),
    "vmap sizes": lambda m: m.func.vmap(lambda a, b: a)(m.ones(2), m.ones(3)),
    "vmap noinp": lambda m: m.func.vmap(lambda: 1)(),
    "vmap bad dim": lambda m: m.func.vmap(lambda a: a, in_dims=3)(m.ones(2)),
    "vmap 0d": lambda m: m.func.vmap(lambda a: a)(m.tensor(2.0)),
    "vmap all none": lambda m: m.func.vmap(lambda a: a, in_dims=None)(m.ones(2)),
    "vmap all none2": lambda m: m.func.vmap(lambda a: a, in_dims=(None,))(m.ones(2)),
    "vmap nontensor": lambda m: m.func.vmap(lambda a: a)(3),
    "vmap struct": lambda m: m.func.vmap(lambda a, b: a, in_dims=(0,))(m.ones(2), m.ones(2)),
    "vmap out nontensor": lambda m: m.func.vmap(lambda a: 3)(m.ones(2)),
    "vmap rand err": lambda m: m.func.vmap(lambda a: a + m.rand(()))(m.ones(2)),
    "vmap randomness": lambda m: m.func.vmap(lambda a: a, randomness="x")(m.ones(2)),
    "vmap same":
        lambda m: len(set(m.func.vmap(lambda a: a + m.rand(()), randomness="same")(m.ones(2)).tolist())),
    "vmap diff":
        lambda m: len(set(m.func.vmap(lambda a: a + m.rand(()), randomness="different")(m.ones(2)).tolist())),
    "vmap chunk": lambda m: m.func.vmap(lambda a: a * 2, chunk_size=2)(m.arange(5.0)),
    "vmap outdims bad": lambda m: m.func.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(m.ones(2)),
    "linearize": lambda m: (lambda o, f: [o, f(x(m))])(*m.func.linearize(lambda a: a.sin(), x(m))),
}


# ---- modules ------------------------------------------------------------------------------

def call_with_other_parameters(m):
    layer = m.nn.Linear(2, 2)
    weight = layer.weight
    result = m.func.functional_call(layer, {"weight": m.eye(2), "bias": m.zeros(2)}, (m.ones(1, 2),))
    return result, layer.weight is weight


def gradient_by_parameters(m):
    layer = m.nn.Linear(2, 1)
    given = {"weight": m.ones(1, 2), "bias": m.zeros(1)}
    return m.func.grad(lambda p: m.func.functional_call(layer, p, (m.ones(1, 2),)).sum())(given)


def call_strictly(m):
    return m.func.functional_call(m.nn.Linear(2, 1), {"weight": m.ones(1, 2)}, m.ones(1, 2), strict=True)


def call_by_keyword(m):
    given = {"weight": m.ones(1, 2), "bias": m.zeros(1)}
    return m.func.functional_call(m.nn.Linear(2, 1), given, kwargs={"input": m.ones(1, 2)})


def call_with_two_dicts(m):
    dicts = ({"weight": m.ones(1, 2)}, {"bias": m.zeros(1)})
    return m.func.functional_call(m.nn.Linear(2, 1), dicts, m.ones(1, 2))


def call_with_a_name_twice(m):
    dicts = ({"weight": m.ones(1, 2)}, {"weight": m.ones(1, 2)})
    return m.func.functional_call(m.nn.Linear(2, 1), dicts, m.ones(1, 2))


def tied_weights_follow(m):
    first, second = m.nn.Linear(2, 2, bias=False), m.nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    both = m.nn.Sequential(first, second)
    return m.func.functional_call(both, {"0.weight": m.eye(2) * 2}, (m.ones(1, 2),))


def stacked_models(m):
    models = [m.nn.Linear(2, 1) for _ in range(3)]
    parameters, _ = m.func.stack_module_state(models)
    result = m.func.vmap(lambda p, v: m.func.functional_call(models[0], p, (v,)), in_dims=(0, None))(
        parameters, m.ones(1, 2))
    return list(result.shape), list(parameters["weight"].shape), parameters["weight"].is_leaf


for _program in (call_with_other_parameters, gradient_by_parameters, call_strictly, call_by_keyword,
                 call_with_two_dicts, call_with_a_name_twice, tied_weights_follow, stacked_models):
    PROGRAMS[_program.__name__] = _program


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_same_outcome(name):
    expected, found = outcome(PROGRAMS[name], torch), outcome(PROGRAMS[name], teachtorch)
    assert found == expected
