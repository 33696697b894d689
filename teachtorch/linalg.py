"""Linear algebra (torch.linalg). The functions are declared in teachtorch/ops."""
from .ops.declare import exports

globals().update(exports.get("linalg", {}))
