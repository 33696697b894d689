"""Multi-head attention as a module."""

from ..autograd.grad_mode import is_grad_enabled
from ..ops.multihead_attention import float_mask
from ..ops.declare import exports
from . import functional as F
from . import init
from .linear import Linear
from .module import Module
from .parameter import Parameter

__all__ = ["MultiheadAttention"]

empty = exports[""]["empty"]


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear under the name that PyTorch prints for MultiheadAttention's last layer."""


class MultiheadAttention(Module):
    """Attention by several heads side by side, each over its share of the features (Vaswani et al. 2017).

    Called with query (queries, batch, E), key (keys, batch, kdim) and value (keys, batch, vdim), batch
    first with `batch_first`, or without the batch; returns the output (queries, batch, E) and the weights
    (batch, queries, keys), averaged over the heads unless `average_attn_weights` is False, None unless
    `need_weights`. `key_padding_mask` (batch, keys) and `attn_mask` (queries, keys) or (batch * heads,
    queries, keys): True, or -inf, hides a key.

    Args:
        embed_dim, num_heads: E, which the number of heads must divide.
        dropout: the chance of each weight to be dropped in training.
        bias: whether the projections have biases (which start zero).
        add_bias_kv: adds a learned key and value.
        add_zero_attn: adds a key and value of zeros.
        kdim, vdim: E if left out.
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        factory = {"device": device, "dtype": dtype}
        self._add_projections(bias, factory)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **factory)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, Parameter(empty((1, 1, embed_dim), **factory)) if add_bias_kv else None)
        self._reset_parameters()

    def _add_projections(self, bias, factory):
        """One weight for all three projections, or three, where the sizes differ."""
        size = self.embed_dim
        if self._qkv_same_embed_dim:
            shapes = {"in_proj_weight": (3 * size, size)}
            shapes.update(q_proj_weight=None, k_proj_weight=None, v_proj_weight=None)
        else:
            shapes = {"q_proj_weight": (size, size), "k_proj_weight": (size, self.kdim)}
            shapes.update(v_proj_weight=(size, self.vdim), in_proj_weight=None)
        shapes["in_proj_bias"] = 3 * size if bias else None
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else Parameter(empty(shape, **factory)))

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        is_batched = query.dim() == 3
        is_lean = is_batched and query is key is value and self._is_lean(query, key_padding_mask, attn_mask)
        key_padding_mask = float_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype)
        attn_mask = float_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if self.batch_first and is_batched:
            query, key, value = transposed_alike(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )
        output = output.transpose(1, 0) if self.batch_first and is_batched else output
        return (output.contiguous() if is_lean else output), weights

    def _is_lean(self, query, *masks):
        """Whether PyTorch would take its inference kernel for self-attention, whose result is contiguous."""
        weight = self.in_proj_weight
        return (
            self.batch_first and not self.training and self.num_heads % 2 == 0 and not self.add_zero_attn
            and self.bias_k is None and weight is not None and self.in_proj_bias is not None
            and weight.dtype == query.dtype
            and not any([mask is not None and mask.is_floating_point() for mask in masks])
            and not (is_grad_enabled() and any([t.requires_grad for t in (query, *self.parameters())]))
        )


def transposed_alike(query, key, value):
    """Steps before the batch; what was one tensor stays one."""
    made = {id(t): t.transpose(1, 0) for t in (query, key, value)}
    return made[id(query)], made[id(key)], made[id(value)]
