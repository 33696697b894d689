"""Scaled dot-product attention. What nn.MultiheadAttention makes of it is in multihead_attention.py.

Attention over (batch, heads, length, features) without dropout is one operator, as PyTorch's "flash" kernel
for the CPU; all other cases are composed of operators, as PyTorch's "math" path
(aten/src/ATen/native/transformers).
"""

import math

from ..autograd.api import grad as gradients_of
from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import cpp_name
from ..dispatch import keys as K
from ..dispatch.state import state
from ..kernels import attention as kernels
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .declare import exports, operator, publish
from .fake import Fake, preserved_like

F = exports["nn.functional"]
ones, zeros, where = (exports[""][name] for name in ("ones", "zeros", "where"))


# ---- by one operator ---------------------------------------------------------------------------------------


def fake_attention(query, key, value, is_causal=False, attn_mask=None, scale=None):
    return preserved_like(query), Fake(query._shape[:3], query._dtype)


def factor(scale, features):
    return 1 / math.sqrt(features) if scale is None else scale


def composed_attention(query, key, value, is_causal, attn_mask, scale):
    """(output, logarithms of the sums) by operators."""
    scores = masked_scores(query, key, is_causal, attn_mask, factor(scale, query._shape[-1]))
    return safe_softmax(scores, attn_mask) @ value, scores.logsumexp(-1)


def attention_slopes(grads, query, key, value, is_causal, attn_mask, scale, output, logsumexp, needs):
    """The gradients of query, key and value: by one kernel, or by operators where they are to be differentiated."""
    if state.grad_enabled:
        return slopes_by_operators(grads, (query, key, value), is_causal, attn_mask, scale, needs)
    grad = query.new_zeros(output._shape) if grads[0] is None else grads[0]
    found = attention_backward(grad, grads[1], query, key, value, is_causal, attn_mask, scale, output, logsumexp)
    return [slope if needed else None for slope, needed in zip(found, needs)]


def slopes_by_operators(grads, tensors, is_causal, attn_mask, scale, needs):
    inputs = [t.view_as(t) for t in tensors]
    outputs = composed_attention(*inputs, is_causal, attn_mask, scale)
    pairs = [(out, grad) for out, grad in zip(outputs, grads) if grad is not None]
    wanted = [t for t, needed in zip(inputs, needs) if needed]
    found = iter(
        gradients_of(
            [out for out, _ in pairs], wanted, [grad for _, grad in pairs], create_graph=True, allow_unused=True
        )
    )
    return [next(found) if needed else None for needed in needs]


def attention_tangent(query_t, key_t, value_t, query, key, value, is_causal, attn_mask, scale):
    """The tangents of the output and of the logarithms."""
    scale = factor(scale, query._shape[-1])
    weights = safe_softmax(masked_scores(query, key, is_causal, attn_mask, scale), attn_mask)
    parts = [] if query_t is None else [query_t @ key.transpose(-2, -1)]
    parts += [] if key_t is None else [query @ key_t.transpose(-2, -1)]
    slope = (sum(parts[1:], parts[0]) if parts else weights.new_zeros(weights._shape)) * scale
    mean = (weights * slope).sum(-1)
    out = (weights * (slope - mean.unsqueeze(-1))) @ value
    return (out if value_t is None else out + weights @ value_t), mean


@operator(
    "_scaled_dot_product_flash_attention_for_cpu",
    fake=fake_attention,
    jvp=attention_tangent,
    out=False,
    outputs=("output", "logsumexp"),
    spaces=(),
    vjp={"query, key, value": attention_slopes},
)
def attention_operator(query, key, value, is_causal=False, attn_mask=None, scale=None):
    """softmax(query @ keyᵀ * scale + mask) @ value, and the logarithm of each softmax's denominator."""
    return silently(kernels.forward, query, key, value, attn_mask, is_causal, factor(scale, query.shape[-1]))


def fake_backward(grad, grad_lse, query, key, value, is_causal, attn_mask, scale, output, logsumexp):
    return [preserved_like(t) for t in (query, key, value)]


@operator(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    fake=fake_backward,
    out=False,
    spaces=(),
    outputs=("query", "key", "value"),
)
def attention_backward(grad, grad_lse, query, key, value, is_causal, attn_mask, scale, output, logsumexp):
    """The gradients of attention's query, key and value."""
    scale = factor(scale, query.shape[-1])
    return silently(kernels.backward, grad, grad_lse, query, key, value, attn_mask, output, logsumexp, is_causal, scale)


# ---- composed ----------------------------------------------------------------------------------------------


def causal_mask(query, key):
    return ones((query._shape[-2], key._shape[-2]), dtype=dt.bool, device=query.device).tril()


def masked_scores(query, key, is_causal, attn_mask, scale):
    """(query @ keyᵀ) * scale, and -inf where a key may not be seen; a float mask is added."""
    root = math.sqrt(abs(scale))
    scores = (query * (root if scale >= 0 else -root)) @ (key.transpose(-2, -1) * root)
    for mask in (causal_mask(query, key) if is_causal else None, attn_mask):
        if mask is not None and mask._dtype is dt.bool:
            mask = zeros((), dtype=query._dtype, device=query.device).where(mask, float("-inf"))
        scores = scores if mask is None else scores + mask
    return scores


def safe_softmax(scores, attn_mask):
    """Softmax over the last dimension; zero where a query sees nothing."""
    if attn_mask is None:
        return scores.softmax(-1)
    is_empty = scores.eq(float("-inf")).all(-1, True)
    return scores.masked_fill(is_empty, 0).softmax(-1).masked_fill(is_empty, 0)


def attention_by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    if attn_mask is not None and is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (repeated_heads(t, query._shape[-3]) for t in (key, value))
    scores = masked_scores(query, key, is_causal, attn_mask, factor(scale, query._shape[-1]))
    weights = safe_softmax(scores, attn_mask)
    weights = exports[""]["dropout"](weights, dropout_p, True) if dropout_p > 0 else weights
    return weights @ value


def attention_of_nothing(query, key, value):
    """Zeros, which depend on the arguments."""
    shape = (*query._shape[:-1], value._shape[-1])
    return zeros(shape, dtype=query._dtype, device=query.device) + (query.sum() + key.sum() + value.sum()) * 0


def repeated_heads(t, heads):
    """Each of a few heads as often as there are queries for it (grouped-query attention)."""
    own = t._shape[-3]
    if heads % own:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return t if heads == own else t.repeat_interleave(heads // own, -3)


def is_flash(query, key, value, attn_mask, dropout_p):
    """Whether one operator can do it: PyTorch's conditions for its kernel, and ours."""
    shapes = query._shape, key._shape, value._shape
    if dropout_p or any([len(s) != 4 or 0 in s for s in shapes]) or not plain_cpu(query, key, value):
        return False
    if attn_mask is not None and (tracks(attn_mask) and state.grad_enabled or not mask_fits(attn_mask, query, key)):
        return False
    same_heads = shapes[0][:2] == shapes[1][:2] == shapes[2][:2]
    return same_heads and shapes[0][3] == shapes[1][3] == shapes[2][3] and shapes[1][2] == shapes[2][2]


def plain_cpu(*tensors):
    return all([t._dtype in (dt.float32, dt.float64) and t._keys & K.CPU for t in tensors])


def mask_fits(mask, query, key):
    scores = query._shape[:3] + key._shape[2:3]
    try:
        return geometry.broadcast_shapes(mask._shape, scores) == scores and mask._dtype in (dt.bool, query._dtype)
    except RuntimeError:
        return False


def check_attention(query, key, value, attn_mask):
    """PyTorch's refusals."""
    names = "query", "key", "value"
    tensors = query, key, value
    for place, (name, t) in enumerate(zip(names, tensors), 1):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"scaled_dot_product_attention(): argument '{name}' (position {place}) must be Tensor, not "
                f"{type(t).__name__}"
            )
    if not query._dtype is key._dtype is value._dtype:
        kinds = [cpp_name(t._dtype) for t in tensors]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{kinds[0]} key.dtype: {kinds[1]} and value.dtype: {kinds[2]} instead."
        )
    if min(t.dim() for t in tensors) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if attn_mask is not None:
        check_mask(query, attn_mask)


def check_mask(query, attn_mask):
    if attn_mask._dtype not in (dt.bool, dt.float32, query._dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {cpp_name(attn_mask._dtype)} and  query.dtype: {cpp_name(query._dtype)} "
            "instead."
        )


# Which implementations may be used; torch.nn.attention.sdpa_kernel and torch.backends.cuda switch them. "flash" is
# the one operator, "math" its parts; the others are a GPU's.
allowed = {"cudnn": True, "flash": True, "mem_efficient": True, "math": True, "overrideable": True}


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    """softmax(query @ keyᵀ * scale + mask) @ value (Vaswani et al. 2017).

    Args:
        query (..., queries, features), key (..., keys, features), value (..., keys, features of the result).
        attn_mask: broadcasts to (..., queries, keys); bool: True where a key is seen; float: added to the
            scores. A query that sees no key gets zeros.
        dropout_p: the chance of each weight to be dropped, in evaluation as well.
        is_causal: query i sees keys 0 to i; not together with a mask.
        scale: 1 / sqrt(features) if left out.
        enable_gqa: key and value may have fewer heads, in dimension -3, than the query.
    """
    check_attention(query, key, value, attn_mask)
    if not (query.numel() and key.numel() and value.numel()):
        return attention_of_nothing(query, key, value)
    if allowed["flash"] and is_flash(query, key, value, attn_mask, dropout_p):
        if attn_mask is not None:
            attn_mask.size(-2)  # IndexError for a mask of less than two dimensions
        return attention_operator(query, key, value, is_causal, attn_mask, scale)[0]
    if not allowed["math"]:
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both "
            "the math kernel and the fused kernels."
        )
    return attention_by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


publish("scaled_dot_product_attention", scaled_dot_product_attention, ("nn.functional",))
