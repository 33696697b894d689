"""Sparse tensors (torch.sparse): products and sums whose gradients are sparse. Declared in teachtorch/ops/sparse."""
from .ops.declare import exports

__all__ = ["addmm", "check_sparse_tensor_invariants", "mm", "sum", "softmax", "log_softmax"]
globals().update(exports.get("sparse", {}))
