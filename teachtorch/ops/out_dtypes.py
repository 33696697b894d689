"""Which dtype `out=` must have: most operators convert their result, as long as its category does not fall; some want
the result's own dtype, each group in its own words."""
from ..core.dtype import cpp_name, scalar_type_name

_FOUND = "Found dtype {out} but expected {result}"
_EXPECTED = "Expected out tensor to have dtype {cpp_result}, but got {cpp_out} instead"
_BOOLEAN = "{name} does not support non-boolean outputs."
_NORM = "{name} expected out tensor dtype {result} but got: {out}"

_GROUPS = {
    _FOUND: "abs ceil clamp floor frac neg round sgn sign trunc",
    _EXPECTED: "isin addmm diag diagonal_copy expand_copy t_copy linalg.inv linalg.cholesky linalg.det linalg.eigvalsh "
               "linalg.matrix_power linalg.solve linalg.svdvals linalg.vector_norm matmul mm msort norm slice_scatter "
               "tril triu",
    _BOOLEAN: "isneginf isposinf signbit",
    _NORM: "linalg.matrix_norm linalg.norm",
}
_SINGLE = {
    "dot": "result dtype {out} does not match input dtype {result}",
    "linalg.multi_dot": "multi_dot(): expected out tensor to have dtype {cpp_result} but got {cpp_out}",
    "linalg.vecdot": "linalg.vecdot: Expected out of dtype{result} but found {out}",
    "logcumsumexp": "expected scalar_type {result} but found {out}",
    "nonzero": "nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}",
    "where": "Expected out type to be {result} but got {out}",
    "tensordot": "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with dtype "
                 "{out}",
}
REFUSALS = {name: words for words, names in _GROUPS.items() for name in names.split()} | _SINGLE

def check_out_dtype(name, result, out):
    """RuntimeError where the operator wants an `out` of its result's dtype and gets another."""
    words = REFUSALS.get(name)
    if words is not None and result is not out:
        raise RuntimeError(words.format(name=name, result=scalar_type_name(result), out=scalar_type_name(out),
                                        cpp_result=cpp_name(result), cpp_out=cpp_name(out)))
