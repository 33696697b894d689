"""torch.distributions: the same samples, densities, entropies, divergences, gradients, texts and refusals."""
import pytest

import teachtorch
import teachtorch.distributions  # noqa: F401

torch = pytest.importorskip("torch")

MADE = {
    "Normal": lambda T, D: D.Normal(T.tensor([0.5, -1.0]), T.tensor([1.0, 2.0])),
    "Normal of numbers": lambda T, D: D.Normal(0.0, 1),
    "Normal broadcast": lambda T, D: D.Normal(T.zeros(2, 1), T.ones(3)),
    "LogNormal": lambda T, D: D.LogNormal(T.tensor([0.1, 0.2]), 0.5),
    "Uniform": lambda T, D: D.Uniform(T.tensor([0.0, -2.0]), T.tensor([1.0, 3.0])),
    "Exponential": lambda T, D: D.Exponential(T.tensor([0.5, 3.0])),
    "Laplace": lambda T, D: D.Laplace(T.tensor([0.5, 3.0]), 2.0),
    "Bernoulli": lambda T, D: D.Bernoulli(T.tensor([0.0, 0.3, 0.5, 1.0])),
    "Bernoulli of logits": lambda T, D: D.Bernoulli(logits=T.tensor([-2.0, 0.0, 5.0])),
    "Categorical": lambda T, D: D.Categorical(T.tensor([[1.0, 2.0, 1.0], [0.0, 1.0, 3.0]])),
    "Categorical of logits": lambda T, D: D.Categorical(logits=T.tensor([0.3, -1.0, 2.0])),
    "OneHotCategorical": lambda T, D: D.OneHotCategorical(T.tensor([[1.0, 2.0, 1.0], [0.0, 1.0, 3.0]])),
    "Independent": lambda T, D: D.Independent(D.Normal(T.zeros(2, 3), T.ones(3)), 1),
}
QUANTITIES = {
    "text": repr,
    "shapes": lambda d: (tuple(d.batch_shape), tuple(d.event_shape), d.has_rsample),
    "mean": lambda d: d.mean, "variance": lambda d: d.variance, "mode": lambda d: d.mode,
    "entropy": lambda d: d.entropy(), "support": lambda d: repr(d.support),
    "log_prob": lambda d: d.log_prob(d.sample((4,))), "cdf": lambda d: d.cdf(d.sample((4,))),
    "icdf": lambda d: d.icdf(d.mean * 0 + 0.3),
    "sample": lambda d: d.sample(), "samples": lambda d: d.sample((3, 2)), "rsample": lambda d: d.rsample((17,)),
    "expand": lambda d: d.expand((5, *d.batch_shape)).sample(),
    "all values": lambda d: d.enumerate_support(),
}


def attempted(call):
    try:
        return call()
    except NotImplementedError:
        return "not implemented"
    except AttributeError:
        return "not implemented"


def of(T, name, quantity):
    T.manual_seed(3)
    return attempted(lambda: QUANTITIES[quantity](MADE[name](T, T.distributions)))


def assert_alike(found, wanted):
    if not isinstance(wanted, torch.Tensor):
        assert found == wanted
        return
    assert str(found.dtype) == str(wanted.dtype) and tuple(found.shape) == tuple(wanted.shape)
    assert found.reshape(-1).tolist() == pytest.approx(wanted.reshape(-1).tolist(), rel=2e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", MADE)
def test_quantities(name, quantity):
    wanted = of(torch, name, quantity)
    if isinstance(wanted, str) and wanted == "not implemented":
        return
    assert_alike(of(teachtorch, name, quantity), wanted)


KINDS = ["Normal", "Uniform", "Exponential", "Laplace", "Bernoulli of logits", "Categorical of logits",
         "OneHotCategorical", "Independent"]


@pytest.mark.parametrize("name", KINDS)
def test_divergence_from_itself_and_another(name):
    def divergences(T):
        p = MADE[name](T, T.distributions)
        q = {"Normal": lambda: T.distributions.Normal(T.tensor(1.0), 3.0),
             "Uniform": lambda: T.distributions.Uniform(-3.0, 4.0),
             "Exponential": lambda: T.distributions.Exponential(2.0),
             "Laplace": lambda: T.distributions.Laplace(0.0, 1.0)}.get(name, lambda: p)()
        return T.distributions.kl_divergence(p, q)
    assert_alike(divergences(teachtorch), divergences(torch))


@pytest.mark.parametrize("name, draw", [("Normal", "rsample"), ("Laplace", "rsample"), ("Uniform", "rsample"),
                                        ("Exponential", "rsample"), ("LogNormal", "rsample")])
def test_gradients_flow_through_rsample(name, draw):
    def gradient(T):
        T.manual_seed(0)
        a, b = T.tensor([0.5, 0.7], requires_grad=True), T.tensor([1.5, 2.0], requires_grad=True)
        made = getattr(T.distributions, name)
        d = made(a) if name == "Exponential" else made(a, b)
        d.rsample((3,)).pow(2).sum().backward()
        return a.grad if name == "Exponential" else T.stack([a.grad, b.grad])
    assert_alike(gradient(teachtorch), gradient(torch))


def test_policy_gradient():
    def gradient(T):
        T.manual_seed(0)
        logits = T.randn(4, 3, requires_grad=True)
        d = T.distributions.Categorical(logits=logits)
        (-(d.log_prob(d.sample()) * T.arange(4.0)).sum() - 0.1 * d.entropy().mean()).backward()
        return logits.grad
    assert_alike(gradient(teachtorch), gradient(torch))


REFUSED = {
    "negative scale": lambda T, D: D.Normal(0.0, -1.0),
    "negative weights": lambda T, D: D.Categorical(T.tensor([-1.0, 2.0])),
    "no dimension": lambda T, D: D.Categorical(T.ones(())),
    "both": lambda T, D: D.Bernoulli(0.3, logits=1.0),
    "neither": lambda T, D: D.Bernoulli(),
    "no probability": lambda T, D: D.Bernoulli(2.0),
    "nan": lambda T, D: D.Normal(0.0, 1.0).log_prob(T.tensor(float("nan"))),
    "no such class": lambda T, D: D.Categorical(T.ones(3)).log_prob(T.tensor(5)),
    "between classes": lambda T, D: D.Categorical(T.ones(3)).log_prob(T.tensor([0.5])),
    "between yes and no": lambda T, D: D.Bernoulli(0.5).log_prob(T.tensor(0.5)),
    "other shape": lambda T, D: D.Normal(T.zeros(2), 1.0).log_prob(T.zeros(3)),
    "empty interval": lambda T, D: D.Uniform(1.0, 0.0),
    "outside": lambda T, D: D.Uniform(0.0, 1.0).log_prob(T.tensor(2.0)),
    "a number": lambda T, D: D.Normal(0.0, 1.0).log_prob(1.0),
    "too many dimensions": lambda T, D: D.Independent(D.Normal(0.0, 1.0), 1),
    "rate": lambda T, D: D.Exponential(-1.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    with pytest.raises(Exception) as wanted:
        REFUSED[name](torch, torch.distributions)
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[name](teachtorch, teachtorch.distributions)
    assert str(found.value) == str(wanted.value)


def test_checks_can_be_switched_off():
    for T in (torch, teachtorch):
        assert T.distributions.Normal(0.0, -1.0, validate_args=False).scale == -1
