"""The stateless functions behind the modules (torch.nn.functional). They are declared in teachtorch/ops."""
from ..ops.declare import exports

globals().update(exports.get("nn.functional", {}))
