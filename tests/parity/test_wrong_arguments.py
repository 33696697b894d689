"""Calls with a wrong argument: refused where PyTorch refuses them, with its words, by every function and method."""
import random

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from teachtorch.dispatch.call_rules import objection, texts  # noqa: E402
from tests.parity.pytorch_signatures import listing, names_in  # noqa: E402
from tests.parity.wrong_calls import all_rules, difference, outcome, right_calls, said, wrong_calls  # noqa: E402

# These change switches of the process.
SWITCHES = frozenset("set_autocast_enabled set_autocast_dtype set_num_threads manual_seed".split())
# Known to differ. Names that PyTorch gave signatures of their own, which say something else than those of the function:
OTHER_NAMES = frozenset("subtract divide multiply true_divide subtract_ divide_ multiply_ orgqr xlogy xlog1py zeta round "
                        "matrix_rank max_pool1d_with_indices avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d".split())
# Attributes and methods of another kind in PyTorch, or arguments that are taken here and not there:
OTHERS = frozenset("unsafe_split unsafe_split_with_sizes isin pinv gelu elu_ contiguous requires_grad_ numpy stride size "
                   "movedim moveaxis solve_triangular lstsq hsplit vsplit dsplit clone to type new sparse_coo_tensor "
                   "to_sparse".split())
NAMES = sorted(n for n in all_rules() if not n.rpartition(".")[2].startswith("_")
               and n.rpartition(".")[2] not in SWITCHES | OTHER_NAMES | OTHERS)
PARTS = 24
# What a call in a few hundred says is left to the list of all calls; a kind of fault shows in more of them.
ALLOWED = 0.01


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_arguments_are_refused_alike(part):
    chosen, tried, wrong = random.Random(part), 0, []
    for name in NAMES[part::PARTS]:
        for rule, args, kwargs in right_calls(torch, name, all_rules()[name]):
            calls = list(wrong_calls(rule, args, kwargs))
            for call in chosen.sample(calls, min(len(calls), 6)):
                tried += 1
                found = difference(outcome(torch, name, *call), outcome(teachtorch, name, *call))
                wrong += [f"{name} {call}: {found}"] if found else []
    assert tried > 50
    assert len(wrong) <= ALLOWED * tried, "\n".join(wrong)


def test_the_signatures_are_pytorchs():
    """Of the PyTorch that is installed, whatever it was built for."""
    found = {}
    for line in listing(torch, names_in(teachtorch)).splitlines():
        found.setdefault(line.partition("(")[0], []).append(line)
    listed = {}
    for name, signatures in texts().items():
        for signature in signatures:
            listed.setdefault(name, []).append(signature.partition("(")[2])
    same = [n for n in listed if [s.partition("(")[2] for s in found.get(n, [])] == listed[n]]
    assert len(same) >= 0.98 * len(listed), sorted(set(listed) - set(same))


def test_what_fits_is_not_objected_to():
    x = teachtorch.ones(2, 3)
    for name, args, kwargs in [("sum", (x, 0), {"keepdim": True}), ("sum", (x,), {"axis": 0}), ("Tensor.view", (x, 3, 2), {}),
                               ("add", (x, 1), {"alpha": 2.5}), ("cat", ([x, x],), {"dim": 0}), ("zeros", (2, 3), {})]:
        assert objection(name, args, kwargs) is None, name


@pytest.mark.parametrize("call", [
    lambda lib, x: x.sum(0, 1), lambda lib, x: x.argmax(True), lambda lib, x: lib.cumsum(x, True),
   
    lambda lib, x: lib.addcmul(x, 1, x), lambda lib, x: x.topk(1, sorted=1), lambda lib, x: lib.relu("a"),
    lambda lib, x: lib.nn.functional.avg_pool2d(x[None], 1, ceil_mode=1), lambda lib, x: lib.linalg.norm("a"),
], ids=range(8))
def test_what_would_pass_in_silence(call):
    errors = []
    for library in (torch, teachtorch):
        with pytest.raises(TypeError) as caught:
            call(library, library.ones(2, 3))
        errors.append(said(caught.value))
    assert errors[0] == errors[1]
