"""torch.nn.attention.bias: causal masks for queries and keys of different numbers.

With fewer queries than keys there are two: the diagonal may start at the upper left corner, or end at the lower right
one, where the last query sees every key (decoding with kept keys).
"""
import enum
import warnings

from ...ops.declare import exports
from ...tensor import Tensor

ones = exports[""]["ones"]
attention = exports["nn.functional"]["scaled_dot_product_attention"]


class CausalVariant(enum.IntEnum):
    """Where the diagonal lies."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask that is known by its corner and its size; scaled_dot_product_attention takes it as `attn_mask`."""

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        return Tensor.__new__(cls, seq_len_q, seq_len_kv)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
                          stacklevel=2)

    def _materialize(self, device=None):
        """The mask itself, (queries, keys) of bool: True where a key is seen."""
        diagonal = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        return ones((self.seq_len_q, self.seq_len_kv), dtype=bool, device=device).tril(diagonal)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is attention:
            return cls._dispatch(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        same = attn_mask.seq_len_q == attn_mask.seq_len_kv or attn_mask.variant == CausalVariant.UPPER_LEFT
        mask = None if same else attn_mask._materialize(query.device)
        return attention(query, key, value, mask, dropout_p, same, scale=scale, enable_gqa=enable_gqa)

    def __repr__(self):
        return repr(self._materialize())


def causal_upper_left(*size):
    """The mask of (queries, keys) whose diagonal starts at the upper left.

    AssertionError unless there are two sizes.
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *two(size, "causal_upper_left"))


def causal_lower_right(*size):
    """The mask of (queries, keys) whose diagonal ends at the lower right. AssertionError unless there are two sizes."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *two(size, "causal_lower_right"))


def two(size, name):
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return size
