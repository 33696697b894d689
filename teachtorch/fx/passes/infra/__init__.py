"""Running passes in a row: torch.fx.passes.infra."""
from . import pass_base, pass_manager  # noqa: F401
from .pass_base import PassBase, PassResult
from .pass_manager import PassManager, Step, pass_result_wrapper

__all__ = ["PassBase", "PassManager", "PassResult", "Step", "pass_result_wrapper"]
