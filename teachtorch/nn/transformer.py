"""The Transformer of "Attention is all you need" (Vaswani et al. 2017), whole and in parts."""

import copy
import warnings

from ..dispatch.state import state
from ..ops.multihead_attention import float_mask
from ..ops.declare import exports
from . import functional as F
from . import init
from .activation import GELU, ReLU
from .multihead_attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def activation_of(activation):
    """An activation by name, or as it is."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def causal_mask(size, device=None, dtype=None):
    return exports[""]["full"]((size, size), float("-inf"), dtype=dtype, device=device).triu(1)


def is_causal_mask(mask, is_causal, t, batch_first):
    """`is_causal` as given; if None, whether `mask` is the causal one for a sequence `t`."""
    if is_causal is not None or mask is None:
        return is_causal is True
    wanted = causal_mask(t.size(1 if batch_first and t.dim() == 3 else 0), mask.device, mask.dtype)
    return mask.size() == wanted.size() and bool((mask == wanted).all())


def clones(module, count):
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class _Layer(Module):
    """What the layers of encoder and decoder share: two linear layers and, for each part, a norm and a dropout."""

    def _add_parts(
        self, count, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, **factory
    ):
        """Add linear1, dropout, linear2, norm1 to norm{count} and dropout1 to dropout{count}, in PyTorch's order."""
        self.linear1 = Linear(d_model, dim_feedforward, bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **factory)
        self.norm_first = norm_first
        for k in range(count):
            setattr(self, f"norm{k + 1}", LayerNorm(d_model, layer_norm_eps, bias=bias, **factory))
        for k in range(count):
            setattr(self, f"dropout{k + 1}", Dropout(dropout))
        self.activation = activation_of(activation)

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(attended(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _fed_forward(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two linear layers, each with a residual connection and layer normalisation.

    `dim_feedforward`: the width between the linear layers. `norm_first`: normalise before each part and not
    after. `activation`: "relu", "gelu" or a function.
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self._add_parts(2, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, **factory)

    @property
    def activation_relu_or_gelu(self):
        """1 for relu, 2 for gelu, else 0."""
        if self.activation is F.relu or isinstance(self.activation, ReLU):
            return 1
        return 2 if self.activation is F.gelu or isinstance(self.activation, GELU) else 0

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        padding = float_mask(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src.dtype)
        mask = float_mask(src_mask, "src_mask", None, "", src.dtype, False)
        if self.norm_first:
            src = src + self._sa_block(self.norm1(src), mask, padding, is_causal)
            return src + self._ff_block(self.norm2(src))
        src = self.norm1(src + self._sa_block(src, mask, padding, is_causal))
        return self.norm2(src + self._ff_block(src))

    def _ff_block(self, x):
        return self.dropout2(self._fed_forward(x))


def attended(attention, x, memory, attn_mask, key_padding_mask, is_causal):
    """The output of an attention without its weights."""
    return attention(
        x,
        memory,
        memory,
        attn_mask=attn_mask,
        key_padding_mask=key_padding_mask,
        need_weights=False,
        is_causal=is_causal,
    )[0]


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's memory, then two linear layers; options as TransformerEncoderLayer."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self._add_parts(3, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, **factory)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        if self.norm_first:
            tgt = tgt + self._sa_block(self.norm1(tgt), *own)
            tgt = tgt + self._mha_block(self.norm2(tgt), *other)
            return tgt + self._ff_block(self.norm3(tgt))
        tgt = self.norm1(tgt + self._sa_block(tgt, *own))
        tgt = self.norm2(tgt + self._mha_block(tgt, *other))
        return self.norm3(tgt + self._ff_block(tgt))

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout2(attended(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x):
        return self.dropout3(self._fed_forward(x))


def why_not_nested(layer):
    """Why PyTorch's encoder would not leave padding out altogether; "" if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = (
        (layer.norm_first, "norm_first was True"),
        (
            not attention.batch_first,
            "self_attn.batch_first was not True(use batch_first for better inference performance)",
        ),
        (not attention._qkv_same_embed_dim, "self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, "self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, "activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, "norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2 == 1, "self_attn.num_heads is odd"),
    )
    return next((f"encoder_layer.{text}" for holds, text in reasons if holds), "")


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, and `norm` (a module or None) at the end.

    `enable_nested_tensor`: in evaluation without gradients, padding at the end of sequences is left out, so
    that the layers' output is zero there, as in PyTorch.
    """

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = clones(encoder_layer, num_layers)
        self.num_layers, self.norm, self.mask_check = num_layers, norm, mask_check
        self.enable_nested_tensor = self.use_nested_tensor = enable_nested_tensor
        reason = why_not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because " + reason, stacklevel=2
            )
            self.use_nested_tensor = False

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        padding = float_mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src.dtype)
        mask = float_mask(mask, "mask", None, "", src.dtype, False)
        is_causal = is_causal_mask(mask, is_causal, src, self.layers[0].self_attn.batch_first)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if self._leaves_padding_out(src, mask, padding):
            output = output.masked_fill((padding != 0).unsqueeze(-1), 0)
        return output if self.norm is None else self.norm(output)

    def _leaves_padding_out(self, src, mask, padding):
        if padding is None or mask is not None or self.training or not self.use_nested_tensor or src.dim() != 3:
            return False
        if state.grad_enabled and (src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())):
            return False
        is_padding = (padding != 0).long()
        return not self.mask_check or bool((is_padding.diff(dim=1) >= 0).all())


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, and `norm` (a module or None) at the end."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        is_causal = is_causal_mask(tgt_mask, tgt_is_causal, tgt, self.layers[0].self_attn.batch_first)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=is_causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder. Called with src (steps, batch, d_model) and tgt; returns tgt's shape.

    `custom_encoder`, `custom_decoder`: modules in their place. All weights start by xavier_uniform.
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        widths = d_model, nhead, dim_feedforward, dropout, activation
        layer = *widths, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        norm = {"eps": layer_norm_eps, "bias": bias, "device": device, "dtype": dtype}
        self.encoder = custom_encoder
        if custom_encoder is None:
            one = TransformerEncoderLayer(*layer)
            self.encoder = TransformerEncoder(one, num_encoder_layers, LayerNorm(d_model, **norm))
        self.decoder = custom_decoder
        if custom_decoder is None:
            one = TransformerDecoderLayer(*layer)
            self.decoder = TransformerDecoder(one, num_decoder_layers, LayerNorm(d_model, **norm))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self):
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """(sz, sz): -inf above the diagonal, 0 elsewhere."""
        return causal_mask(sz, device, dtype)
