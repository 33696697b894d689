"""How operators are taken apart into pointwise values and reductions.

A rule is `rule(b, node, *args, **kwargs)`: `b` is the Lowering, arguments are Values, numbers and the rest.
It returns a Value, a tuple of them for an operator with several results, or None if this call is to stay a
call. Sums are made in float64, whatever the dtype, and rounded once.
"""
import math

from ..core import dtype as dt
from ..kernels import scalar
from ..ops import activation
from .ir import Value

RULES = {}
FLOATS = (dt.float32, dt.float64)
WHERE = "({1} if {0} else {2})"                 # the only expression whose first operand keeps its dtype


def rule(*names):
    def register(function):
        for name in names:
            RULES[name] = function
        return function
    return register


# ---- arithmetic --------------------------------------------------------------------------------------------

def arithmetic(text, *names):
    """Rules for operators that are one expression, for numbers of every kind."""
    @rule(*names)
    def binary(b, node, *operands):
        result = node.meta["val"]
        if result.dtype is dt.bool:
            return None
        return b.pointwise(text, *operands, compute=result.dtype, like=result, name=node.name)


arithmetic("{0} * {1}", "mul")
arithmetic("-{0}", "neg")


@rule("add", "sub", "rsub")
def add(b, node, self, other, alpha=1):
    """self + alpha * other, or with -."""
    result = node.meta["val"]
    if result.dtype is dt.bool:
        return None
    if alpha != 1:
        other = b.pointwise("{0} * {1}", other, alpha,
                            compute=result.dtype) if isinstance(other, Value) else other * alpha
    sign = "+" if node.target._op.name == "add" else "-"
    if node.target._op.name == "rsub":
        if alpha != 1:
            return None
        self, other = other, self
    return b.pointwise("{0} %s {1}" % sign, self, other, compute=result.dtype, like=result, name=node.name)


@rule("div")
def div(b, node, self, other):
    result = node.meta["val"]
    return b.pointwise("{0} / {1}", self, other, compute=result.dtype, like=result, name=node.name)


POWERS = {1: "{0}", 2: "{0} * {0}", 3: "{0} * {0} * {0}", -1: "{one} / {0}", 0.5: "math.sqrt({0})"}


@rule("pow")
def pow(b, node, self, exponent):
    """Small powers are products."""
    result = node.meta["val"]
    if not isinstance(self, Value) or isinstance(exponent, (Value, bool)) or result.dtype not in FLOATS:
        return None
    text = POWERS.get(exponent)
    if text is None:
        return b.declared_pointwise(node.target._op, node, (self, exponent), {})
    return b.pointwise(text, self, compute=result.dtype, like=result, name=node.name)


def one_operand(text, *names):
    """Rules for floating operators that are one expression of one operand."""
    @rule(*names)
    def unary(b, node, self):
        result = node.meta["val"]
        return b.pointwise(text, self, compute=result.dtype, like=result, name=node.name) \
            if result.dtype in FLOATS else None


one_operand("math.sqrt({0})", "sqrt")
one_operand("abs({0})", "abs")


# ---- conditions --------------------------------------------------------------------------------------------

def comparison(text, name):
    @rule(name)
    def compare(b, node, self, other):
        return b.pointwise(text, self, other, compute=b.dtype_of((self, other)), result=dt.bool,
                           like=node.meta["val"],
                           name=node.name)


for _name, _sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    comparison("{0} %s {1}" % _sign, _name)


def bitwise(text, *names):
    @rule(*names)
    def both(b, node, self, other):
        result = node.meta["val"]
        if b.dtype_of((self, other)) is not result.dtype:
            return None                         # logical_and of numbers
        return b.pointwise(text, self, other, compute=result.dtype, like=result, name=node.name)


bitwise("{0} & {1}", "bitwise_and", "logical_and")
bitwise("{0} | {1}", "bitwise_or", "logical_or")
bitwise("{0} ^ {1}", "bitwise_xor", "logical_xor")


@rule("logical_not", "bitwise_not")
def logical_not(b, node, self):
    return b.pointwise("not {0}", self, compute=dt.bool, like=node.meta["val"], name=node.name) \
        if self.dtype is dt.bool else None


@rule("where")
def where(b, node, condition, self, other):
    result = node.meta["val"]
    if not isinstance(condition, Value) or condition.dtype is not dt.bool:
        return None
    return b.pointwise(WHERE, condition, self, other, compute=result.dtype, like=result, name=node.name)


@rule("masked_fill")
def masked_fill(b, node, self, mask, value):
    return where(b, node, mask, value, self)


def clamped_both(x, low, high):
    return high if x > high else low if x < low else x


def clamped_below(x, low):
    return low if x < low else x


def clamped_above(x, high):
    return high if x > high else x


@rule("clamp")
def clamp(b, node, self, min=None, max=None):
    """Bounds that are numbers; NaN stays NaN."""
    result = node.meta["val"]
    if isinstance(min, Value) or isinstance(max, Value) or result.dtype not in FLOATS:
        return None
    function = clamped_above if min is None else clamped_below if max is None else clamped_both
    if min is not None and max is not None and min > max:
        min = max
    bounds = [bound for bound in (min, max) if bound is not None]
    return b.pointwise(function, self, *bounds, compute=result.dtype, like=result, name=node.name)


# ---- activations whose operators are no declared pointwise ones --------------------------------------------

@rule("gelu")
def gelu(b, node, self, approximate="none"):
    function = {"none": scalar.gelu, "tanh": scalar.gelu_tanh}[approximate]
    result = node.meta["val"]
    return b.pointwise(function, self, compute=result.dtype, like=result, name=node.name)


@rule("gelu_backward")
def gelu_backward(b, node, grad, self, approximate="none"):
    forms = {"none": activation.gelu_backward_form, "tanh": activation.gelu_tanh_backward_form}
    result = node.meta["val"]
    return b.pointwise(forms[approximate], grad, self, compute=result.dtype, like=result, name=node.name)


# ---- copies ------------------------------------------------------------------------------------------------

@rule("detach", "alias")
def detach(b, node, self):
    return self


@rule("clone", "_to_copy")
def clone(b, node, self, dtype=None, device=None, memory_format=None, *rest, **options):
    """A copy, in another dtype."""
    result = node.meta["val"]
    makes_bool = result.dtype.category == dt.BOOL and self.dtype.category != dt.BOOL
    if device is not None or makes_bool or is_cut(self.dtype, result.dtype):
        return None
    return b.pointwise("{0}", self, compute=result.dtype, like=result, name=node.name)


def is_cut(source, result):
    """From floats to integers, where numbers out of range are C's affair."""
    return source.category == dt.FLOATING and result.category != dt.FLOATING


# ---- sums and maxima ---------------------------------------------------------------------------------------

def dims_of(dim):
    return () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)


@rule("sum", "sum_dim")
def sum_(b, node, self, dim=None, keepdim=False, *, dtype=None):
    """Of floats; integers stay with the operator, which widens."""
    if dtype is not None or self.dtype not in FLOATS:
        return None
    return b.reduce("sum", self, dims_of(dim), keepdim, node.name)


@rule("mean", "mean_dim")
def mean(b, node, self, dim=None, keepdim=False, *, dtype=None):
    total = sum_(b, node, self, dim, keepdim, dtype=dtype)
    if total is None:
        return None
    return b.pointwise("{0} / {1}", total, self.numel // total.numel, name=node.name)


@rule("amax", "amin")
def extreme(b, node, self, dim=(), keepdim=False):
    if self.dtype not in FLOATS:
        return None
    return b.reduce(node.target._op.name, self, dims_of(dim), keepdim, node.name)


def moments(b, x, dims, keepdim, correction):
    """(mean, kept as ones; the mean square distance from it); None if there is nothing to divide by."""
    total = b.reduce("sum", x, dims, True)
    if total is None:
        return None
    count = x.numel // total.numel
    if count <= correction:
        return None
    mean = b.pointwise("{0} / {1}", total, count)
    centred = b.pointwise("{0} - {1}", x, mean)
    squares = b.reduce("sum", b.pointwise("{0} * {0}", centred), dims, keepdim)
    return mean, b.pointwise("{0} / {1}", squares, count - correction)


@rule("var", "std")
def var(b, node, self, dim=None, correction=None, keepdim=False):
    if self.dtype not in FLOATS:
        return None
    found = moments(b, self, dims_of(dim), keepdim, 1 if correction is None else correction)
    if found is None or node.target._op.name == "var":
        return found and found[1]
    return b.pointwise("math.sqrt({0})", found[1], name=node.name)


# ---- softmax -----------------------------------------------------------------------------------------------

@rule("_softmax")
def softmax(b, node, self, dim):
    top = b.reduce("amax", self, (dim,), True)
    if top is None:
        return None
    powers = b.pointwise(scalar.exp, b.pointwise("{0} - {1}", self, top))
    return b.pointwise("{0} / {1}", powers, b.reduce("sum", powers, (dim,), True), name=node.name)


@rule("_log_softmax")
def log_softmax(b, node, self, dim):
    top = b.reduce("amax", self, (dim,), True)
    if top is None:
        return None
    shifted = b.pointwise("{0} - {1}", self, top)
    total = b.reduce("sum", b.pointwise(scalar.exp, shifted), (dim,), True)
    return b.pointwise("{0} - {1}", shifted, b.pointwise(scalar.log, total), name=node.name)


@rule("_softmax_backward_data")
def softmax_backward(b, node, grad_output, output, dim):
    product = b.pointwise("{0} * {1}", grad_output, output)
    total = b.reduce("sum", product, (dim,), True)
    return None if total is None else b.pointwise("{0} * ({1} - {2})", output, grad_output, total,
                                                  name=node.name)


@rule("_log_softmax_backward_data")
def log_softmax_backward(b, node, grad_output, output, dim):
    total = b.reduce("sum", grad_output, (dim,), True)
    if total is None:
        return None
    return b.pointwise("{0} - {1} * {2}", grad_output, b.pointwise(scalar.exp, output), total, name=node.name)


# ---- layer norm --------------------------------------------------------------------------------------------

@rule("native_layer_norm")
def layer_norm(b, node, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    dims = tuple(range(-len(normalized_shape), 0))
    found = moments(b, input, dims, True, 0)
    if found is None or input.dtype not in FLOATS:
        return None
    mean, variance = found
    rstd = b.pointwise("{one} / math.sqrt({0} + {1})", variance, eps)
    result = b.pointwise("({0} - {1}) * {2}", input, mean, rstd)
    result = result if weight is None else b.pointwise("{0} * {1}", result, weight)
    result = result if bias is None else b.pointwise("{0} + {1}", result, bias)
    return result, mean, rstd


@rule("native_layer_norm_backward")
def layer_norm_backward(b, node, grad_output, input, normalized_shape, weight, mean, rstd):
    dims = tuple(range(-len(normalized_shape), 0))
    leading = tuple(range(len(input.shape) - len(normalized_shape)))
    if input.dtype not in FLOATS or 0 in input.shape or not leading:
        return None
    normal = b.pointwise("({0} - {1}) * {2}", input, mean, rstd)
    slope = grad_output if weight is None else b.pointwise("{0} * {1}", grad_output, weight)
    count = math.prod(normalized_shape)
    product = b.pointwise("{0} * {1}", slope, normal)
    tilt = b.pointwise("{0} / {1}", b.reduce("sum", product, dims, True), count)
    shift = b.pointwise("{0} / {1}", b.reduce("sum", slope, dims, True), count)
    own = b.pointwise("({0} - {1} - {2} * {3}) * {4}", slope, shift, normal, tilt, rstd)
    weight_slope = b.reduce("sum", b.pointwise("{0} * {1}", grad_output, normal), leading)
    return own, weight_slope, b.reduce("sum", grad_output, leading)


# ---- losses ------------------------------------------------------------------------------------------------

@rule("mse_loss")
def mse_loss(b, node, self, target, reduction):
    result = node.meta["val"]
    if result.dtype not in FLOATS:
        return None
    difference = b.pointwise("{0} - {1}", self, target, compute=result.dtype)
    return reduced(b, b.pointwise("{0} * {0}", difference), reduction)


def reduced(b, x, reduction):
    """The loss of every element, their sum or their mean."""
    if reduction == "none":
        return x
    total = b.reduce("sum", x, ())
    return total if total is None or reduction == "sum" else b.pointwise("{0} / {1}", total, x.numel)


@rule("mse_loss_backward")
def mse_loss_backward(b, node, grad_output, self, target, reduction):
    result = node.meta["val"]
    if result.dtype not in FLOATS or 0 in result.shape:
        return None
    factor = 2.0 / self.numel if reduction == "mean" else 2.0
    slope = b.pointwise("({0} - {1}) * {2}", self, target, factor, compute=result.dtype)
    return b.pointwise("{0} * {1}", slope, grad_output, compute=result.dtype)
