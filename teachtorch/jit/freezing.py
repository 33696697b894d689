"""Making a traced program smaller for inference: parameters become constants, and constants are computed once."""
from ..fx.passes.const_fold import fold_constants
from ..fx.passes.cse import eliminate_common_subexpressions
from ..fx.passes.infra import PassManager, pass_result_wrapper
from .module import ScriptModule


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Compute what depends on parameters and buffers alone; returns the module, which can no longer be trained.

    RuntimeError unless it is a traced module in eval mode.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or "
                           "torch.jit.trace to script your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call "
                           ".eval() on your module before freezing.")
    return run_passes(mod, [folding])


def optimize_for_inference(mod, other_methods=None):
    """`freeze`, without dead code and common subexpressions. What each pass did is in `mod.history`."""
    return run_passes(freeze(mod), [merging, cleaning])


def run_passes(mod, passes):
    """Run passes on a traced program; `mod.history` keeps the graphs before and after each."""
    manager = PassManager([pass_result_wrapper(one) for one in passes])
    manager(mod)
    mod.__dict__["history"] = [*mod.history, *manager.history]
    return mod


def folding(module):
    """Constants are computed."""
    return fold_constants(module, parameters=True)


def merging(module):
    """Common subexpressions."""
    return eliminate_common_subexpressions(module.graph)


def cleaning(module):
    """Dead code."""
    return module.graph.eliminate_dead_code()
