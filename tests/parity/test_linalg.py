"""torch.linalg against PyTorch: values, layouts, nodes, derivatives and errors."""
import numpy as np
import pytest

import teachtorch
from tests.parity import same_call
from tests.parity.same_call import assert_same_error, assert_same_node, assert_same_result, flat

torch = pytest.importorskip("torch")
# PyTorch's forward mode imports torch.jit, which warns.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def random(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(-1, 1, shape)


def definite(*batch):
    a = random(*batch, 3, 3)
    return a @ a.swapaxes(-1, -2) + np.eye(3)


MATRICES = {
    "A": random(3, 3) + 2 * np.eye(3), "AA": random(2, 3, 3) + 2 * np.eye(3), "S": definite(),
    "SS": definite(2),
    "B": random(3, 2), "BB": random(2, 3, 2), "b": random(3), "T": random(4, 3), "W": random(3, 4),
    "TT": random(2, 4, 3),
    "f": random(3, 3).astype(np.float32), "h": random(3, 3).astype(np.float16),
    "i": np.arange(9).reshape(3, 3),
    "O": np.stack([np.eye(3), np.ones((3, 3))]), "e": np.zeros((0, 0)), "r": random(40, 3),
    "s": np.array(1.5),
    "o": np.array([[True, False], [True, True]]), "p": np.array([2, 3, 3], np.int32), "c": np.zeros((3, 3)),
}


@pytest.fixture(autouse=True)
def matrices(monkeypatch):
    monkeypatch.setattr(same_call, "ARRAYS", MATRICES)


def calls(*texts):
    return [text.replace("L.", "torch.linalg.") for text in texts]


NODES = calls(
    "L.inv(A)", "L.inv(AA)", "torch.inverse(A)", "A.inverse()", "L.det(A)", "torch.det(AA)",
    "L.slogdet(A)[1]",
    "torch.slogdet(A)[1]", "L.solve(A, B)", "L.solve(A, b)", "L.solve(AA, BB)", "L.solve(A, BB)",
    "L.solve(A, B.T, left=False)", "L.solve(AA, BB[..., 0])", "L.solve_ex(A, B)[0]", "L.cholesky(S)",
    "L.cholesky(SS, upper=True)", "L.cholesky_ex(S)[0]", "L.lu(A)[1]", "L.lu(T)[1]", "L.lu(W)[2]",
    "L.lu_factor(A)[0]",
    "L.lu_factor_ex(TT)[0]", "torch.lu_unpack(*L.lu_factor(T))[1]", "L.lu_solve(*L.lu_factor(A), B)",
    "torch.lu_solve(B, *L.lu_factor(A))", "L.lu_solve(*L.lu_factor(A), B, adjoint=True)",
    "L.lu_solve(*L.lu_factor(A), B.T, left=False)", "L.lu_solve(*L.lu_factor(A), B.T, left=False, "
    "adjoint=True)",
    "L.solve_triangular(A, B, upper=True)", "L.solve_triangular(A, BB, upper=False)",
    "L.solve_triangular(A, B.T, upper=True, left=False, unitriangular=True)", "L.pinv(T)", "L.pinv(W)",
    "L.pinv(S, hermitian=True)", "torch.pinverse(T)", "L.matrix_exp(A)", "torch.matrix_exp(5 * AA)",
    "torch.cholesky_solve(B, L.cholesky(S))", "torch.cholesky_inverse(L.cholesky(S))", "L.eigvalsh(S)",
    "L.svdvals(T)", "L.matrix_power(A, 3)", "L.matrix_power(A, -2)", "L.matrix_power(A, 1)",
    "L.multi_dot([A, B, B.T])",
    "L.multi_dot([b, A, b])", "L.norm(A)", "L.norm(A, 'nuc')", "L.matrix_norm(A)", "L.matrix_norm(A, 2)",
    "L.matrix_norm(A, 1)", "L.cond(A)", "L.cond(A, 1)", "L.cross(b, b)", "torch.cross(A, A)",
    "torch.trace(A)",
    "torch.kron(A, B)", "torch.cdist(T, T + 1)", "torch.cdist(T, T + 1, p=1.0)",
    "L.householder_product(T, b)",
    "torch.vander(b)", "L.vander(b)", "torch.tensordot(A, B, 1)")
RESULTS = NODES + calls(
    "L.inv(e)", "L.inv(f)", "L.inv_ex(O)", "L.det(e)", "L.det(O)", "L.slogdet(O)", "torch.logdet(AA)",
    "torch.logdet(-A)",
    "L.solve_ex(O, BB)", "L.cholesky_ex(-S)", "L.cholesky_ex(S - 2 * torch.eye(3).double())",
    "L.lu_factor(A)", "L.lu(AA)",
    "torch.lu(A)", "torch.lu(AA, get_infos=True)", "L.lu_factor_ex(O)", "torch.lu_unpack(*L.lu_factor(W))",
    "torch.lu_unpack(*L.lu_factor(W), unpack_data=False)", "torch.triangular_solve(B, A)",
    "L.lstsq(W, b).rank",
    "L.lstsq(T, T[:, 0]).residuals", "L.lstsq(T, T[:, :2], driver='gelsd')[1:]",
    "L.lstsq(TT, TT, driver='gelss')[1:]",
    "L.lstsq(T, T[:, :2] * 2, driver='gels')[1:]", "L.lstsq(TT, TT[..., 0]).solution.contiguous()",
    "L.matrix_rank(O)",
    "L.matrix_rank(S, hermitian=True)", "L.matrix_rank(T, 0.9)",
    "L.matrix_rank(TT, atol=torch.tensor([0.1, 9.0]))",
    "L.matrix_rank(T, rtol=0.5)", "L.pinv(O)", "L.pinv(T, rtol=0.5)", "L.matrix_power(i, 5)",
    "L.matrix_power(AA, 0)",
    "L.matrix_norm(TT, float('-inf'), (2, 0), True)", "L.norm(TT, 1, 0)",
    "L.matrix_norm(TT, -2, (1, 0))", "L.matrix_norm(T, 1, dtype=torch.float64)", "L.cond(O, 'fro')",
    "L.cond(T, -2)",
    "L.cond(e)", "L.vecdot(TT, T)", "L.vecdot(b, b)", "L.cross(A, AA[0, :1])", "torch.trace(i)",
    "torch.trace(h)",
    "torch.cdist(r, r[:3])", "torch.cdist(T, W.T, p=0.0)", "torch.cdist(T, W.T, p=float('inf'))",
    "torch.cdist(TT, T, compute_mode='donot_use_mm_for_euclid_dist')", "L.tensorinv(A.reshape(3, 1, 3), 2)",
    "L.tensorsolve(A, b)", "torch.vander(i[0], 4, increasing=True)", "L.vander(s, N=3)",
    "L.eigvalsh(A, UPLO='U')",
    "torch.kron(T, i[0])", "torch.chain_matmul(A, B)", "L.diagonal(TT)")
ERRORS = calls(*[f"L.{name}({argument})" for name in (
    "inv", "inv_ex", "slogdet", "cholesky", "qr", "svd", "lu", "lu_factor", "matrix_exp", "pinv", "eigh",
    "cond", "svdvals",
    "matrix_rank", "det") for argument in "bi"],
    "L.inv(T)", "L.det(T)", "L.eigh(T)", "L.cholesky(T)", "L.inv(h)", "L.eigh(h)", "L.det(h)",
               "L.solve(A, s)",
    "L.solve(T, b)", "L.solve(A, f)", "L.solve(i, i)", "L.solve(A, W.T)", "L.solve(A, T.T, left=False)",
               "L.eigh(A, 'M')",
    "L.eigh(A, 3)", "L.svd(A, driver='gesvd')", "L.qr(A, 'foo')", "L.qr(A, 3)",
               "L.solve_triangular(A, b, upper=True)",
    "L.solve_triangular(A, T, upper=True)", "L.solve_triangular(i, i, upper=True)", "L.lstsq(T, TT)",
               "L.lstsq(b, b)",
    "L.lstsq(T, s)", "L.lstsq(A, f)", "L.lstsq(A, A, driver='foo')", "L.lstsq(i, i)", "L.lstsq(T, A)",
    "L.matrix_power(A, 1.5)", "L.matrix_power(T, 2)", "L.matrix_power(i, -1)", "L.multi_dot([])",
               "L.multi_dot([A, TT])",
    "L.multi_dot([A, b, A])", "L.multi_dot([A, f])", "L.multi_dot([T, T])", "L.multi_dot(A)",
               "L.norm(TT, 'fro')",
    "L.norm(A, 3, (0, 1))", "L.norm(A, 2, (0, 1, 0))", "L.matrix_norm(b)", "L.matrix_norm(A, 3)",
               "L.matrix_norm(i)",
    "L.matrix_norm(A, dim=(0, 0))", "L.matrix_norm(A, dim=(0,))", "L.matrix_norm(A, dtype=torch.float32)",
               "L.cond(A, 3)",
    "L.cond(T, 1)", "L.vecdot(b, f[0])", "L.vander(b, N=1)", "torch.vander(A)", "torch.vander(b, -1)",
               "L.cross(b, A)",
    "L.cross(W, W)", "torch.cross(torch.ones(4), torch.ones(4))", "torch.trace(b)", "torch.trace(o)",
               "torch.cdist(b, b)",
    "torch.cdist(T, W)", "torch.cdist(T, T, p=-1)", "torch.cdist(i, i)", "torch.cdist(A, f)",
    "torch.cdist(T, T, compute_mode='foo')", "torch.cholesky_solve(b, A)", "torch.cholesky_solve(A, T)",
    "torch.cholesky_solve(A, f)", "torch.cholesky_solve(T, A)", "torch.cholesky_inverse(T)",
               "torch.logdet(T)",
    "torch.svd(b)", "torch.cholesky(T)", "L.lu_solve(A, p.long(), B)", "L.lu_solve(A, p[:2], B)",
               "L.lu_solve(A, p, b)",
    "L.lu_factor(c)", "L.lu(A, pivot=False)", "torch.lu_unpack(A, p.long())",
    "L.householder_product(W, b)", "L.tensorinv(A, 0)", "L.tensorinv(T)", "torch.kron(A, 3)")
SINGULAR = calls("L.inv(c)", "L.inv(O)", "L.inv_ex(O, check_errors=True)", "L.solve(c, b)", "L.solve(O, BB)",
                 "L.cholesky(-S)", "L.cholesky(-SS)", "torch.cholesky(-S)", "torch.cholesky_inverse(c)",
                 "L.matrix_power(c, -1)", "L.svd(c / 0)")


@pytest.mark.parametrize("call", RESULTS)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ["torch.linalg.qr(T)", "torch.linalg.qr(W)",
                                  "torch.linalg.qr(TT, 'complete')",
                                  "torch.linalg.qr(T, 'r')", "torch.qr(T)", "torch.linalg.svd(T)",
                                  "torch.linalg.svd(W, False)",
                                  "torch.svd(T)", "torch.linalg.eigh(S)", "torch.linalg.eigh(SS, 'U')"])
def test_factors_are_laid_out_as_pytorchs(call):
    """Signs of factors are free: absolute values are compared."""
    ours, theirs = same_call.evaluated(teachtorch, call), same_call.evaluated(torch, call)
    assert ours._fields == type(theirs).__match_args__ and type(ours).__name__ == type(theirs).__name__
    for own, other in zip(flat(ours), flat(theirs)):
        same_call.assert_same_tensor(own.abs(), other.abs())
        assert own.stride() == other.stride()


def leaf_of(call):
    return next(name for name in ("AA", "A", "SS", "S", "TT", "T", "BB", "B", "W", "b") if name in call)


@pytest.mark.parametrize("call", [c for c in NODES if "householder" not in c and "kron" not in c])
def test_node_has_pytorchs_name(call):
    names = [leaf_of(call)]
    if names[0] in ("T", "S") and "TT" in call:
        names = ["TT"]
    assert_same_node(torch, call, names[0])


def derivatives(library, call, name):
    """First and second derivatives of a scalar function of the result."""
    tensors = same_call.tensors_of(library)
    leaf = tensors[name].requires_grad_()
    results = flat(eval(call, {**tensors, "torch": library}))
    value = sum((r.sin() * 0.5 + r * r).sum() for r in results if r.requires_grad)
    (first,) = library.autograd.grad(value, leaf, create_graph=True)
    (second,) = library.autograd.grad((first * first).sum(), leaf)
    return first.detach().numpy(), second.numpy()


SMOOTH = [("torch.linalg.eigh((A + A.T) / 2)[0]", "A"), ("torch.linalg.eigh((A + A.T) / 2)[1].abs()", "A"),
          ("torch.linalg.cholesky(S)", "S"), ("torch.linalg.cholesky(S, upper=True)", "S"),
          ("torch.cholesky_inverse(torch.linalg.cholesky(S))", "S"), ("torch.cholesky_solve(B, A)", "A"),
          ("torch.cholesky_solve(B, A, upper=True)", "A"), ("torch.linalg.svd(T, False)[0].abs()", "T"),
          ("torch.linalg.svd(W, False)[2].abs()", "W"), ("torch.linalg.svd(T)[2].abs()", "T"),
          ("torch.linalg.svdvals(T)", "T"),
          ("[f.abs() for f in torch.linalg.qr(T)]", "T"), ("[f.abs() for f in torch.linalg.qr(W)]", "W"),
          ("torch.linalg.pinv(T)", "T"), ("torch.linalg.lstsq(T, TT[0, :, :2]).solution", "T"),
          ("torch.linalg.lstsq(W, B).solution", "W"), ("torch.linalg.lu(T)[1:]", "T"),
          ("torch.linalg.lu(W)[1:]", "W"),
          ("torch.linalg.lu_factor(A)[0]", "A"), ("torch.linalg.lu_solve(*torch.linalg.lu_factor(A), B)",
                                                  "A"),
          ("torch.linalg.inv(A)", "A"), ("torch.linalg.det(AA)", "AA"), ("torch.linalg.slogdet(AA)[1]", "AA"),
          ("torch.linalg.solve(A, BB)", "A"), ("torch.linalg.solve(AA, b)", "b"),
          ("torch.matrix_exp(AA)", "AA"),
          ("torch.linalg.solve_triangular(A, B, upper=True)", "A"),
          ("torch.linalg.householder_product(T, b)", "T"),
          ("torch.linalg.householder_product(T, b)", "b"),
          ("torch.linalg.cross(A, A.T)", "A"), ("torch.linalg.matrix_norm(A, 2)", "A"),
          ("torch.linalg.cond(A)", "A")]


@pytest.mark.parametrize(("call", "name"), SMOOTH)
def test_derivatives_are_pytorchs(call, name):
    for own, other in zip(derivatives(teachtorch, call, name), derivatives(torch, call, name)):
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-8)


def forward_derivative(library, call, name):
    forward_ad = library.autograd.forward_ad
    tensors = same_call.tensors_of(library)
    with forward_ad.dual_level():
        tensors[name] = forward_ad.make_dual(tensors[name], tensors[name].sin())
        results = flat(eval(call, {**tensors, "torch": library}))
        found = [forward_ad.unpack_dual(r).tangent for r in results if r.is_floating_point()]
        return [None if t is None else t.numpy() for t in found]


# PyTorch's forward derivative of cholesky_inverse differs from central differences; ours does not.
FORWARD = [case for case in SMOOTH if "cholesky_inverse" not in case[0]]


@pytest.mark.parametrize(("call", "name"), FORWARD)
def test_forward_derivative_is_pytorchs(call, name):
    for own, other in zip(forward_derivative(teachtorch, call, name), forward_derivative(torch, call, name)):
        assert (own is None) == (other is None)
        if own is not None:
            np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("call", ERRORS)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", SINGULAR)
def test_failed_factorisation_says_what_pytorch_says(call):
    ours, theirs = same_call.evaluated(teachtorch, call), same_call.evaluated(torch, call)
    assert isinstance(ours, teachtorch.linalg.LinAlgError) and isinstance(ours, RuntimeError)
    assert isinstance(theirs, torch.linalg.LinAlgError)
    assert str(ours) == str(theirs)


def test_forward_derivative_of_cholesky_inverse_equals_differences():
    a, step = MATRICES["S"], 1e-6
    call = "torch.cholesky_inverse(torch.linalg.cholesky(S))"
    ends = [np.linalg.inv(a + sign * step * np.sin(a)) for sign in (1, -1)]
    np.testing.assert_allclose(forward_derivative(teachtorch, call, "S")[0], (ends[0] - ends[1]) / (2 * step),
                               atol=1e-8)


def test_determinant_of_a_singular_matrix_has_its_cofactors_as_gradient():
    """PyTorch returns zeros here; the cofactors of [[1, 2], [2, 4]] are [[4, -2], [-2, 1]]."""
    a = teachtorch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=teachtorch.float64, requires_grad=True)
    teachtorch.linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-12)
