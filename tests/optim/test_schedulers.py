"""Schedulers against the sequences that their formulas give."""
import pytest

import teachtorch as torch
from teachtorch.optim import lr_scheduler as s


def sequence(make, steps, kind="SGD", value=lambda group: group["lr"]):
    optimizer = getattr(torch.optim, kind)([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler, found = make(optimizer), []
    for _ in range(steps):
        found.append(value(optimizer.param_groups[0]))
        optimizer.step()
        scheduler.step()
    return found


@pytest.mark.parametrize("make, expected", (
    (lambda o: s.StepLR(o, 3, 0.1), [1, 1, 1, 0.1, 0.1, 0.1, 0.01]),
    (lambda o: s.MultiStepLR(o, [2, 2, 4]), [1, 1, 0.01, 0.01, 0.001]),
    (lambda o: s.ConstantLR(o, 0.5, 3), [0.5, 0.5, 0.5, 1, 1]),
    (lambda o: s.LinearLR(o, 1 / 3, total_iters=4), [1 / 3, 1 / 2, 2 / 3, 5 / 6, 1, 1]),
    (lambda o: s.PolynomialLR(o, 4, 2), [1, 0.5625, 0.25, 0.0625, 0, 0]),
    (lambda o: s.CosineAnnealingWarmRestarts(o, 2, 2), [1, 0.5, 1, 0.853553, 0.5, 0.146447, 1]),
    (lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], [2]),
     [0.1, 0.1, 1, 0.9, 0.81]),
    (lambda o: s.ChainedScheduler([s.StepLR(o, 2, 0.5), s.ExponentialLR(o, 0.9)]), [1, 0.9, 0.405, 0.3645]),
))
def test_sequence(make, expected):
    assert sequence(make, len(expected)) == pytest.approx(expected, abs=1e-6)


def test_cosine_annealing_goes_up_again():
    found = sequence(lambda o: s.CosineAnnealingLR(o, 4, 0.1), 9)
    assert found == pytest.approx(found[::-1])
    assert found[4] == pytest.approx(0.1)


def test_one_cycle_ends_far_below_its_start():
    found = sequence(lambda o: s.OneCycleLR(o, 1.0, 10), 10, "Adam")
    assert found[0] == pytest.approx(1 / 25)
    assert max(found) == pytest.approx(1.0)
    assert found[-1] == pytest.approx(1 / (25 * 1e4))


def test_momentum_moves_against_the_rate():
    found = sequence(lambda o: s.OneCycleLR(o, 1.0, 10), 10, "Adam", lambda group: group["betas"][0])
    assert found[0] == found[-1] == pytest.approx(0.95)
    assert min(found) == pytest.approx(0.85)


def test_a_plateau_is_as_long_as_patience_and_one_more():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler = s.ReduceLROnPlateau(optimizer, patience=2)
    found = []
    for _ in range(4):
        scheduler.step(1.0)
        found.append(optimizer.param_groups[0]["lr"])
    assert found == [1.0, 1.0, 1.0, 0.1]


def test_a_scheduler_does_not_keep_its_optimizers_step_alive_twice():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    s.StepLR(optimizer, 1)
    step = optimizer.step
    s.StepLR(optimizer, 1)
    assert optimizer.step is step
