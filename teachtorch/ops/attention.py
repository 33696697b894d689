"""Scaled dot-product attention and multi-head attention.

Attention over (batch, heads, length, features) without dropout is one operator, as PyTorch's "flash" kernel
for the CPU; all other cases are composed of operators, as PyTorch's "math" path
(aten/src/ATen/native/transformers).
"""

import math
import warnings

from ..autograd.api import grad as gradients_of
from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch import keys as K
from ..dispatch.state import state
from ..kernels import attention as kernels
from ..kernels.pointwise import silently
from ..tensor import Tensor, stride_of
from .declare import exports, operator, publish
from .fake import Fake

F = exports["nn.functional"]
cat, ones, zeros, where = (exports[""][name] for name in ("cat", "ones", "zeros", "where"))
linear, pad = F["linear"], F["pad"]


# ---- by one operator ---------------------------------------------------------------------------------------


def fake_attention(query, key, value, is_causal=False, attn_mask=None, scale=None):
    return fake_like(query), Fake(query._shape[:3], query._dtype)


def fake_like(t):
    """A result in the order of memory of an argument."""
    return Fake(t._shape, t._dtype, geometry.preserve_format_strides(t._shape, stride_of(t)))


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
    found = attention_backward(
        grad, grads[1], query, key, value, is_causal, attn_mask, scale, output, logsumexp
    )
    return [slope if needed else None for slope, needed in zip(found, needs)]


def slopes_by_operators(grads, tensors, is_causal, attn_mask, scale, needs):
    inputs = [t.view_as(t) for t in tensors]
    outputs = composed_attention(*inputs, is_causal, attn_mask, scale)
    pairs = [(out, grad) for out, grad in zip(outputs, grads) if grad is not None]
    wanted = [t for t, needed in zip(inputs, needs) if needed]
    found = iter(
        gradients_of(
            [out for out, _ in pairs],
            wanted,
            [grad for _, grad in pairs],
            create_graph=True,
            allow_unused=True,
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
    return [fake_like(t) for t in (query, key, value)]


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
    return silently(
        kernels.backward, grad, grad_lse, query, key, value, attn_mask, output, logsumexp, is_causal, scale
    )


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
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
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
    if attn_mask is not None and (
        tracks(attn_mask) and state.grad_enabled or not mask_fits(attn_mask, query, key)
    ):
        return False
    same_heads = shapes[0][:2] == shapes[1][:2] == shapes[2][:2]
    return same_heads and shapes[0][3] == shapes[1][3] == shapes[2][3] and shapes[1][2] == shapes[2][2]


def plain_cpu(*tensors):
    return all([t._dtype in (dt.float32, dt.float64) and t._keys & K.CPU for t in tensors])


def mask_fits(mask, query, key):
    scores = query._shape[:3] + key._shape[2:3]
    try:
        return geometry.broadcast_shapes(mask._shape, scores) == scores and mask._dtype in (
            dt.bool,
            query._dtype,
        )
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
        kinds = [c_type(t._dtype) for t in tensors]
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
            f"attn_mask.dtype: {c_type(attn_mask._dtype)} and  query.dtype: {c_type(query._dtype)} "
            "instead."
        )


C_TYPES = {
    "Float": "float",
    "Double": "double",
    "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
    "Long": "long int",
    "Int": "int",
    "Short": "short int",
    "Bool": "bool",
    "Byte": "unsigned char",
    "Char": "signed char",
}


def c_type(dtype):
    return C_TYPES[scalar_type_name(dtype)]


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
            attn_mask.size(-2)                 # IndexError for a mask of less than two dimensions
        return attention_operator(query, key, value, is_causal, attn_mask, scale)[0]
    if not allowed["math"]:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found. This is likely due to turning "
                           "off both the math kernel and the fused kernels.")
    return attention_by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


publish("scaled_dot_product_attention", scaled_dot_product_attention, ("nn.functional",))


# ---- multi-head attention: arguments -----------------------------------------------------------------------


def check_dims(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the input is batched. AssertionError for numbers of dimensions that do not go together."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    dims = query.dim()
    kind = "batched (3-D)" if dims == 3 else "unbatched (2-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and dims == 2 and attn_mask.dim() == 3:
        check_unbatched_mask(attn_mask, (num_heads, query.shape[0], key.shape[0]))
    return dims == 3


def check_unbatched_mask(attn_mask, expected):
    if attn_mask.shape != expected:
        raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")


def float_mask(mask, mask_name, other, other_name, target_type, check_other=True):
    """A mask as one to be added: -inf where a bool mask is True. Warns if `other`, a mask, has another dtype."""
    if mask is None:
        return None
    if mask._dtype is not dt.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other is not None and mask._dtype is not other._dtype:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=3,
        )
    if mask._dtype is dt.bool:
        return zeros(mask._shape, dtype=target_type, device=mask.device).masked_fill_(mask, float("-inf"))
    return mask


def batched_mask(attn_mask, batch, heads, queries, keys):
    """The mask as (1 or batch * heads, queries, keys)."""
    expected = (queries, keys) if attn_mask.dim() == 2 else (batch * heads, queries, keys)
    if attn_mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {expected}."
        )
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def check_sizes(query, key, value, embed_dim_to_check, num_heads, is_separate):
    embed_dim = query._shape[2]
    if embed_dim != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
        )
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if is_separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not is_separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


# ---- multi-head attention: steps ---------------------------------------------------------------------------


def projected_by_one(query, key, value, weight, bias):
    """Query, key and value through the three parts of one weight (3 E, E): by as few products as their
    identities allow."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    size = query._shape[-1]
    if key is value and query is key:
        return parts_of(linear(query, weight, bias), 3)
    if key is value:
        w_q, w_kv = weight.split([size, 2 * size])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, 2 * size])
        return (linear(query, w_q, b_q), *parts_of(linear(key, w_kv, b_kv), 2))
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple([linear(*each) for each in zip((query, key, value), weight.chunk(3), biases)])


def parts_of(projected, count):
    """The last dimension's parts, each contiguous: (..., count * E) as `count` tensors (..., E)."""
    parts = projected.unflatten(-1, (count, -1)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return parts.unbind(0)


def projected_by_three(tensors, weights, bias):
    """Query, key and value, each through its own weight."""
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    size = tensors[0]._shape[-1]
    for name, t, weight in zip(("q", "k", "v"), tensors, weights):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    for name, t, weight in zip(("query", "key", "value"), tensors, weights):
        if weight.shape != (size, t._shape[-1]):
            raise AssertionError(
                f"expecting {name} weights shape of {(size, t._shape[-1])}, but got {weight.shape}"
            )
    return tuple([linear(*each) for each in zip(tensors, weights, biases)])


def check_bias_kv(bias_k, bias_v, static_k, static_v):
    for own, other, name, text in (
        (bias_k, bias_v, "bias_k", "bias_v"),
        (bias_v, bias_k, "bias_v", "bias_k"),
    ):
        if own is not None and other is None:
            raise AssertionError(f"{name} is set but {text} is None")
    if bias_k is not None and static_k is not None:
        raise AssertionError("bias cannot be added to static key.")
    if bias_k is not None and static_v is not None:
        raise AssertionError("bias cannot be added to static value.")


def padded(mask, count):
    """A mask for some keys more, which are seen."""
    return mask if mask is None or not count else pad(mask, (0, count))


def in_heads(projected, bias_k, bias_v, static_k, static_v, heads):
    """Query, key and value as (batch * heads, length, features)."""
    q, k, v = projected
    batch, features = q._shape[1], q._shape[2] // heads
    if bias_k is not None:
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
    found = [as_heads(q, batch, heads, features)]
    for name, t, static in (("static_k", k, static_k), ("static_v", v, static_v)):
        found.append(
            as_heads(t, batch, heads, features)
            if static is None
            else given_heads(static, name, batch * heads, features)
        )
    return found


def as_heads(t, batch, heads, features):
    """(length, batch, E) as (batch * heads, length, features)."""
    return t.view(t._shape[0], batch * heads, features).transpose(0, 1)


def given_heads(static, name, batch_heads, features):
    if static._shape[0] != batch_heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch_heads}, but got {static._shape[0]}")
    if static._shape[2] != features:
        raise AssertionError(f"expecting {name}.size(2) of {features}, but got {static._shape[2]}")
    return static


def with_zeros(t):
    """One key (or value) more, of zeros."""
    return cat([t, zeros((t._shape[0], 1, t._shape[2]), dtype=t._dtype, device=t.device)], 1)


def merged_masks(attn_mask, key_padding_mask, batch, heads, keys):
    """Both masks as one, (batch * heads, queries or 1, keys)."""
    if key_padding_mask is None:
        return attn_mask
    for place, expected in enumerate((batch, keys)):
        if key_padding_mask._shape[place] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {expected}, but got "
                f"{key_padding_mask._shape[place]}"
            )
    spread = (
        key_padding_mask.view(batch, 1, 1, keys).expand(-1, heads, -1, -1).reshape(batch * heads, 1, keys)
    )
    return spread if attn_mask is None else attn_mask + spread


def weighed(q, k, v, mask, dropout_p, is_causal, heads):
    """(output (queries, batch * heads, features), weights (batch, heads, queries, keys))."""
    if is_causal and mask is None:
        raise AssertionError("FIXME: is_causal not implemented for need_weights")
    q = q * math.sqrt(1.0 / q._shape[2])
    scores = q.bmm(k.transpose(-2, -1)) if mask is None else mask.baddbmm(q, k.transpose(-2, -1))
    weights = scores.softmax(-1)
    weights = F["dropout"](weights, dropout_p) if dropout_p > 0 else weights
    return weights.bmm(v).transpose(0, 1), weights.view(-1, heads, *weights._shape[1:])


def unweighed(q, k, v, mask, dropout_p, is_causal, heads):
    """(output (queries, batch, heads, features), None)."""
    batch = q._shape[0] // heads
    if mask is not None:
        mask = mask.unsqueeze(0) if mask._shape[0] == 1 else mask.view(batch, heads, -1, k._shape[1])
    q, k, v = (t.view(batch, heads, *t._shape[1:]) for t in (q, k, v))
    return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal).permute(2, 0, 1, 3), None


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """What nn.MultiheadAttention computes, which explains the arguments: (output, weights or None).

    `query` (queries, batch, E), `key` and `value` (keys, batch, ...), or all without the batch. `static_k`,
    `static_v`: (batch * heads, keys, E / heads), in place of the projected ones.
    """
    is_batched = check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    (queries, batch, embed_dim), heads = query._shape, num_heads
    key_padding_mask = float_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query._dtype)
    attn_mask, is_causal = causal_arguments(
        attn_mask, is_causal, key_padding_mask, need_weights, query._dtype
    )
    check_sizes(query, key, value, embed_dim_to_check, heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
        projected = projected_by_three((query, key, value), weights, in_proj_bias)
    else:
        projected = projected_by_one(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        attn_mask = batched_mask(attn_mask, batch, heads, queries, key._shape[0])
    check_bias_kv(bias_k, bias_v, static_k, static_v)
    q, k, v = in_heads(projected, bias_k, bias_v, static_k, static_v, heads)
    k, v = (with_zeros(k), with_zeros(v)) if add_zero_attn else (k, v)
    added = (bias_k is not None) + bool(add_zero_attn)
    mask = merged_masks(padded(attn_mask, added), padded(key_padding_mask, added), batch, heads, k._shape[1])
    attend = weighed if need_weights else unweighed
    out, weights = attend(q, k, v, mask, dropout_p if training else 0.0, is_causal, heads)
    out = linear(out.reshape(queries * batch, embed_dim), out_proj_weight, out_proj_bias)
    return handed_out(out.view(queries, batch, out._shape[1]), weights, average_attn_weights, is_batched)


def handed_out(out, weights, average_attn_weights, is_batched):
    """The results, without the batch if there was none."""
    if weights is not None:
        weights = weights.mean(1) if average_attn_weights else weights
    if is_batched:
        return out, weights
    return out.squeeze(1), None if weights is None else weights.squeeze(0)


def causal_arguments(attn_mask, is_causal, key_padding_mask, need_weights, dtype):
    """(mask, is_causal): a causal mask is not needed where the kernel knows by itself what to hide."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        return None, True
    mask = float_mask(attn_mask, "attn_mask", None, "", dtype, False)
    return mask, is_causal and key_padding_mask is None


publish("multi_head_attention_forward", multi_head_attention_forward, ("nn.functional",))
