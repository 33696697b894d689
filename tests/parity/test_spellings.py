"""Other ways to write a call that PyTorch's argument parser takes: NumPy's names of arguments, tensors for numbers."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from teachtorch.dispatch.call_rules import ALIASES  # noqa: E402
from tests.parity.snippets import assert_same, equal, shown, snippets_of  # noqa: E402
from tests.parity.test_wrong_arguments import NAMES  # noqa: E402
from tests.parity.wrong_calls import all_rules, outcome, right_calls  # noqa: E402

PARTS = 8
# Their results differ from call to call; and functions whose refusals of odd shapes differ.
VARYING = frozenset(
    "empty_like rand_like randn_like randint_like rrelu rrelu_ bernoulli bernoulli_ multinomial poisson normal_ "
    "uniform_ random_ exponential_ cauchy_ geometric_ log_normal_ dropout dropout_ alpha_dropout "
    "feature_dropout feature_alpha_dropout alpha_dropout_ feature_dropout_ feature_alpha_dropout_ "
    "randperm frobenius_norm native_batch_norm binomial new_empty resize_ resize_as_ empty_permuted is_same_size".split()
)


def numpy_spellings(name, rule, args, kwargs):
    """The call with all names given, once for every place where NumPy has another name."""
    in_place = 1 if name.startswith("Tensor.") else 0
    named = {p.name: a for p, a in zip(rule.parameters[in_place:], args[in_place:])} | kwargs
    for torch_name in named.keys() & ALIASES.keys():
        for alias in ALIASES[torch_name]:
            yield args[:in_place], {alias if n == torch_name else n: v for n, v in named.items()}


@pytest.mark.parametrize("part", range(PARTS))
def test_numpys_names_are_taken_where_pytorch_takes_them(part):
    tried, wrong = 0, []
    for name in [n for n in NAMES[part::PARTS] if n.rpartition(".")[2] not in VARYING]:
        for rule, args, kwargs in right_calls(torch, name, all_rules()[name], most=40):
            for call in numpy_spellings(name, rule, args, kwargs):
                wanted = outcome(torch, name, *call)
                if isinstance(wanted, Exception):
                    continue
                tried += 1
                found = outcome(teachtorch, name, *call)
                if isinstance(found, Exception) or not equal(shown(teachtorch, found), shown(torch, wanted), 1e-3):
                    wrong.append(f"{name} {call}: {found!r} instead of {wanted!r}")
    assert tried > 50
    assert not wrong, "\n".join(wrong)


SNIPPETS = snippets_of("""
    torch.unsqueeze(torch.ones(2, 3), axis=0).shape
    torch.ones(2, 3).unsqueeze(axis=1).shape
    torch.exp(x=torch.ones(2))
    torch.index_select(torch.ones(2, 3), axis=1, index=torch.tensor([0]))
    L.norm(torch.ones(2, 3), axis=1, keepdims=True)
    F.cosine_similarity(torch.ones(2, 3), torch.ones(2, 3), axis=0)
    torch.unsqueeze(torch.ones(2))
    torch.exp()
    torch.exp(y=torch.ones(2))
    torch.exp(torch.ones(2), x=torch.ones(2))
    torch.transpose(torch.ones(2, 2), 0)
    F.softmax(torch.ones(2), axis=0)
    torch.softmax(torch.ones(2), dim=torch.tensor(0))
    torch.ones(2, 3).sum((0, torch.tensor(1)))
    torch.ones(2, 3).cumsum(torch.tensor(1))
    torch.ones(2, 3).argmax(torch.tensor(1))
    torch.ones(2, 3).chunk(torch.tensor(2))
    torch.cumsum(torch.ones(2, 3), torch.tensor(1.5))
    torch.cumsum(torch.ones(2, 3), torch.tensor([0, 1]))
    torch.inverse(input=torch.eye(2))
    torch.equal(input=torch.eye(2), other=torch.eye(2))
    torch.clamp(torch.tensor([5.0]), torch.tensor(1.0), 3)
    F.avg_pool1d(torch.ones(1, 1, 4), torch.tensor(2))
    F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), stride=torch.tensor(2))
""")


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_same_outcome(snippet):
    assert_same(torch, snippet)
