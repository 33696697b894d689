"""Which dtype `out=` must have: most operators convert their result, as long as its category does not fall; some want
the result's own dtype, each group in its own words."""
from ..core.dtype import cpp_name, scalar_type_name

_FOUND = "Found dtype {out} but expected {result}"
_EXPECTED = "Expected out tensor to have dtype {cpp_result}, but got {cpp_out} instead"
_BOOLEAN = "{name} does not support non-boolean outputs."
_NORM = "{name} expected out tensor dtype {result} but got: {out}"
_HISTOGRAM = ("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {cpp_result} "
              "and hist {cpp_out}")
_DOT = "result dtype {out} does not match input dtype {result}"
_TENSORDOT = ("tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with dtype "
              "{out}")

_GROUPS = {
    _FOUND: "abs bitwise_not ceil clamp conj_physical floor frac hardshrink neg round round_decimals sgn sign softplus "
            "softshrink trunc",
    _EXPECTED: "alias_copy argsort as_strided_copy isin addmm baddbmm bmm cross diag diagonal_copy expand_copy "
               "frobenius_norm permute_copy qr renorm scatter_src scatter_value select_copy slice_copy slogdet "
               "split_with_sizes_copy squeeze_copy svd t_copy take_along_dim transpose_copy triangular_solve "
               "unbind_copy unfold_copy unsqueeze_copy view_copy linalg.inv linalg.inv_ex linalg.cholesky "
               "linalg.cholesky_ex linalg.cross linalg.det linalg.eigh linalg.eigvalsh linalg.ldl_factor "
               "linalg.ldl_factor_ex linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.matrix_power linalg.qr "
               "linalg.slogdet linalg.solve linalg.solve_ex linalg.svd linalg.svdvals linalg.vector_norm linear "
               "matmul mm msort norm slice_scatter tril triu",
    _BOOLEAN: "isneginf isposinf signbit",
    _NORM: "linalg.matrix_norm linalg.norm",
    _HISTOGRAM: "histc histogram",
    _DOT: "dot vdot",
    _TENSORDOT: "tensordot inner",
}
_SINGLE = {
    "frexp": "torch.frexp() expects mantissa to have dtype {cpp_result} but got {cpp_out}",
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "linalg.solve_triangular": "expected scalar type {result} but found {out}",
    "mv": "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",
    "nan_to_num": "nan_to_num: dtype of out: {out} should be same as input: {result}",
    "nonzero_static": "nonzero_static: Expected out tensor to have scalar type {result} but got scalar type{out}",
    "nuclear_norm": "linalg.matrix_norm expected out tensor dtype {result} but got: {out}",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{result} and result "
             "has dtype {out}",
    "linalg.multi_dot": "multi_dot(): expected out tensor to have dtype {cpp_result} but got {cpp_out}",
    "linalg.vecdot": "linalg.vecdot: Expected out of dtype{result} but found {out}",
    "logcumsumexp": "expected scalar_type {result} but found {out}",
    "nonzero": "nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}",
    "where": "Expected out type to be {result} but got {out}",
}
REFUSALS = {name: words for words, names in _GROUPS.items() for name in names.split()} | _SINGLE

def check_out_dtype(name, result, out):
    """RuntimeError where the operator wants an `out` of its result's dtype and gets another."""
    words = REFUSALS.get(name)
    if words is not None and result is not out:
        raise RuntimeError(words.format(name=name, result=scalar_type_name(result), out=scalar_type_name(out),
                                        cpp_result=cpp_name(result), cpp_out=cpp_name(out)))
