"""Tensors print to the letter as PyTorch prints them; PyTorch's own tensors serve as input."""
import random

import numpy as np
import pytest

from teachtorch import printing

torch = pytest.importorskip("torch")

SHAPES = [(), (0,), (1,), (2,), (7,), (50,), (0, 3), (2, 0), (3, 4), (1, 1), (5, 30), (2, 3, 4), (2, 1, 3, 2),
          (40, 30), (1001,), (3, 1100), (300, 5), (12, 10, 11), (7, 8, 3, 9), (1, 1, 1, 1, 1), (8, 200)]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
          torch.int8, torch.uint8, torch.bool]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]


def samples(choose, n):
    """n float64 of one of several characters: small, whole, tiny, huge, of mixed magnitude..."""
    normal, whole = np.random.RandomState(choose.randrange(2 ** 32)), choose.randrange(1, 10 ** 6)
    values = choose.choice([
        lambda: normal.randn(n),
        lambda: normal.randint(-5, 6, n),
        lambda: normal.randn(n) * 10.0 ** choose.randint(-9, 9),
        lambda: normal.randn(n) * 10.0 ** normal.randint(-3, 4, n),
        lambda: normal.randint(-whole, whole, n),
        lambda: np.zeros(n),
        lambda: normal.randint(0, 2, n) * 1e-4 + normal.randint(0, 2, n) * 0.1,
        lambda: normal.randint(-3, 4, n) * 10.0 ** choose.randint(0, 9),
    ])().astype(np.float64)
    for _ in range(choose.choice([0, 0, 0, 1, 4]) if n else 0):
        values[choose.randrange(n)] = choose.choice(SPECIAL)
    return values


def some_tensor(choose):
    shape, dtype = choose.choice(SHAPES), choose.choice(DTYPES)
    values = samples(choose, int(np.prod(shape))).reshape(shape)
    if dtype.is_floating_point:
        tensor = torch.from_numpy(values).to(dtype)
        return choose.choice([lambda: tensor, tensor.requires_grad_, lambda: torch.nn.Parameter(tensor),
                              lambda: tensor.requires_grad_() * 1, lambda: tensor.detach().to("meta")])()
    whole = np.nan_to_num(values, posinf=9, neginf=-9).astype(np.int64)
    return torch.tensor(whole).to(dtype)


def some_options(choose):
    choices = {"precision": [0, 1, 2, 8], "threshold": [0, 5, 20, float("inf")], "edgeitems": [0, 1, 2, 5],
               "linewidth": [20, 40, 120], "sci_mode": [True, False], "profile": ["default", "short", "full"]}
    return {name: choose.choice(values) for name, values in choices.items() if choose.random() < 0.2}


def theirs(tensor):
    return repr(tensor).removeprefix("Parameter containing:\n")


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("seed", range(10))
def test_repr_is_equal_to_the_letter(seed):
    choose = random.Random(seed)
    for _ in range(300):
        tensor, options = some_tensor(choose), some_options(choose)
        with torch._tensor_str.printoptions(**options), printing.printoptions(**options):
            assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
            assert printing.tensor_str(tensor) == theirs(tensor), (tensor.shape, tensor.dtype, options)


@pytest.mark.parametrize("values", [
    [1e8], [100000001.0], [1e-4], [9.9e-5], [1.0, 1000.0], [1.0, 1001.0], [0.5, 500.0], [0.5, 501.0],
    [1e-300, 1e300], [5e-324], [1.7976931348623157e308], [0.1 + 0.2], [2.5], [0.00005],
    [123456.789], [-0.0], [-1e-5, 0.0]])
def test_numbers_at_the_borders_of_the_rules(values):
    for dtype in (torch.float64, torch.float32):
        tensor = torch.tensor(values, dtype=dtype)
        assert printing.tensor_str(tensor) == theirs(tensor)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Image(torch.Tensor):
    pass


class Mask(torch.nn.Parameter):
    pass


def changed_in_place():
    x = torch.ones(3, requires_grad=True) * 2
    x[0] = 5
    return x


def view_changed_in_place():
    x = torch.ones(4, requires_grad=True) * 2
    view = x[:2]
    view.mul_(3)
    return view


@pytest.mark.parametrize("make", [
    lambda: Square.apply(torch.ones(3, requires_grad=True)),
    changed_in_place,
    view_changed_in_place,
    lambda: torch.ones(3, requires_grad=True).sum(),
    lambda: torch.ones(3, requires_grad=True).exp()[1:],
    lambda: torch.randn(100, requires_grad=True) * 2,
    lambda: torch.nn.functional.cross_entropy(torch.zeros(2, 3, requires_grad=True), torch.tensor([1, 2])),
    lambda: torch.ones(2, 3).T,
    lambda: torch.ones(3).as_subclass(Image),
    lambda: Mask(torch.ones(2)),
    lambda: torch.ones(3).expand(2, 3),
])
def test_history_views_and_subclasses(make):
    tensor = make()
    assert printing.tensor_str(tensor) == theirs(tensor)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_dual_number():
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.tensor([1.5]), torch.tensor([2.0]))
        tangent = forward_ad.unpack_dual(dual).tangent
        assert printing.tensor_str(dual, tangent=tangent) == repr(dual)


@pytest.mark.parametrize("spec", ["", ".2f", ">10", "d", "e", "s"])
@pytest.mark.parametrize("make", [
    lambda: torch.tensor(1.5), lambda: torch.tensor(3), lambda: torch.tensor(True),
    lambda: torch.tensor([1.0]),
    lambda: torch.tensor(1.5, requires_grad=True), lambda: torch.nn.Parameter(torch.tensor(1.0)),
    lambda: torch.empty((), device="meta")])
def test_format(make, spec):
    tensor = make()

    def outcome(function):
        try:
            return function(tensor, spec)
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    assert outcome(printing.tensor_format) == outcome(format)
