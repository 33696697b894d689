"""segment_reduce against PyTorch: results, gradients, errors."""
import pytest

from tests.parity.same_call import assert_same_error, assert_same_gradient, assert_same_result

torch = pytest.importorskip("torch")

LENGTHS = ["lengths=torch.tensor([1, 0, 2])", "lengths=torch.tensor([3], dtype=torch.int32)",
           "offsets=torch.tensor([0, 0, 3])",
           "lengths=torch.tensor([[1, 3], [4, 0], [2, 2]]), axis=1", "offsets=torch.tensor([[0, 1, 4]] * 3), axis=-1",
           "offsets=torch.tensor([1, 2])", "lengths=torch.tensor([1, 1]), unsafe=True"]
# x: 3 by 4
RESULTS = [f"torch.segment_reduce(x, '{kind}', {lengths}{initial})" for kind in ("sum", "mean", "prod", "max", "min")
           for lengths in LENGTHS for initial in ("", ", initial=0.5")]
OTHERS = ["torch.segment_reduce(x.t(), 'sum', lengths=torch.tensor([3, 1]))",
          "torch.segment_reduce(x[:0], 'max', lengths=torch.tensor([0, 0]))",
          "torch.segment_reduce(h, 'amax', lengths=torch.tensor([1, 2]))",
          "torch.segment_reduce(x, 'sum', lengths=torch.tensor([1, 2]), initial=2)",
          "torch.segment_reduce(n, 'max', lengths=torch.tensor([1, 1]))",
          "torch.segment_reduce(torch.tensor([3.0, 3.0, 1.0]), 'max', lengths=torch.tensor([3]))"]
GRADIENTS = [call for call in RESULTS if "'mean'" not in call or "0, 2" not in call and "0, 0" not in call]
ERRORS = [f"torch.segment_reduce(x, {arguments})" for arguments in (
    "'sum'", "'most', lengths=torch.tensor([3])", "'sum', lengths=torch.tensor([1, 1])",
    "'sum', lengths=torch.tensor([-1, 4])", "'sum', lengths=torch.tensor([3.0])",
    "'sum', offsets=torch.tensor([0.0, 3.0])", "'sum', lengths=[3]", "'sum', lengths=torch.tensor([3]), axis=2",
    "'sum', lengths=torch.tensor([4]), axis=1", "'sum', lengths=torch.tensor(3)", "'sum', indices=torch.tensor([0, 0, 1])")]
ERRORS += ["torch.segment_reduce(i, 'sum', lengths=torch.tensor([3]))"]


@pytest.mark.parametrize("call", RESULTS + OTHERS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", GRADIENTS + [call for call in OTHERS if "(x, " in call])
def test_gradient_is_pytorchs(call):
    assert_same_gradient(torch, call, "x")


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


def test_equal_extremes_share_the_gradient():
    import teachtorch

    for T in (teachtorch, torch):
        x = T.tensor([3.0, 3.0, 1.0, 5.0], requires_grad=True)
        T.segment_reduce(x, "max", lengths=T.tensor([3, 1]), initial=3.0).sum().backward()
        assert x.grad.tolist() == [0.5, 0.5, 0.0, 1.0]


@pytest.mark.parametrize("kind", ["sum", "mean", "prod", "max", "min"])
def test_derivatives_of_both_orders_equal_differences(kind):
    import teachtorch

    x = teachtorch.tensor([0.3, 1.5, -0.7, 2.0, 0.9], dtype=teachtorch.float64, requires_grad=True)

    def reduced(x):
        return teachtorch.segment_reduce(x, kind, lengths=teachtorch.tensor([2, 0, 3]), initial=0.5)
    assert teachtorch.autograd.gradcheck(reduced, (x,), check_forward_ad=True)
    assert teachtorch.autograd.gradgradcheck(reduced, (x,))
