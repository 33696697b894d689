"""Schedulers and averaged models against PyTorch: rates, momenta, state dicts, warnings, refusals."""

import copy
import importlib
import math
import pickle

import pytest

from tests.parity.programs import assert_same, programs

torch = pytest.importorskip("torch")


def check(program, rtol=1e-9):
    assert_same(torch, program, rtol)


def schedulers_of(torch):
    return importlib.import_module(torch.__name__ + ".optim.lr_scheduler")


def swa_of(torch):
    return importlib.import_module(torch.__name__ + ".optim.swa_utils")


def made_optimizer(torch, kind="SGD", rates=(1.0, 0.5), **options):
    groups = [{"params": [torch.nn.Parameter(torch.ones(1))], "lr": rate} for rate in rates]
    if kind == "SGD":
        options = {"momentum": 0.9, **options}
    return getattr(torch.optim, kind)(groups, **options)


def made(torch, spelling, optimizer):
    names = {**vars(schedulers_of(torch)), "SWALR": swa_of(torch).SWALR, "o": optimizer, "math": math}
    return eval(spelling, names)


def facts(optimizer, scheduler):
    momenta = [g.get("momentum", g.get("betas")) for g in optimizer.param_groups]
    rates = [float(g["lr"]) for g in optimizer.param_groups]
    return rates, momenta, scheduler.get_last_lr(), scheduler.last_epoch


SPELLINGS = [
    "LambdaLR(o, lambda epoch: 0.9 ** epoch)",
    "LambdaLR(o, [lambda epoch: epoch, lambda epoch: 1 / (1 + epoch)])",
    "MultiplicativeLR(o, lambda epoch: 0.5)",
    "MultiplicativeLR(o, [lambda epoch: 0.5, lambda epoch: 1 + epoch])",
    "StepLR(o, 3)",
    "StepLR(o, step_size=2, gamma=0.5)",
    "MultiStepLR(o, [2, 2, 4])",
    "MultiStepLR(o, [1, 5], gamma=0.3)",
    "ConstantLR(o)",
    "ConstantLR(o, 0.5, 3)",
    "LinearLR(o)",
    "LinearLR(o, 1 / 3, total_iters=4)",
    "LinearLR(o, 1.0, 0.1, 6)",
    "ExponentialLR(o, 0.9)",
    "PolynomialLR(o, 4, 2)",
    "PolynomialLR(o)",
    "CosineAnnealingLR(o, 4, 0.1)",
    "CosineAnnealingLR(o, T_max=10)",
    "CosineAnnealingWarmRestarts(o, 2, 2)",
    "CosineAnnealingWarmRestarts(o, 3, 1, 0.1)",
    "CyclicLR(o, 0.1, 1.0, 3)",
    "CyclicLR(o, [0.1, 0.2], [1.0, 2.0], 2, 3, 'triangular2')",
    "CyclicLR(o, 0.1, 1.0, 2, mode='exp_range', gamma=0.9)",
    "CyclicLR(o, 0.1, 1.0, 2, scale_fn=lambda x: 1 / x, base_momentum=0.5)",
    "CyclicLR(o, 0.1, 1.0, 2, scale_fn=lambda x: 0.9 ** x, scale_mode='iterations', cycle_momentum=False)",
    "OneCycleLR(o, 1.0, 13)",
    "OneCycleLR(o, [1.0, 2.0], epochs=3, steps_per_epoch=5, anneal_strategy='linear')",
    "OneCycleLR(o, 1.0, 14, pct_start=0.4, three_phase=True, div_factor=10, final_div_factor=100)",
    "OneCycleLR(o, 1.0, 13, cycle_momentum=False)",
    "SWALR(o, 0.05)",
    "SWALR(o, [0.05, 0.1], 4, 'linear')",
    "SWALR(o, 0.05, anneal_epochs=0)",
    "SequentialLR(o, [ConstantLR(o, 0.1, 2), ExponentialLR(o, 0.9)], [2])",
    "SequentialLR(o, [LinearLR(o, 0.1, total_iters=3), CosineAnnealingLR(o, 5), StepLR(o, 2)], [3, 8])",
    "ChainedScheduler([ConstantLR(o, 0.1, 2), ExponentialLR(o, 0.9)])",
    "ChainedScheduler([LinearLR(o), StepLR(o, 2)], o)",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", ("SGD", "Adam"))
def test_rates(spelling, kind):
    def program(torch):
        optimizer = made_optimizer(torch, kind)
        scheduler, path = made(torch, spelling, optimizer), []
        for _ in range(12):
            path.append(facts(optimizer, scheduler))
            optimizer.step()
            scheduler.step()
        return path, sorted(optimizer.param_groups[0])

    check(program)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_state_dict_goes_on(spelling):
    def program(torch):
        optimizer = made_optimizer(torch)
        scheduler = made(torch, spelling, optimizer)
        for _ in range(4):
            optimizer.step()
            scheduler.step()
        saved, groups = copy.deepcopy(scheduler.state_dict()), copy.deepcopy(optimizer.state_dict())
        names, other_optimizer = sorted(saved), made_optimizer(torch)
        other, path = made(torch, spelling, other_optimizer), []
        other_optimizer.load_state_dict(groups)
        other.load_state_dict(saved)
        for _ in range(4):
            other_optimizer.step()
            other.step()
            path.append(facts(other_optimizer, other))
        return path, names

    check(program)


@pytest.mark.parametrize("spelling", [s for s in SPELLINGS if "lambda" not in s and "Sequential" not in s])
def test_rates_that_are_tensors_are_changed_in_place(spelling):
    def program(torch):
        rate = torch.tensor(1.0, dtype=torch.float64)
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], rate, 0.9)
        scheduler, path = made(torch,
                               spelling.replace("[1.0, 2.0]", "1.0").replace("[0.1, 0.2]", "0.1").replace(
            "[0.05, 0.1]", "0.05"), optimizer), []
        for _ in range(5):
            optimizer.step()
            scheduler.step()
            path.append([float(rate), float(scheduler.get_last_lr()[0]),
                         optimizer.param_groups[0]["lr"] is rate])
        return path

    check(program, 1e-7)


WITH_EPOCH = [s for s in SPELLINGS if "LR(o" in s and "Sequential" not in s and "Chained" not in s]


@pytest.mark.parametrize("spelling", WITH_EPOCH)
def test_an_epoch_takes_the_closed_form(spelling):
    def program(torch):
        optimizer = made_optimizer(torch)
        scheduler, path = made(torch, spelling, optimizer), []
        optimizer.step()
        for epoch in (3, 0, 7):
            scheduler.step(epoch)
            path.append(facts(optimizer, scheduler))
        return path

    check(program)


@pytest.mark.parametrize("spelling", WITH_EPOCH)
def test_going_on_from_an_epoch(spelling):
    def program(torch):
        optimizer = made_optimizer(torch)
        for i, group in enumerate(optimizer.param_groups):
            group.update(initial_lr=1.0 + i, max_lr=2.0 + i, min_lr=0.1, max_momentum=0.9, base_momentum=0.8)
        scheduler = made(torch, spelling[:-1] + ", last_epoch=2)", optimizer)
        path = [facts(optimizer, scheduler)]
        for _ in range(3):
            optimizer.step()
            scheduler.step()
            path.append(facts(optimizer, scheduler))
        return path

    check(program)


# ---- plateaus ----------------------------------------------------------------------------------------------

METRICS = [1.0, 0.9, 0.9, 0.95, 0.90001, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.9, 0.9, 0.9]


@pytest.mark.parametrize(
    "options",
    (
        "patience=2",
        "mode='max', patience=1, factor=0.5",
        "patience=0, cooldown=2, min_lr=[0.01, 0.2]",
        "patience=1, threshold=0.05, threshold_mode='abs', min_lr=0.3",
        "patience=0, factor=0.99999999, eps=1e-3",
        "mode='max', threshold_mode='abs', patience=0, threshold=0.3",
    ),
)
def test_plateau(options):
    def program(torch):
        optimizer = made_optimizer(torch)
        scheduler, path = made(torch, f"ReduceLROnPlateau(o, {options})", optimizer), []
        for metric in METRICS:
            scheduler.step(torch.tensor(metric) if metric == 0.9 else metric)
            path.append([*facts(optimizer, scheduler), scheduler.num_bad_epochs, scheduler.in_cooldown])
        other = made(torch, "ReduceLROnPlateau(o)", optimizer)
        other.load_state_dict(scheduler.state_dict())
        return path, scheduler.best, sorted(scheduler.state_dict()), other.patience, other.best

    check(program, 1e-7)


def plateau_with_a_new_group(torch):
    optimizer = made_optimizer(torch)
    scheduler = made(torch, "ReduceLROnPlateau(o, patience=0)", optimizer)
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]})
    for _ in range(3):
        scheduler.step(1.0)
    return facts(optimizer, scheduler)


def plateau_with_too_few_smallest_rates(torch):
    optimizer = made_optimizer(torch)
    scheduler = made(torch, "ReduceLROnPlateau(o, patience=0, min_lr=[0.1, 0.1])", optimizer)
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]})
    for _ in range(3):
        scheduler.step(1.0)


# ---- order, warnings, objects ------------------------------------------------------------------------------


def scheduler_before_optimizer(torch):
    optimizer = made_optimizer(torch)
    scheduler = made(torch, "StepLR(o, 1)", optimizer)
    scheduler.step()
    return facts(optimizer, scheduler)


def step_replaced_after_the_scheduler(torch):
    optimizer = made_optimizer(torch)
    scheduler = made(torch, "StepLR(o, 1)", optimizer)
    optimizer.step = lambda: None
    optimizer.step()
    scheduler.step()
    return facts(optimizer, scheduler)


def rates_asked_for_by_hand(torch):
    return made(torch, "ExponentialLR(o, 0.5)", made_optimizer(torch)).get_lr()


def right_order_does_not_warn(torch):
    optimizer = made_optimizer(torch)
    scheduler = made(torch, "ExponentialLR(o, 0.5)", optimizer)
    optimizer.step()
    scheduler.step()
    return scheduler.get_last_lr()


def two_schedulers_multiply(torch):
    optimizer = made_optimizer(torch)
    first, second, path = made(torch, "StepLR(o, 2)", optimizer), made(torch, "LinearLR(o)", optimizer), []
    for _ in range(6):
        optimizer.step()
        first.step()
        second.step()
        path.append(facts(optimizer, second))
    return path


def callable_object_is_saved(torch):
    class Decay:
        def __init__(self, base):
            self.base = base

        def __call__(self, epoch):
            return self.base**epoch

    optimizer = made_optimizer(torch)
    schedulers = schedulers_of(torch)
    scheduler = schedulers.LambdaLR(optimizer, [Decay(0.5), lambda epoch: 1.0])
    saved = scheduler.state_dict()
    other = schedulers.LambdaLR(made_optimizer(torch), [Decay(0.1), lambda epoch: 1.0])
    other.load_state_dict(saved)
    return saved["lr_lambdas"], other.lr_lambdas[0].base, sorted(saved)


def rates_are_copies(torch):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], torch.tensor(1.0))
    scheduler = made(torch, "StepLR(o, 5)", optimizer)
    scheduler.get_last_lr()[0].fill_(7.0)
    return optimizer.param_groups[0]["lr"], scheduler.base_lrs


def pickled_and_copied(torch):
    optimizer = made_optimizer(torch)
    made(torch, "StepLR(o, 5)", optimizer)
    other = pickle.loads(pickle.dumps(optimizer))
    copied = copy.deepcopy(optimizer)
    return other.state_dict(), copied.state_dict()


def old_name(torch):
    schedulers = schedulers_of(torch)
    return schedulers._LRScheduler.__name__, isinstance(made(torch, "StepLR(o, 1)", made_optimizer(torch)),
                                                        schedulers.LRScheduler)


@programs(
    plateau_with_a_new_group,
    plateau_with_too_few_smallest_rates,
    scheduler_before_optimizer,
    step_replaced_after_the_scheduler,
    rates_asked_for_by_hand,
    right_order_does_not_warn,
    two_schedulers_multiply,
    callable_object_is_saved,
    rates_are_copies,
    pickled_and_copied,
    old_name,
)
def test_program(program):
    check(program, 1e-7)


REFUSED = [
    "StepLR(7, 1)",
    "ReduceLROnPlateau(7)",
    "CyclicLR(7, 0.1, 1.0)",
    "OneCycleLR(7, 1.0, 10)",
    "StepLR(o, 1, last_epoch=3)",
    "LambdaLR(o, [abs])",
    "MultiplicativeLR(o, [abs])",
    "MultiplicativeLR(o, 3)",
    "ConstantLR(o, 2.0)",
    "LinearLR(o, 0.0)",
    "LinearLR(o, 0.5, 1.5)",
    "CosineAnnealingWarmRestarts(o, 0)",
    "CosineAnnealingWarmRestarts(o, 2, 0)",
    "CosineAnnealingWarmRestarts(o, 2, 1, 'a')",
    "CosineAnnealingWarmRestarts(o, 2).step(-1)",
    "ReduceLROnPlateau(o, factor=1.0)",
    "ReduceLROnPlateau(o, mode='most')",
    "ReduceLROnPlateau(o, threshold_mode='most')",
    "ReduceLROnPlateau(o, min_lr=[0.1])",
    "CyclicLR(o, 0.1, 1.0, mode='round')",
    "CyclicLR(o, [0.1], 1.0)",
    "OneCycleLR(o, 1.0)",
    "OneCycleLR(o, 1.0, 0)",
    "OneCycleLR(o, 1.0, epochs=2, steps_per_epoch=-1)",
    "OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=1)",
    "OneCycleLR(o, 1.0, 10, pct_start=2.0)",
    "OneCycleLR(o, 1.0, 10, anneal_strategy='square')",
    "OneCycleLR(o, [1.0], 10)",
    "SequentialLR(o, [], [])",
    "SequentialLR(o, [StepLR(o, 1), StepLR(o, 2)], [])",
    "SequentialLR(o, [ReduceLROnPlateau(o)], [])",
    "SequentialLR(o, [7], [])",
    "ChainedScheduler([])",
    "ChainedScheduler([ReduceLROnPlateau(o)])",
    "SWALR(o, 0.1, anneal_strategy='square')",
    "SWALR(o, 0.1, anneal_epochs=-1)",
    "SWALR(o, [0.1])",
    "LRScheduler(o)",
]


@pytest.mark.parametrize("spelling", REFUSED)
def test_refusal(spelling):
    check(lambda torch: repr(type(made(torch, spelling, made_optimizer(torch)))))


def test_momentum_to_cycle_is_needed():
    def program(torch):
        optimizer = torch.optim.Adagrad([torch.nn.Parameter(torch.ones(1))], 0.1)
        return made(torch, "CyclicLR(o, 0.1, 1.0)", optimizer)

    check(program)


def test_one_cycle_ends():
    def program(torch):
        optimizer = made_optimizer(torch)
        scheduler = made(torch, "OneCycleLR(o, 1.0, 3)", optimizer)
        for _ in range(5):
            optimizer.step()
            scheduler.step()

    check(program)


# ---- averages ----------------------------------------------------------------------------------------------

AVERAGES = {
    "equal": {},
    "ema": {"avg_fn": ("get_ema_avg_fn", 0.8)},
    "ema of lists": {"multi_avg_fn": ("get_ema_multi_avg_fn", 0.8)},
    "equal, of lists": {"multi_avg_fn": ("get_swa_multi_avg_fn",)},
    "buffers": {"multi_avg_fn": ("get_ema_multi_avg_fn", 0.5), "use_buffers": True},
    "both": {"avg_fn": ("get_swa_avg_fn",), "multi_avg_fn": ("get_swa_multi_avg_fn",)},
}


def averaging_options(torch, options):
    swa = swa_of(torch)
    return {k: getattr(swa, v[0])(*v[1:]) if isinstance(v, tuple) else v for k, v in options.items()}


@pytest.mark.parametrize("name", AVERAGES)
def test_averaged_model(name):
    def program(torch):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        model.register_buffer("count", torch.zeros(1))
        averaged = swa_of(torch).AveragedModel(model, **averaging_options(torch, AVERAGES[name]))
        for step in range(5):
            with torch.no_grad():
                model.weight += step
                model.bias *= 0.5
                model.count += 1
            averaged.update_parameters(model)
        return averaged.state_dict(), averaged(torch.ones(1, 3)), averaged.n_averaged

    check(program, 1e-6)


def decay_out_of_range(torch):
    return swa_of(torch).get_ema_multi_avg_fn(1.5)


def integer_buffers(torch):
    averages, values = [torch.tensor([4, 8])], [torch.tensor([8, 0])]
    swa_of(torch).get_ema_multi_avg_fn(0.5)(averages, values, 1)
    return averages


def statistics_are_computed_anew(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4, momentum=0.3))
    batches = [torch.randn(5, 3) for _ in range(3)]
    model.eval()
    swa_of(torch).update_bn([(b, 0) for b in batches], model)
    return model[1].running_mean, model[1].running_var, model[1].momentum, model.training


def model_without_batch_norm(torch):
    return swa_of(torch).update_bn(None, torch.nn.Linear(1, 1))


@programs(decay_out_of_range, integer_buffers, statistics_are_computed_anew, model_without_batch_norm)
def test_averaging(program):
    check(program, 1e-5)
