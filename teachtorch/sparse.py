"""Sparse tensors (torch.sparse): products and sums whose gradients are sparse. Declared in teachtorch/ops/sparse."""
from .ops.declare import exports

globals().update(exports.get("sparse", {}))
