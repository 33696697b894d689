"""Samples for teachtorch/ops/special.py."""
from tests.samples import positive, sample, x
from tests.samples.elementary import UNIT, arrays, with_whole_numbers
from tests.samples.pointwise import pairs, tensor_pairs


def above_one(*shape, seed=0):
    """Values from 1.5 to 3: where the zeta function converges and mvlgamma of dimension 2 is defined."""
    return x(*shape, seed=seed, low=1.5, high=3.0)


def constant(samples):
    """The same without a check by differences: the first operand has no derivative."""
    return [sample(*s.args, gradient=False, **s.kwargs) for s in samples]


SAMPLES = {
    "special_entr": with_whole_numbers(positive),
    "special_xlog1py": pairs(x, positive),
    "special_erfcx": with_whole_numbers(),
    "special_ndtr": with_whole_numbers(),
    "special_log_ndtr": with_whole_numbers(),
    "special_ndtri": arrays(UNIT),
    "special_i0e": with_whole_numbers(positive),
    "special_i1e": with_whole_numbers(positive),
    "special_zeta": constant(pairs(above_one, positive)),
    "igamma": constant(tensor_pairs(positive, positive)),
    "igammac": constant(tensor_pairs(positive, positive)),
    "mvlgamma": [sample(above_one(3), 2), sample(above_one(2, 2), 1), sample(above_one(), 2)],
}
