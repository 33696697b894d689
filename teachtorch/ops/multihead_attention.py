"""Multi-head attention: what nn.MultiheadAttention computes, step by step, around scaled dot-product attention."""

import math
import warnings

from ..core import dtype as dt
from .attention import scaled_dot_product_attention
from .declare import exports, publish

F = exports["nn.functional"]
cat, zeros, linear, pad = exports[""]["cat"], exports[""]["zeros"], F["linear"], F["pad"]


# ---- checking the arguments --------------------------------------------------------------------------------


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


# ---- steps -------------------------------------------------------------------------------------------------


def projected_by_one(tensors, weight, bias):
    """Query, key and value through the parts of one weight (3 E, E): one product for those that are one tensor."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    query, key, value = tensors
    size = query._shape[-1]
    if key is value and query is key:
        return parts_of(linear(query, weight, bias), 3)
    if key is value:
        w_q, w_kv = weight.split([size, 2 * size])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, 2 * size])
        return (linear(query, w_q, b_q), *parts_of(linear(key, w_kv, b_kv), 2))
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple([linear(*each) for each in zip(tensors, weight.chunk(3), biases)])


def parts_of(projected, count):
    """The last dimension's parts, each contiguous: (..., count * E) as `count` tensors (..., E)."""
    parts = projected.unflatten(-1, (count, -1)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return parts.unbind(0)


def projected_by_three(tensors, weights, bias):
    """Query, key and value, each through its own weight."""
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    size = tensors[0]._shape[-1]
    for name, weight in zip(("q", "k", "v"), weights):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    for name, t, weight in zip(("query", "key", "value"), tensors, weights):
        if weight.shape != (size, t._shape[-1]):
            raise AssertionError(
                f"expecting {name} weights shape of {(size, t._shape[-1])}, but got {weight.shape}"
            )
    return tuple([linear(*each) for each in zip(tensors, weights, biases)])


def check_bias_kv(bias_k, bias_v, static_k, static_v):
    if bias_k is not None and bias_v is None:
        raise AssertionError("bias_k is set but bias_v is None")
    if bias_v is not None and bias_k is None:
        raise AssertionError("bias_v is set but bias_k is None")
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
    batch, features = q.shape[1], q.shape[2] // heads
    if bias_k is not None:
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
    found = [as_heads(q, batch, heads, features)]
    for name, t, static in (("static_k", k, static_k), ("static_v", v, static_v)):
        if static is None:
            found.append(as_heads(t, batch, heads, features))
        else:
            found.append(given_heads(static, name, batch * heads, features))
    return found


def as_heads(t, batch, heads, features):
    """(length, batch, E) as (batch * heads, length, features)."""
    return t.view(t.shape[0], batch * heads, features).transpose(0, 1)


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
    spread = key_padding_mask.view(batch, 1, 1, keys).expand(-1, heads, -1, -1).reshape(batch * heads, 1, keys)
    return spread if attn_mask is None else attn_mask + spread


def weighed(q, k, v, mask, dropout_p, is_causal, heads):
    """(output (queries, batch * heads, features), weights (batch, heads, queries, keys))."""
    if is_causal and mask is None:
        raise AssertionError("FIXME: is_causal not implemented for need_weights")
    q = q * math.sqrt(1.0 / q._shape[2])
    scores = q.bmm(k.transpose(-2, -1)) if mask is None else mask.baddbmm(q, k.transpose(-2, -1))
    weights = scores.softmax(-1)
    weights = F["dropout"](weights, dropout_p) if dropout_p > 0 else weights
    return weights.bmm(v).transpose(0, 1), weights.view(-1, heads, *weights.shape[1:])


def unweighed(q, k, v, mask, dropout_p, is_causal, heads):
    """(output (queries, batch, heads, features), None)."""
    batch = q.shape[0] // heads
    if mask is not None:
        mask = mask.unsqueeze(0) if mask._shape[0] == 1 else mask.view(batch, heads, -1, k._shape[1])
    q, k, v = (t.view(batch, heads, *t.shape[1:]) for t in (q, k, v))
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
    (queries, batch, embed_dim), heads = query.shape, num_heads
    key_padding_mask = float_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query._dtype)
    attn_mask, is_causal = causal_arguments(attn_mask, is_causal, key_padding_mask, need_weights, query._dtype)
    check_sizes(query, key, value, embed_dim_to_check, heads, use_separate_proj_weight)
    tensors = query, key, value
    if use_separate_proj_weight:
        projected = projected_by_three(tensors, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        projected = projected_by_one(tensors, in_proj_weight, in_proj_bias)
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
    return handed_out(out.view(queries, batch, out.shape[1]), weights, average_attn_weights, is_batched)


def handed_out(out, weights, average_attn_weights, is_batched):
    """The results, without the batch if there was none."""
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if is_batched:
        return out, weights
    return out.squeeze(1), None if weights is None else weights.squeeze(0)


publish("multi_head_attention_forward", multi_head_attention_forward, ("nn.functional",))
