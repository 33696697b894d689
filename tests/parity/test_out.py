"""`out=` of functions against PyTorch: of the result's shape, empty, of another dtype; given to what lies otherwise."""
import warnings

import pytest

import teachtorch

torch = pytest.importorskip("torch")

# x: transposed, 4 by 4; p: permuted, 4 by 3 by 2; s: positive-definite, 4 by 4; v: 4 numbers; i: whole numbers
CALLS = """
    argsort(p, dim=1, stable=True) | conj_physical(x) | frobenius_norm(p, (1,)) | frobenius_norm(x, (0, 1))
    nuclear_norm(x) | slogdet(s) | polygamma(1, p) | mvlgamma(s + 2, 2) | special.multigammaln(s + 2, 1)
    special.ndtr(p) | nonzero_static(x, size=3) | alias_copy(p) | as_strided_copy(x, (2, 2), (1, 2))
    expand_copy(v, (3, 4)) | permute_copy(p, (1, 0, 2)) | t_copy(x) | select_copy(p, 1, 0)
    slice_copy(p, 0, 1, 3) | squeeze_copy(p) | transpose_copy(p, 0, 1) | unfold_copy(x, 0, 2, 1)
    unsqueeze_copy(x, 0) | view_copy(s, (2, 8)) | narrow_copy(p, 0, 1, 2) | nn.functional.linear(x, x) | add(x, x)
    mm(x, x) | sum(p, 1) | cumsum(p, 1) | where(p > 0, p, p) | clamp(p, 0) | bmm(p, p.mT) | softmax(p, 1)
    cat([x, x]) | gather(i, 0, i) | linalg.inv(s) | linalg.solve(s, x) | linalg.qr(s) | linalg.cholesky(s)
    cholesky(s) | cholesky_solve(x, s) | kron(x, x) | linalg.lu_factor(s) | linalg.ldl_factor(s)
    linalg.slogdet(s) | geqrf(s) | orgqr(s, v) | ormqr(s, v, x) | inverse(s) | bitwise_not(i)
    nn.functional.hardshrink(x) | nn.functional.softplus(x) | round(x, decimals=1) | nan_to_num(x) | mv(x, v)
    inner(x, x) | vdot(v, v) | heaviside(x, x) | histc(v) | cross(s[:3], s[1:], 0) | renorm(s, 2, 0, 1)
    take_along_dim(x, i, 1) | baddbmm(bmm(p, p.mT), p, p.mT) | special.bessel_j0(p)
    special.legendre_polynomial_p(p, 2) | nonzero(x)
"""
CALLS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")]
KINDS = ("alike", "empty", "wide")
# Where PyTorch's message names C++'s variables, or a dtype otherwise.
OTHERWISE = {("narrow_copy(p, 0, 1, 2)", "wide"), ("gather(i, 0, i)", "wide")}


def names(T):
    x, p = (T.arange(16.0).reshape(4, 4) / 7 - 1).t(), (T.arange(24.0).reshape(2, 3, 4) / 9 - 1).permute(2, 1, 0)
    s = x @ x.t() + 9 * T.eye(4)
    return {**vars(T), "nn": T.nn, "linalg": T.linalg, "special": T.special, "x": x, "p": p, "s": s,
            "v": T.tensor([0.5, 0.25, 1.0, 0.75]), "i": T.arange(16).reshape(4, 4) % 4, "bmm": T.bmm}


def out_for(T, result, kind):
    """A tensor to write to, or one for each result."""
    if isinstance(result, tuple):
        return tuple([out_for(T, part, kind) for part in result])
    shape = (0,) if kind == "empty" else tuple(result.shape)
    return T.zeros(shape, dtype=T.float64 if kind == "wide" else result.dtype)


def described(result):
    if isinstance(result, tuple):
        return [d for part in result for d in described(part)]
    return [(str(result.dtype), tuple(result.shape), result.stride())]


def outcome(T, call, kind):
    scope = names(T)
    plain = eval(call, scope)
    out = out_for(T, plain, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(f"{call[:-1]}, out=out)", {**scope, "out": out})
        except RuntimeError as error:
            return str(error)
    parts = zip(found, plain, out) if isinstance(plain, tuple) else [(found, plain, out)]
    assert all(f is o and T.allclose(o.to(p.dtype), p) for f, p, o in parts)
    return described(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_out_is_pytorchs(call, kind):
    if (call, kind) not in OTHERWISE:
        assert outcome(teachtorch, call, kind) == outcome(torch, call, kind)


@pytest.mark.parametrize("call", [
    "nn.functional.gelu(x, out=x)", "nn.functional.avg_pool2d(x[None], 2, out=x)", "conj(x, out=x)"])
def test_what_takes_no_out_says_so(call):
    """It did not return, calling itself for NumPy's names of arguments."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        eval(call, names(teachtorch))


def test_mvlgamma_in_place():
    for T in (teachtorch, torch):
        x = T.tensor([3.0, 4.0])
        assert x.mvlgamma_(2) is x
        assert T.allclose(x, T.mvlgamma(T.tensor([3.0, 4.0]), 2))


def test_autocast_is_switched_by_one_bool_as_it_used_to_be():
    teachtorch.set_autocast_enabled(True)
    assert not teachtorch.is_autocast_enabled("cpu")
    teachtorch.set_autocast_enabled(enabled=False)
