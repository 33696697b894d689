"""Random numbers as tensors against PyTorch: one seed gives the same numbers, and the streams stay together."""
import pickle

import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import assert_same_error, assert_same_result, evaluated  # noqa: E402

import teachtorch  # noqa: E402

CALLS = """torch.rand(5) | torch.rand(2, 3, dtype=torch.float64) | torch.rand((), dtype=torch.float16)
torch.randn(3) | torch.randn(40) | torch.randn(2, 3, out=torch.empty(0)) | torch.randint(5, (7,))
torch.randint(-3, 9, (2, 3), dtype=torch.int16) | torch.randint(low=2, high=4, size=(3,))
torch.randint(0, 5, (3,), dtype=torch.float32) | torch.randperm(9) | torch.randperm(5, dtype=torch.int32)
torch.normal(0.0, 2.0, (20,)) | torch.normal(1.0, 0.5, (3,)) | torch.normal(x, 1.0)
torch.normal(0.0, x.abs()) | torch.normal(x, x.abs()) | torch.normal(mean=0.0, std=1.0, size=(3,))
torch.bernoulli(x.abs() / 2) | torch.bernoulli(x, 0.3) | torch.bernoulli(x.abs().double() / 2)
torch.multinomial(x.abs(), 2) | torch.multinomial(x.abs()[0], 9, True) | torch.rand_like(x)
torch.randn_like(x.t()) | torch.randn_like(p) | torch.randint_like(x, 5) | torch.randint_like(i, 1, 4)
torch.rand_like(i, dtype=torch.float32) | x.uniform_() | x.uniform_(-1, 2) | x.t().uniform_() | x.normal_()
p.normal_(1, 2) | x[:, ::2].normal_() | i.random_() | i.random_(7) | i.random_(2, 5) | u.random_()
x.random_() | x.bernoulli_() | i.bernoulli_(0.3) | x.bernoulli_(x.abs() / 2) | x.exponential_()
x.exponential_(0.5) | x.geometric_(0.3) | x.cauchy_() | x.cauchy_(1, 2) | x.log_normal_()
torch.rand(3, generator=torch.Generator().manual_seed(5))
x.uniform_(generator=torch.Generator().manual_seed(2)) | torch.rand(0) | e.normal_()
torch.rand(3, device="cpu")""".replace("\n", " | ").split(" | ")

ERRORS = """torch.randint(5, 0, (2,)) | torch.randint(0, 0, (2,)) | torch.randint(5, 2)
torch.rand(2, dtype=torch.int64) | torch.rand(-1) | torch.randn(2, dtype=torch.int64) | torch.randperm(-1)
torch.normal(x, -1.0) | torch.normal(x, -x.abs()) | torch.normal(0.0, -1.0, (2,)) | torch.bernoulli(x * 9)
torch.bernoulli(i) | x.bernoulli_(2.0) | x.bernoulli_(torch.tensor([0.1, 0.2])) | x.uniform_(1, 0)
i.uniform_() | i.normal_() | x.random_(5, 3) | x.exponential_(-1) | x.geometric_(2) | x.cauchy_(sigma=-1)
x.log_normal_(std=-1) | torch.multinomial(x.abs(), 9) | torch.multinomial(i, 2)
torch.multinomial(x.abs(), 2, out=torch.empty(2)) | torch.rand_like(i) | torch.set_rng_state(torch.zeros(5))
torch.set_rng_state(torch.zeros(5, dtype=torch.uint8)) | torch.manual_seed(2 ** 64)
x.expand(2, 3, 4).uniform_() | x.requires_grad_().uniform_() | x.requires_grad_()[0].normal_()
torch.Generator("meta")""".replace("\n", " | ").split(" | ")


@pytest.fixture(autouse=True)
def same_seed():
    for library in (torch, teachtorch):
        library.manual_seed(7)


@pytest.mark.parametrize("call", CALLS)
def test_the_same_numbers(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", CALLS)
def test_the_streams_stay_together(call):
    for library in (torch, teachtorch):
        evaluated(library, call)
    assert torch.get_rng_state().tolist() == teachtorch.get_rng_state().tolist()


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call)


def test_a_state_continues_in_the_other_library():
    torch.manual_seed(3)
    torch.rand(5)
    teachtorch.set_rng_state(teachtorch.tensor(torch.get_rng_state().tolist(), dtype=teachtorch.uint8))
    assert teachtorch.rand(4).tolist() == torch.rand(4).tolist()


@pytest.mark.parametrize("library", [torch, teachtorch], ids=["torch", "teachtorch"])
class TestFacts:
    def test_draws_in_place_bump_the_version_and_cut_the_gradient(self, library):
        x = library.ones(3, requires_grad=True)
        y = x * 2
        assert y.uniform_() is y and y._version == 1
        (y * 3).sum().backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]

    def test_no_draw_requires_grad_by_itself(self, library):
        assert not library.rand_like(library.ones(2, requires_grad=True)).requires_grad
        assert library.randn(2, requires_grad=True).is_leaf

    def test_generators_with_one_seed_agree(self, library):
        first, second = library.Generator(), library.Generator(device="cpu")
        assert first.initial_seed() == second.initial_seed()
        assert library.rand(3, generator=first).tolist() == library.rand(3, generator=second).tolist()
        second.manual_seed(9)
        first.set_state(second.get_state())
        assert library.randperm(5, generator=first).tolist() == library.randperm(5, generator=second).tolist()

    def test_a_generator_leaves_the_default_stream_alone(self, library):
        state = library.get_rng_state()
        library.rand(3, generator=library.Generator())
        assert library.equal(state, library.get_rng_state())

    def test_fork_rng_puts_the_state_back(self, library):
        state = library.get_rng_state()
        with library.random.fork_rng():
            library.manual_seed(0)
            library.rand(3)
        assert library.equal(state, library.get_rng_state())

    def test_seeds(self, library):
        assert library.manual_seed(-1).initial_seed() == 2 ** 64 - 1 == library.initial_seed()
        assert library.seed() == library.initial_seed()
        assert library.default_generator.device.type == "cpu"

    def test_clones_and_pickles_continue_the_stream(self, library):
        generator = library.Generator().manual_seed(4)
        library.rand(3, generator=generator)
        copies = [generator.clone_state()]
        if library is teachtorch:
            copies.append(pickle.loads(pickle.dumps(generator)))
        expected = library.rand(2, generator=generator).tolist()
        assert all(library.rand(2, generator=c).tolist() == expected for c in copies)

    def test_meta_tensors_draw_nothing(self, library):
        state = library.get_rng_state()
        assert library.rand(3, device="meta").is_meta and library.empty(3, device="meta").uniform_().is_meta
        assert library.equal(state, library.get_rng_state())
