"""What shapes, dtypes and numbers make impossible is refused at the launch, in the CPU's words, as on the CPU.

What only the data show (an index out of range) is reported at the next synchronisation: the launch cannot know it.
"""

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.dispatch.operator import registry
from teachtorch.memory.runtime import runtime_of
from tests.samples import all_samples
from tests.sim.test_operators import HOST_ONLY, on

CALLS = {
    "normal_ of integers": lambda x: x.long().normal_(),
    "normal_ with std < 0": lambda x: x.normal_(0, -1),
    "uniform_ of an empty interval": lambda x: x.uniform_(3, -1),
    "uniform_ of bools": lambda x: x.bool().uniform_(),
    "exponential_ of rate 0": lambda x: x.exponential_(0),
    "cauchy_ of integers": lambda x: x.long().cauchy_(),
    "log_normal_ with std 0": lambda x: x.log_normal_(0, 0),
    "geometric_ with p < 0": lambda x: x.geometric_(-1),
    "bernoulli_ with p > 1": lambda x: x.bernoulli_(2),
    "bernoulli_ of too many probabilities": lambda x: x.bernoulli_(torch.rand(5, 4, device=x.device)),
    "bernoulli with p > 1": lambda x: torch.bernoulli(x, 1.5),
    "bernoulli of integers": lambda x: torch.bernoulli(x.long()),
    "random_ of an empty interval": lambda x: x.random_(5, 5),
    "random_ out of uint8's range": lambda x: x.to(torch.uint8).random_(0, 1000),
    "randint of an empty interval": lambda x: torch.randint(3, 3, (2,), device=x.device),
    "rand_like of integers": lambda x: torch.rand_like(x.long()),
    "randn of integers": lambda x: torch.randn(3, dtype=torch.int64, device=x.device),
    "normal with means of integers": lambda x: torch.normal(x.long(), 1.0),
    "multinomial of too many": lambda x: torch.multinomial(x, 9),
    "multinomial of integers": lambda x: torch.multinomial(x.long(), 1),
    "copy_ of another shape": lambda x: x.copy_(x.new_ones(3, 5)),
    "copy_ of more dimensions": lambda x: x.copy_(x.new_ones(2, 3, 4)),
    "copy_ of a string": lambda x: x.copy_("three"),
    "fill_ with a vector": lambda x: x.fill_(x.new_ones(1)),
    "fill_ out of int8's range": lambda x: x.to(torch.int8).fill_(300),
    "fill with a vector": lambda x: torch.fill(x, x.new_ones(1)),
    "fill_diagonal_ of a vector": lambda x: x[0].fill_diagonal_(1),
    "fill_diagonal_ of a box": lambda x: x.new_ones(2, 2, 3).fill_diagonal_(1),
    "histc of integers": lambda x: torch.histc(x.long()),
    "histc of no bins": lambda x: torch.histc(x, 0),
    "histc from above to below": lambda x: torch.histc(x, 4, 2, 1),
    "searchsorted of unlike rows": lambda x: torch.searchsorted(x, x.new_ones(2, 4)),
    "searchsorted on two sides": lambda x: torch.searchsorted(x, x, side="left", right=True),
    "as_strided_scatter of another shape": lambda x: x.as_strided_scatter(x, (2, 2), (1, 2)),
    "as_strided_scatter out of bounds": lambda x: x.as_strided_scatter(x[:2, :2], (2, 2), (200, 200)),
    "as_strided_scatter onto itself": lambda x: x.as_strided_scatter(x[:2, :2], (2, 2), (1, 0)),
    "an in-place result of another shape": lambda x: x.add_(x.new_ones(2, 3, 4)),
    "scatter_ of itself": lambda x: x.scatter_(0, x.long(), x),
    "index_copy_ of itself": lambda x: x.index_copy_(0, torch.arange(len(x), device=x.device), x),
    "index_add_ of itself": lambda x: x.index_add_(0, torch.arange(len(x), device=x.device), x),
    "put_ of itself": lambda x: x.put_(x.long(), x),
    "masked_fill_ of another shape": lambda x: x.masked_fill_(x.new_ones(2, 3, 4) > 0, 1),
}


def refusal(call, device):
    """The error of a call, which must come before any synchronisation."""
    torch.manual_seed(0)
    with pytest.raises(Exception) as info:
        call(torch.rand(3, 4).to(device))
    assert not isinstance(info.value, torch.AcceleratorError)
    return f"{type(info.value).__name__}: {info.value}".replace("sim:0", "cpu")


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_comes_at_the_launch(name, sim_at_rest):
    assert refusal(CALLS[name], "sim") == refusal(CALLS[name], "cpu")
    sim_at_rest.synchronize()  # nothing else went wrong


# ---- every operator ----------------------------------------------------------------------------------------

OF_THE_DATA = ("out of bounds", "out of range", "is out of", "tried to access", "invalid max index", "number of ones")
# Called by other operators alone, with arguments that these have checked.
INTERNAL = {"_scaled_dot_product_flash_attention_for_cpu", "_linear_recurrence", "recurrent_layer",
            "binary_cross_entropy", "im2col", "col2im", "ctc_loss", "higher_polygamma",
            "multi_margin_loss"}  # fmt: skip
SAMPLES = all_samples()
NAMES = sorted(
    name
    for name, op in registry.items()
    if op.info is not None and op.info.name in SAMPLES and name not in HOST_ONLY | INTERNAL and "backward" not in name
)


def spoiled(sample):
    """The sample with one tensor of another shape or dtype, or one number of another sign."""
    for place, value in enumerate(sample.args):
        for other in others(value):
            yield [*sample.args[:place], other, *sample.args[place + 1 :]]


def others(value):
    if isinstance(value, np.ndarray):
        yield value[None]
        if value.ndim and value.shape[-1] > 1:
            yield value[..., :-1]
        if value.dtype == np.float64:
            yield np.ones(value.shape, np.int64)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield -value - 1


def outcome(name, args, kwargs, device):
    """(the error at the call, the one at the next synchronisation)."""
    op = registry[name]
    args, kwargs = [on(device, a, False) for a in args], {k: on(device, v, False) for k, v in kwargs.items()}
    if op.info.kind == "factory":
        kwargs["device"] = device
    now = late = None
    try:
        (op.public if name.endswith("_") else op.info.public)(*args, **kwargs)
    except Exception as error:
        now = error
    try:
        runtime_of("sim").synchronize()
    except torch.AcceleratorError as error:
        late = error.__cause__
    return now, late


@pytest.mark.parametrize("name", NAMES)
def test_only_the_data_surface_late(name):
    late = []
    for args in [args for sample in SAMPLES[registry[name].info.name][:2] for args in spoiled(sample)]:
        kwargs = SAMPLES[registry[name].info.name][0].kwargs
        found = outcome(name, args, kwargs, "sim")[1]
        if found is not None and not any(words in str(found) for words in OF_THE_DATA):
            late.append(f"{type(found).__name__}: {found}")
    assert late == []
