"""Reductions against PyTorch."""
import pytest

from tests.parity.same_call import (assert_same_error, assert_same_gradient, assert_same_node,
                                    assert_same_result)

torch = pytest.importorskip("torch")

OVER = ("sum", "mean", "nansum", "nanmean", "amax", "amin", "logsumexp", "all", "any", "var", "std",
        "count_nonzero")
ALONG = ("prod", "max", "min", "argmax", "argmin", "median", "nanmedian", "mode")

RESULTS = [f"{t}.{op}({args})" for op in OVER for t, args in (("x", "0"), ("y", "(0, 2)"), ("p", "1"),
                                                              ("y", "(-1, 0)"))]
RESULTS += [f"{t}.{op}({args})" for op in ALONG for t, args in (("x", "0"), ("y", "-1"), ("p", "1"),
                                                                ("i", "0"))
            if (op, t) != ("mode", "i")]
RESULTS += [f"x.{op}(1, keepdim=True)" for op in (*OVER[:-1], *ALONG)]
RESULTS += [f"x.{op}()" for op in (*OVER, *ALONG) if op not in ("logsumexp", "mode")]
RESULTS += [f"torch.{op}(x, axis=0)" for op in (*OVER, *ALONG)] + ["torch.max(x, axis=0, keepdims=True)"]
RESULTS += [f"s.{op}(-1)" for op in (*OVER, *ALONG) if op not in ("var", "std")]
RESULTS += [f"i.{op}()" for op in ("sum", "prod", "max", "argmax", "all", "nansum", "amin", "count_nonzero",
                                   "median")]
RESULTS += [f"b.{op}()" for op in ("sum", "prod", "max", "all", "any", "nansum", "amin", "count_nonzero",
                                   "aminmax")]
RESULTS += ["u.sum()", "u.all()", "u.any(0)", "u.prod(1)", "x.sum(dtype=torch.int64)",
            "x.sum(0, dtype=torch.float64)",
            "b.sum(dtype=torch.bool)", "x.prod(1, dtype=torch.int32)", "i.mean(dtype=torch.float32)",
            "i.logsumexp(0)",
            "x.sum(())", "x.mean([])", "x.all(())", "x.any(())", "x.amax(())", "x.std(())"]
RESULTS += [f"e.{call}" for call in ("sum()", "mean()", "prod()", "all()", "any()", "nansum()", "nanmean()",
                                     "median()",
                                     "sum(0)", "mean(0)", "logsumexp(0)", "max(1)", "amax(1)", "argmax(1)",
                                     "median(1)",
                                     "mode(1)", "norm()", "count_nonzero(0)", "var()", "std(0)", "any(1)")]
RESULTS += [f"n.{call}" for call in ("sum()", "max()", "min(1)", "amax(0)", "argmax(1)", "argmin(1)",
                                     "nansum(1)", "median()",
                                     "median(1)", "nanmedian(1)", "logsumexp(1)", "aminmax(dim=1)", "mean(0)",
                                     "norm(inf)")]
RESULTS += [f"h.{call}" for call in ("sum()", "sum(0)", "mean()", "mean(1)", "prod()", "max(1)",
                                     "logsumexp(0)", "var()",
                                     "std(1)", "norm()", "nansum()", "amin(0)", "argmax()")]
RESULTS += ["x.max(x * 2)", "torch.min(x, other=x + 1)", "x.aminmax()", "x.aminmax(dim=0, keepdim=True)",
            "torch.argmax(x, keepdim=True)", "x.kthvalue(2)", "y.kthvalue(2, 0, True)", "s.kthvalue(1)",
            "b.mode()"]
RESULTS += [f"x.var({args})" for args in ("correction=0", "unbiased=False", "0, False", "False",
                                          "0, correction=2",
                                          "dim=0, unbiased=True, keepdim=True", "None, correction=1.5",
                                          "(0, 1), correction=20")]
RESULTS += ["torch.var_mean(x)", "torch.std_mean(x, 0, False)",
            "torch.var_mean(x, dim=1, correction=0, keepdim=True)",
            "torch.std_mean(x, False)", "torch.var(s)", "torch.var(s, correction=0)"]
RESULTS += [f"torch.norm(x{args})" for args in ("", ", 3, 0", ", p=0", ", 1, (0, 1)", ", 'fro', None, True",
                                                ", inf", ", -inf, 1",
                                                ", dtype=torch.float64", ", 0.5, 0", ", p=None", ", dim=()")]
RESULTS += [f"torch.linalg.vector_norm({args})" for args in ("x", "y, 3, (0, 2)", "h, dtype=torch.float32",
                                                             "e, 0", "p, 2, 1",
                                                             "e, -1, dim=1", "x, 2.5, dim=(), keepdim=True",
                                                             "e, inf, 1")]

GRADIENTS = [("sum()", "x"), ("sum((0, 2))", "y"), ("mean()", "x"), ("mean(1, True)", "x"), ("prod()", "z"),
             ("prod(1)", "z"),
             ("prod(0)", "x"), ("max()", "d"), ("max(1)", "d"), ("min(1, True)", "d"), ("amax(1)", "d"),
             ("amin()", "d"),
             ("aminmax(dim=1)", "d"), ("median()", "d"), ("median(1)", "d"), ("nanmedian(1)", "d"),
             ("logsumexp((0, 2))", "y"),
             ("var(0)", "x"), ("std()", "x"), ("std(1, correction=0)", "x"), ("norm()", "x"),
             ("norm(3, 0)", "x"),
             ("norm(1.5)", "x"), ("norm(0.5)", "z"), ("norm(inf, 1)", "d"), ("norm(1)", "z"),
             ("nansum(1)", "x"),
             ("nanmean(1)", "x"), ("kthvalue(2)", "x"), ("prod()", "s"), ("max(0)", "s")]

ERRORS = ["i.mean()", "b.mean(1)", "i.mean(dtype=torch.int64)", "x.mean(dtype=torch.int64)", "i.std()",
          "i.var(1)",
          "torch.var_mean(i)", "e.max()", "e.max(0)", "e.amax()", "e.amin(0)", "e.argmax()", "e.argmin(0)",
          "e.aminmax()",
          "e.aminmax(dim=0)", "e.median(0)", "e.mode(0)", "e.kthvalue(1, 0)", "x.sum(2)", "x.sum((0, 0))",
          "x.mean((0, -2))",
          "x.amax((0, 0))", "s.max(1)", "s.sum(1)", "s.sum((0, -1))", "x.argmax((0, 1))", "x.argmax('a')",
          "b.argmax()",
          "b.median()", "b.median(0)", "b.kthvalue(1)", "x.kthvalue(5)", "x.kthvalue(0)", "i.nanmean()",
          "torch.linalg.vector_norm(e, inf)", "torch.linalg.vector_norm(e, inf, 0)",
          "torch.linalg.vector_norm(i)", "torch.linalg.vector_norm(x, dtype=torch.int64)",
          "torch.linalg.vector_norm(y, dtype=torch.float32)",
          "torch.linalg.vector_norm(x, 'a')", "torch.norm(i)", "x.count_nonzero((0, 0))", "x.logsumexp(None)",
          "x.norm('fro', (0, 0))"]
ERRORS += [f"torch.{call}" for call in (
    "kthvalue(x[0], 2, out=(x[0], torch.zeros((), dtype=torch.int64)))",
    "kthvalue(x, 1, out=(x.double(), x.long()))",
    "max(x, 0, out=(x.double(), x.long()))", "min(x, 0, out=(x.clone(), x.int()))",
    "argmax(x, out=x.clone())",
    "aminmax(x, out=(x.clone(), x.double()))", "amax(x, 0, out=x.double())", "all(x, 0, out=x.int())")]
TYPE_ERRORS = ["x.sum('a')", "x.sum(1.5)", "x.sum((0, 1.5))", "x.max('a')", "x.max(1.0)", "x.max((0, 1))",
               "x.prod((0, 1))",
               "x.std(0, unbiased=False, correction=0)", "x.max(0, foo=1)"]

RESULTS += [f"torch.{call}" for call in (
    "sum(x, 0, out=x[0].double())", "sum(x, 0, out=x[0].int())", "sum(i, 0, out=x[0].clone())",
    "mean(x, 0, out=x[0].double())",
    "prod(x, 0, out=x[0].double())", "any(b, 0, out=u[0].clone())", "nansum(x, 0, out=x[0].double())",
    "amax(x, 0, out=x[0].clone())", "norm(x, out=s.clone())", "std(x, 0, out=x[0].clone())")]

NODES = ["sum()", "sum(0)", "mean()", "mean(0)", "prod()", "prod(0)", "max()", "max(0)", "min()", "min(0)",
         "amax(0)",
         "aminmax()", "median()", "median(0)", "nanmedian()", "nanmedian(0)", "mode(0)", "kthvalue(1)",
         "var()", "std(0)",
         "logsumexp(0)", "norm()", "norm(3, 0)", "nansum()"]


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize(("call", "name"), GRADIENTS)
def test_gradient_is_pytorchs(call, name):
    assert_same_gradient(torch, f"{name}.{call}", name)


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", TYPE_ERRORS)
def test_type_error_is_raised(call):
    assert_same_error(torch, call, same_text=False)


@pytest.mark.parametrize("call", NODES)
def test_node_has_pytorchs_name(call):
    assert_same_node(torch, f"x.{call}", "x")


def test_the_norm_of_a_single_number_over_its_dimension():
    import teachtorch
    import torch

    for library in (torch, teachtorch):
        assert library.linalg.vector_norm(library.tensor(-1.5), dim=0).item() == 1.5
        assert library.nn.functional.cosine_similarity(library.tensor(1.5), library.tensor(2.0), dim=0).item() == 1.0


@pytest.mark.parametrize("order", [0, 0.5, 1, 1.5, 2, 3, float("inf"), float("-inf")])
def test_the_gradient_of_a_norm_at_zero(order):
    """Where a norm is 0 it has no derivative: PyTorch chooses one for each order, along with the rows beside it."""
    import teachtorch
    import torch

    def gradient(library):
        x = library.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, -2.0]], dtype=library.float64, requires_grad=True)
        library.linalg.vector_norm(x, order, 1).sum().backward()
        return None if x.grad is None else [[round(v, 9) for v in row] for row in x.grad.tolist()]

    assert repr(gradient(teachtorch)) == repr(gradient(torch))
