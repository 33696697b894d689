"""The ranking, embedding, multi-label, Poisson, Gaussian and CTC losses, as modules, against PyTorch."""

import numpy as np
import pytest

import teachtorch
from tests.parity.programs import assert_close, assert_same, outcome
from tests.parity.test_rnn import array, flat

torch = pytest.importorskip("torch")

REDUCTIONS = ["mean", "sum", "none", "x"]


def numbers(torch, *shape, low=0, high=5):
    return torch.from_numpy(np.random.default_rng(3).integers(low, high, shape))


def names_of(torch):
    """What the calls below are written with."""

    def signs(*shape):
        return numbers(torch, *shape, high=2) * 2 - 1

    labels = torch.tensor([[0, 1, -1, 2, 3], [2, 2, 4, -1, -1], [-1, 0, 0, 0, 0], [0, 1, 2, 3, 4]])
    a, b, c = (array(torch, 4, 5, seed=i) for i in range(3))
    return {
        "torch": torch,
        "a": a,
        "b": b,
        "c": c,
        "signs": signs,
        "positive": b.abs() + 0.1,
        "labels": labels,
        "classes": numbers(torch, 4),
        "bits": numbers(torch, 4, 5, high=2),
        "weight": c[0].abs(),
        "numbers": numbers,
        "log_probs": array(torch, 9, 3, 5).log_softmax(2),
        "targets": numbers(torch, 3, 4, low=1),
    }


def differentiated(torch, module, inputs):
    """The module's result and the gradients of its floating inputs and parameters."""
    leaves = [
        t.detach().requires_grad_() if hasattr(t, "dtype") and t.dtype.is_floating_point else t
        for t in inputs
    ]
    wanted = [t for t in flat(leaves) if getattr(t, "requires_grad", False)] + list(module.parameters())
    out = module(*leaves)
    return [repr(module), out, torch.autograd.grad((out * out).sum(), wanted, allow_unused=True)]


def check(module, inputs, reduction):
    def program(torch):
        names = names_of(torch)
        torch.manual_seed(0)
        return differentiated(
            torch, eval(f"torch.nn.{module}", {**names, "reduction": reduction}), eval(inputs, names)
        )

    assert_same(torch, program, 1e-4)


CALLS = [
    ("PoissonNLLLoss(reduction=reduction)", "a, positive"),
    ("PoissonNLLLoss(full=True, reduction=reduction)", "a, positive"),
    ("PoissonNLLLoss(False, True, reduction=reduction)", "positive, positive"),
    ("GaussianNLLLoss(reduction=reduction)", "a, b, positive"),
    ("GaussianNLLLoss(full=True, reduction=reduction)", "a, b, positive[:, 0]"),
    ("GaussianNLLLoss(reduction=reduction)", "a, b, positive[:, :1]"),
    ("GaussianNLLLoss(reduction=reduction)", "a, b, c"),
    ("GaussianNLLLoss(reduction=reduction)", "a, b, positive[:3, :1]"),
    ("GaussianNLLLoss(reduction=reduction)", "a, b, 0.5"),
    ("HingeEmbeddingLoss(reduction=reduction)", "a, signs(4, 5)"),
    ("HingeEmbeddingLoss(0.3, reduction=reduction)", "a, signs(4, 5)"),
    ("CosineEmbeddingLoss(0.1, reduction=reduction)", "a, b, signs(4)"),
    ("CosineEmbeddingLoss(reduction=reduction)", "a[0], b[0], torch.tensor(1)"),
    ("CosineEmbeddingLoss(reduction=reduction)", "a, b, signs(4, 5)"),
    ("CosineEmbeddingLoss(reduction=reduction)", "a[0], b[0], signs(1)"),
    ("MarginRankingLoss(0.3, reduction=reduction)", "a, b, signs(4, 5)"),
    ("MarginRankingLoss(reduction=reduction)", "a, b[0], signs(4, 5)"),
    ("SoftMarginLoss(reduction=reduction)", "a, signs(4, 5)"),
    ("SoftMarginLoss(reduction=reduction)", "a, signs(5)"),
    ("SoftMarginLoss(reduction=reduction)", "signs(4, 5), signs(5)"),
    ("MultiMarginLoss(reduction=reduction)", "a, classes"),
    ("MultiMarginLoss(2, 0.5, weight, reduction=reduction)", "a, classes"),
    ("MultiMarginLoss(reduction=reduction)", "a[0], classes[0]"),
    ("MultiMarginLoss(reduction=reduction)", "a[0], classes[:1]"),
    ("MultiMarginLoss(reduction=reduction)", "a, classes[:3]"),
    ("MultiMarginLoss(reduction=reduction)", "a, classes.float()"),
    ("MultiMarginLoss(reduction=reduction)", "a, classes + 4"),
    ("MultiMarginLoss(reduction=reduction)", "a[None], classes"),
    ("MultiMarginLoss(3, reduction=reduction)", "a, classes"),
    ("MultiMarginLoss(weight=weight[:4], reduction=reduction)", "a, classes"),
    ("MultiMarginLoss(weight=weight[None], reduction=reduction)", "a, classes"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a, labels"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a[0], labels[0]"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a, labels[:3]"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a, labels.int()"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a, labels + 3"),
    ("MultiLabelMarginLoss(reduction=reduction)", "a, labels - 2"),
    ("MultiLabelSoftMarginLoss(reduction=reduction)", "a, bits"),
    ("MultiLabelSoftMarginLoss(weight, reduction=reduction)", "a, bits"),
    ("TripletMarginLoss(reduction=reduction)", "a, b, c"),
    ("TripletMarginLoss(2.0, 1, swap=True, reduction=reduction)", "a, b, c"),
    ("TripletMarginLoss(0, reduction=reduction)", "a, b, c"),
    ("TripletMarginLoss(reduction=reduction)", "a, b, c[0]"),
    ("TripletMarginWithDistanceLoss(reduction=reduction)", "a, b, c"),
    ("TripletMarginWithDistanceLoss(margin=0, reduction=reduction)", "a, b, c"),
    ("LinearCrossEntropyLoss(5, 5, reduction=reduction)", "a, classes"),
    (
        "LinearCrossEntropyLoss(5, 5, out_features=(2,), bias=True, reduction=reduction)",
        "a, numbers(torch, 4, 2)",
    ),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("module", "inputs"), CALLS)
def test_loss(module, inputs, reduction):
    check(module, inputs, reduction)


LENGTHS = [
    "(9, 9, 9), (4, 4, 4)",
    "(9, 7, 3), (4, 2, 3)",
    "(9, 4, 0), (4, 0, 0)",
    "(9, 4, 0), (4, 0, 2)",
    "torch.tensor([9, 8, 7]), torch.tensor([1, 2, 3])",
    "(9, 9), (4, 4)",
    "(9, 9, 10), (4, 4, 4)",
    "(9, 9, 9), (4, 4, 5)",
    "(9, 9, 9), (4, 4, -1)",
    "(9, -1, 9), (4, 4, 1)",
    "(9, 9, 9), (0, 0, 0)",
    "torch.tensor([9.0, 8, 7]), torch.tensor([1, 1, 1])",
]


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_ctc_loss(lengths, reduction, zero_infinity):
    check(f"CTCLoss(0, reduction, {zero_infinity})", f"log_probs, targets, {lengths}", reduction)


@pytest.mark.parametrize(
    "inputs",
    [
        "log_probs, numbers(torch, 7, low=1), (9, 9, 9), (1, 4, 2)",
        "log_probs, numbers(torch, 6, low=1), (9, 9, 9), (1, 4, 2)",
        "log_probs[:, 0], targets[0], (9,), (4,)",
        "log_probs[:, 0], targets[0], torch.tensor(9), torch.tensor(4)",
        "log_probs, targets[:2], (9, 9, 9), (4, 4, 4)",
        "log_probs[:0], targets, (9, 9, 9), (4, 4, 4)",
        "log_probs.half(), targets, (9, 9, 9), (4, 4, 4)",
    ],
)
def test_targets_of_ctc_loss(inputs):
    check("CTCLoss()", inputs, "mean")


@pytest.mark.parametrize("blank", [4, 5, -1])
def test_blank(blank):
    check(f"CTCLoss({blank})", "log_probs, targets - 1, (9, 9, 9), (4, 4, 4)", "mean")


ADAPTIVE = [
    "(8, 20, [4, 10])",
    "(8, 20, [4, 10], 2.0, True)",
    "(8, 20, [])",
    "(8, 20, [4, 4])",
    "(8, 20, [20])",
    "(8, 20, [5, 3])",
]


@pytest.mark.parametrize("arguments", ADAPTIVE)
def test_adaptive_softmax(arguments):
    def program(torch):
        torch.manual_seed(0)
        module = eval(f"torch.nn.AdaptiveLogSoftmaxWithLoss{arguments}", {"torch": torch})
        input, target = array(torch, 6, 8), numbers(torch, 6, high=20)
        results = [
            *module(input, target),
            *module(input[0], target[0]),
            module.log_prob(input),
            module.predict(input),
        ]
        results[1].backward()
        return [repr(module), results, [p.grad for p in module.parameters()]]

    assert_same(torch, program, 1e-4)


@pytest.mark.parametrize("call", ["f(x, 2)", "f(x, hard=True)", "f(x, dim=0)"])
def test_gumbel_softmax(call):
    def program(torch):
        torch.manual_seed(0)
        x = array(torch, 4, 5).requires_grad_()
        out = eval(call, {"f": torch.nn.functional.gumbel_softmax, "x": x})
        return [out, torch.autograd.grad(out.square().sum(), x)]

    assert_same(torch, program, 1e-4)


TORCH_FORMS = [
    "kl_div(a, positive)",
    "kl_div(a, positive, 1)",
    "poisson_nll_loss(a, positive, True, False, 1e-8, 2)",
    "hinge_embedding_loss(a, signs(4, 5), 1.0, 1)",
    "margin_ranking_loss(a, b, signs(4, 5))",
    "cosine_embedding_loss(a, b, signs(4), 0.1, reduction=2)",
    "triplet_margin_loss(a, b, c)",
    "binary_cross_entropy_with_logits(a, bits.float())",
    "ctc_loss(log_probs, targets, (9, 9, 9), (4, 4, 4), 0, 1)",
]


@pytest.mark.parametrize("call", TORCH_FORMS)
def test_numbered_reduction(call):
    def program(torch):
        return eval(f"torch.{call}", names_of(torch))

    assert_close(outcome(program, teachtorch)[0], outcome(program, torch)[0], 1e-4)
