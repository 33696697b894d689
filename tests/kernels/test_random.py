"""Facts about the streams and distributions of kernels/random.py that need no PyTorch to check."""
import copy
import math
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

from teachtorch.kernels import box_muller, random
from teachtorch.kernels.random import Generator, fill_in_memory_order

FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), np.dtype(np.float64)]
INTEGERS = [np.dtype(name) for name in ("uint8", "int8", "int16", "int32", "int64")]
ALL = [*FLOATS, *INTEGERS, np.dtype(bool)]


def names(dtypes):
    return [dtype.name for dtype in dtypes]


def z_score(samples, mean, variance):
    """How many standard errors the sample mean is away from the true mean."""
    return abs(samples.astype(np.float64).mean() - mean) / math.sqrt(variance / samples.size)


# The stream

def test_the_10000th_number_of_seed_5489_is_the_one_the_cpp_standard_names():
    assert Generator(5489).words(10000)[-1] == 4123659995


@pytest.mark.parametrize("cuts", [[1] * 40, [7, 300, 1, 700, 992], [2000]])
def test_words_do_not_depend_on_how_many_are_asked_for_at_once(cuts):
    whole = Generator(3).words(2000)
    generator = Generator(3)
    pieces = np.concatenate([generator.words(n) for n in cuts])
    assert np.array_equal(pieces, whole[:len(pieces)])


@pytest.mark.parametrize("n", [5, 500])
def test_a_long_word_has_the_first_word_as_its_high_half(n):
    words = Generator(3).words(2 * n).astype(np.uint64)
    assert np.array_equal(Generator(3).long_words(n), (words[0::2] << np.uint64(32)) + words[1::2])


def test_known_first_numbers_of_pytorch():
    assert np.allclose(Generator(42).uniform((3,), np.float32), [0.8823, 0.9150, 0.3829], atol=5e-5)
    assert np.allclose(Generator(0).normal((3,), np.float32), [1.5410, -0.2934, -2.1788], atol=5e-5)
    assert Generator(0).randperm(4).tolist() == [0, 1, 3, 2]


# Seeds and states

def test_only_the_low_32_bits_of_a_seed_select_the_stream():
    assert np.array_equal(Generator(5).words(4), Generator(5 + 2 ** 32).words(4))
    assert Generator(5 + 2 ** 32).initial_seed() == 5 + 2 ** 32


def test_a_negative_seed_counts_down_from_2_to_the_64():
    assert Generator(-1).initial_seed() == 2 ** 64 - 1


@pytest.mark.parametrize("seed", [2 ** 64, -2 ** 63 - 1])
def test_a_seed_must_fit_in_64_bits(seed):
    with pytest.raises(ValueError, match="Overflow"):
        Generator().manual_seed(seed)


def test_manual_seed_returns_the_generator_and_forgets_the_kept_normal():
    generator = Generator(1)
    first = generator.normal((3,), np.float64)
    assert generator.manual_seed(1) is generator
    assert np.array_equal(generator.normal((3,), np.float64), first)


def test_seed_restarts_from_a_new_seed_and_returns_it():
    generator = Generator(1)
    seed = generator.seed()
    assert generator.initial_seed() == seed
    assert np.array_equal(generator.words(3), Generator(seed).words(3))


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 2000])
def test_set_state_continues_where_get_state_was_taken(drawn):
    generator = Generator(9)
    generator.words(drawn)
    state = generator.get_state()
    expected = generator.words(700)
    other = Generator(1)
    other.set_state(state)
    assert np.array_equal(other.get_state(), state)
    assert np.array_equal(other.words(700), expected)
    assert other.initial_seed() == 9


def test_a_state_keeps_the_second_normal_of_a_pair():
    generator = Generator(9)
    generator.normal((3,), np.float64)
    state = generator.get_state()
    expected = generator.normal((5,), np.float64)
    other = Generator(1)
    other.set_state(state)
    assert np.array_equal(other.normal((5,), np.float64), expected)


def test_a_state_is_a_copy_of_5056_bytes():
    generator = Generator(9)
    state = generator.get_state()
    assert state.shape == (5056,) and state.dtype == np.uint8
    before = state.copy()
    generator.words(1)
    assert np.array_equal(state, before)


def test_what_is_not_a_state_is_refused():
    with pytest.raises(RuntimeError, match="size 5056 but found the input RNG state size to be 56"):
        Generator().set_state(np.zeros(56, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        Generator().set_state(np.zeros(5056, np.uint8))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))],
                         ids=["deepcopy", "pickle"])
def test_a_copied_generator_continues_on_its_own(duplicate):
    generator = Generator(9)
    generator.words(5)
    twin = duplicate(generator)
    expected = generator.words(5)
    assert np.array_equal(twin.words(5), expected)


def test_an_empty_shape_draws_nothing():
    generator = Generator(9)
    before = generator.get_state()
    for name in ("uniform", "normal", "exponential", "log_normal", "cauchy"):
        assert getattr(generator, name)((0, 3), np.float32).shape == (0, 3)
    assert generator.randint((0,), np.int64, 0, 5).shape == (0,)
    assert generator.bernoulli((2, 0), np.float32, 0.5).shape == (2, 0)
    assert generator.randperm(0).shape == (0,) and generator.randperm(1).tolist() == [0]
    assert np.array_equal(generator.get_state(), before)


def test_threads_share_a_stream_without_losing_or_repeating_numbers():
    generator = Generator(4)
    drawn = [[] for _ in range(4)]

    def draw_into(pieces):
        for _ in range(200):
            pieces.append(generator.long_words(3))

    threads = [threading.Thread(target=draw_into, args=(pieces,)) for pieces in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.concatenate([piece for pieces in drawn for piece in pieces])
    assert np.array_equal(np.sort(together), np.sort(Generator(4).long_words(4 * 200 * 3)))


def test_the_default_generator_can_be_seeded():
    assert random.manual_seed(11) is random.default_generator
    assert np.array_equal(random.default_generator.words(3), Generator(11).words(3))


# Continuous distributions

@pytest.mark.parametrize("dtype", FLOATS, ids=names(FLOATS))
@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-2.0, 3.0), (1.0, 1.0)])
def test_uniform_stays_below_its_upper_bound(dtype, low, high):
    samples = Generator(1).uniform((100, 200), dtype, low, high)
    assert samples.dtype == dtype and samples.shape == (100, 200)
    assert (samples >= low).all() and ((samples < high).all() or low == high)


def test_uniform_has_the_moments_of_the_uniform():
    samples = Generator(1).uniform((40000,), np.float32, -2.0, 3.0)
    assert z_score(samples, 0.5, 25 / 12) < 4
    assert z_score((samples - 0.5) ** 2, 25 / 12, 625 / 180) < 4


@pytest.mark.parametrize("dtype", FLOATS, ids=names(FLOATS))
@pytest.mark.parametrize("contiguous", [True, False])
def test_normal_has_the_moments_of_the_normal(dtype, contiguous):
    samples = Generator(2).normal((40003,), dtype, 1.0, 2.0, contiguous=contiguous)
    assert samples.dtype == dtype
    assert z_score(samples, 1, 4) < 4
    standard = (samples.astype(np.float64) - 1) / 2
    assert z_score(standard ** 2, 1, 2) < 5
    assert abs((np.abs(standard) < 1.96).mean() - 0.95) < 0.01


@pytest.mark.parametrize("draw", [
    lambda g: g.uniform((50,), np.float64, -8e307, 8e307), lambda g: g.normal((50,), np.float64, 1.0, 1e305)])
def test_huge_float64_numbers_stay_finite(draw):
    assert np.isfinite(draw(Generator(2))).all()


def test_float32_normal_is_box_muller_in_blocks_of_16():
    uniforms = Generator(2).uniform((32,), np.float32).astype(np.float64).reshape(2, 2, 8)
    radius = np.sqrt(-2 * np.log(1 - uniforms[:, 0]))
    angle = 2 * np.pi * uniforms[:, 1]
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
    assert np.allclose(Generator(2).normal((32,), np.float32), expected, rtol=0, atol=2e-6)


def test_an_incomplete_last_block_is_drawn_again():
    samples = Generator(2).normal((20,), np.float32)
    assert np.array_equal(samples[:4], Generator(2).normal((16,), np.float32)[:4])
    again = Generator(2)
    again.words(20)
    assert np.array_equal(samples[4:], again.normal((16,), np.float32))


def test_few_normals_come_in_pairs_and_the_second_waits():
    one_by_one = Generator(2)
    singles = [one_by_one.normal((), np.float64).item() for _ in range(6)]
    assert np.array_equal(Generator(2).normal((6,), np.float64), singles)


def test_exponential_log_normal_and_cauchy_have_their_known_moments():
    assert z_score(Generator(3).exponential((40000,), np.float32, 2.0), 0.5, 0.25) < 4
    logs = np.log(Generator(3).log_normal((40000,), np.float64, 1.0, 0.5))
    assert z_score(logs, 1.0, 0.25) < 4
    cauchy = Generator(3).cauchy((40000,), np.float64, 2.0, 3.0)
    assert np.allclose(np.quantile(cauchy, [0.25, 0.5, 0.75]), [-1, 2, 5], atol=0.15)


# Discrete distributions

def test_geometric_counts_the_trials_up_to_the_first_success():
    samples = Generator(3).geometric((40000,), np.int64, 0.25)
    assert samples.min() == 1
    assert z_score(samples, 4, 12) < 4


@pytest.mark.parametrize("dtype", ALL, ids=names(ALL))
def test_bernoulli_gives_ones_and_zeros_of_any_dtype(dtype):
    samples = Generator(3).bernoulli((40000,), dtype, 0.3)
    assert samples.dtype == dtype and set(np.unique(samples.astype(np.float32))) == {0, 1}
    assert z_score(samples, 0.3, 0.21) < 4


def test_bernoulli_takes_a_probability_per_element():
    p = np.array([[0.0, 1.0, 0.5]])
    samples = Generator(3).bernoulli((4000, 3), np.float32, p)
    assert not samples[:, 0].any() and samples[:, 1].all()
    assert z_score(samples[:, 2], 0.5, 0.25) < 4


def test_dropout_keeps_the_expectation():
    mask = Generator(3).dropout_mask((40000,), np.float32, 0.2)
    assert set(np.unique(mask)) == {0, np.float32(1.25)}
    assert z_score(mask, 1, 0.25) < 4


@pytest.mark.parametrize("low, high", [(0, 10), (-7, 13), (0, 1)])
def test_randint_is_flat_on_its_interval(low, high):
    samples = Generator(3).randint((50000,), np.int64, low, high)
    counts = np.bincount(samples - low, minlength=high - low)
    expected = samples.size / (high - low)
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert len(counts) == high - low
    assert chi_square < (high - low) + 5 * math.sqrt(2 * (high - low))


@pytest.mark.parametrize("low, high", [(-2 ** 63, 2 ** 63 - 1), (0, 2 ** 40), (-2 ** 31, 2 ** 31)])
def test_randint_reaches_both_ends_of_a_wide_interval(low, high):
    samples = Generator(3).randint((2000,), np.int64, low, high)
    span = high - low
    assert low <= samples.min() < low + span // 100 and high - span // 100 < samples.max() < high


@pytest.mark.parametrize("dtype", INTEGERS, ids=names(INTEGERS))
def test_random_without_bounds_is_never_negative(dtype):
    samples = Generator(3).random((2000,), dtype)
    assert samples.dtype == dtype and samples.min() >= 0
    assert samples.max() > np.iinfo(dtype).max * 0.98


def test_random_of_a_float_counts_up_to_2_to_the_mantissa_bits():
    samples = Generator(3).random((2000,), np.float32)
    assert np.array_equal(samples, np.floor(samples)) and 2 ** 23 < samples.max() <= 2 ** 24


@pytest.mark.parametrize("n", [0, 1, 2, 10, 1000, 70000])
def test_randperm_is_a_permutation(n):
    permutation = Generator(3).randperm(n)
    assert permutation.dtype == np.int64
    assert np.array_equal(np.sort(permutation), np.arange(n))


def test_the_compiled_shuffle_is_the_interpreted_one(monkeypatch):
    compiled = Generator(3).randperm(random._COMPILED_SHUFFLE)
    monkeypatch.setattr(random, "_COMPILED_SHUFFLE", random._COMPILED_SHUFFLE + 1)
    assert np.array_equal(Generator(3).randperm(len(compiled)), compiled)


def test_randperm_gives_all_orders_equally_often():
    generator = Generator(3)
    orders = [tuple(generator.randperm(3).tolist()) for _ in range(6000)]
    counts = np.array([orders.count(order) for order in set(orders)])
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5   # chi square with 5 degrees of freedom: p = 0.001


def test_multinomial_draws_by_weight_with_replacement():
    weights = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 0.0, 5.0, 0.0]])
    samples = Generator(3).multinomial(weights, 8000, replacement=True)
    assert samples.shape == (2, 8000) and samples.dtype == np.int64
    assert np.allclose(np.bincount(samples[0], minlength=4) / 8000, [0.25, 0.5, 0, 0.25], atol=0.03)
    assert (samples[1] == 2).all()


def test_multinomial_without_replacement_never_repeats():
    samples = Generator(3).multinomial(np.ones((500, 6), np.float32), 4)
    assert all(len(set(row)) == 4 for row in samples.tolist())
    first = np.bincount(samples[:, 0], minlength=6)
    assert ((first - 500 / 6) ** 2 / (500 / 6)).sum() < 20.5


# Layout and errors

def test_a_permuted_array_is_filled_in_the_order_of_memory():
    out = np.empty((3, 5), np.float32).T
    fill_in_memory_order(out, lambda shape: Generator(3).uniform(shape, np.float32))
    assert np.array_equal(out.T, Generator(3).uniform((3, 5), np.float32))


@pytest.mark.parametrize("call, message", [
    (lambda g: g.uniform((1,), np.float32, 1, 0), "found from=1 > to=0"),
    (lambda g: g.uniform((1,), np.float32, 0, 1e40), "to is out of bounds for float"),
    (lambda g: g.normal((1,), np.float32, 0, -1.5), "normal expects std >= 0.0, but found std -1.5"),
    (lambda g: g.log_normal((1,), np.float32, 0, 0), "log_normal_ expects std > 0.0, but found std=0"),
    (lambda g: g.cauchy((1,), np.float32, 0, 0), "cauchy_ expects sigma > 0.0, but found sigma=0"),
    (lambda g: g.exponential((1,), np.float32, 0), "exponential_ expects lambda > 0.0, but found lambda=0"),
    (lambda g: g.exponential((1,), np.int64), "continuous probability distribution.*Long"),
    (lambda g: g.geometric((1,), np.float32, 1), r"geometric_ expects p to be in \(0, 1\), but got p=1"),
    (lambda g: g.bernoulli((1,), np.float32, 1.5), r"bernoulli_ expects p to be in \[0, 1\], but got p=1.5"),
    (lambda g: g.bernoulli((1,), np.float32, np.array([2.0])), "Expected p_in >= 0 && p_in <= 1"),
    (lambda g: g.randint((1,), np.int64, 5, 5), "'from' to be less than 'to', but got from=5 >= to=5"),
    (lambda g: g.randint((1,), np.uint8, 0, 257), "to - 1 is out of bounds for unsigned char"),
    (lambda g: g.random((1,), np.int32, -2 ** 63), "handles only int64, double, float and bfloat16"),
    (lambda g: g.randperm(-1), "negative dimension -1"),
    (lambda g: g.randperm(2050, np.float16), "n cannot be greater than 2049 for Half type"),
    (lambda g: g.randperm(300, np.uint8), "value cannot be converted to type uint8_t without overflow"),
    (lambda g: g.multinomial(np.ones(3), 0), "cannot sample n_sample <= 0 samples"),
    (lambda g: g.multinomial(np.ones(3), 4), r"cannot sample n_sample > prob_dist.size\(-1\) samples"),
    (lambda g: g.multinomial(np.ones((1, 1, 1)), 1), "prob_dist must be 1 or 2 dim"),
    (lambda g: g.multinomial(np.zeros(3), 1), r"sum of probabilities <= 0"),
    (lambda g: g.multinomial(np.array([1.0, -1.0]), 1), "contains either `inf`, `nan` or element < 0"),
    (lambda g: g.multinomial(np.ones(3, np.int64), 1), "only supports floating-point dtypes .* got: Long"),
])
def test_impossible_requests_are_refused_in_pytorchs_words(call, message):
    generator = Generator(3)
    before = generator.get_state()
    with pytest.raises(RuntimeError, match=message):
        call(generator)
    assert np.array_equal(generator.get_state(), before)


@pytest.mark.parametrize("call, kernel", [
    (lambda g: g.uniform((1,), np.int64), "check_uniform_bounds"),
    (lambda g: g.normal((1,), np.int64), "normal_kernel_cpu"),
    (lambda g: g.log_normal((1,), np.int64), "log_normal_cpu"),
])
def test_a_float_distribution_has_no_integer_version(call, kernel):
    with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for 'Long'"):
        call(Generator(3))


def test_numbers_that_a_float_cannot_count_to_are_warned_about():
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]"):
        Generator(3).randint((1,), np.float32, 0, 2 ** 25)


def test_compiled_normals_are_those_of_numpy_bit_by_bit():
    uniforms = np.random.default_rng(0).integers(0, 1 << 24, 1 << 16).astype(np.float32) / np.float32(1 << 24)
    uniforms[:64] = [0, 1 - 2.0**-24, 2.0**-24, 0.5] * 16
    assert len(uniforms) > box_muller.SMALL >= 1024
    parts = [box_muller.box_muller(part, 0.3, 1.7) for part in uniforms.reshape(-1, 1024)]
    found = box_muller.box_muller(uniforms, 0.3, 1.7)
    np.testing.assert_array_equal(found.view(np.int32), np.concatenate(parts).view(np.int32))
