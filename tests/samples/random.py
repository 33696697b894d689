"""Samples for teachtorch/ops/random.py. No difference could check the gradient of a draw."""
from tests.samples import positive, sample, x

T = x(4, 3).T


def draw(*args, **kwargs):
    return sample(*args, gradient=False, **kwargs)


PLACES = [draw(x(2, 3)), draw(T), draw(x()), draw(x(0))]

SAMPLES = {
    "rand": [draw(2, 3), draw(())], "randn": [draw(2, 3), draw(20)],
    "randint": [draw(0, 5, (3,)), draw(5, (2, 2))],
    "randperm": [draw(5), draw(0)],
    "rand_like": PLACES, "randn_like": PLACES, "randint_like": [draw(x(2, 3), 5), draw(T, 1, 3)],
    "normal_": PLACES, "log_normal_": PLACES, "cauchy_": PLACES, "exponential_": PLACES,
    "geometric_": [draw(x(2, 3), 0.5), draw(T, 0.3)],
    "uniform_": [*PLACES, draw(x(3), -1.0, 2.0)], "random_": [*PLACES, draw(x(3), 5), draw(x(3), 2, 5)],
    "bernoulli_": [*PLACES, draw(x(3), 0.25), draw(x(2, 3), positive(3) / 2)],
    "bernoulli": [draw(positive(2, 3) / 2), draw(positive(2, 3), 0.5)],
    "poisson": [draw(positive(2, 3)), draw(10 * positive(3))],
    "binomial": [draw(10 * positive(2, 3), positive(2, 3) / 2)],
    "multinomial": [draw(positive(4), 2), draw(positive(2, 4), 5, True)],
    "normal": [draw(x(2, 3), positive(3)), draw(x(3), 1.0), draw(0.0, positive(3))],
    "normal.size": [draw(0.0, 1.0, (2, 3))],
}
