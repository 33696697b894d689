"""Special functions (torch.special). They are declared in teachtorch/ops."""
from .ops.declare import exports

globals().update(exports.get("special", {}))
