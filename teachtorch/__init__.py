"""teachtorch: PyTorch's interface on a small engine that can be watched at work."""
import importlib as _importlib
import sys as _sys

from . import autograd  # noqa: F401
from .autograd import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,  # noqa: F401
                       set_grad_enabled)
from .core import log as _log
from .core.dtype import (bfloat16, bool, double, finfo, float, float16, float32, float64, half, iinfo, int,  # noqa: F401
                         int8, int16, int32, int64, long, short, uint8)
from .core.later import Later as _Later
from .core.once import is_warn_always_enabled, set_warn_always  # noqa: F401
from .kernels.parallel import get_num_threads, set_num_threads  # noqa: F401
from .ops import MODULES as _MODULES
from .ops.declare import exports as _exports
from .ops.listing import OperatorTable as _OperatorTable
from .printing import set_printoptions  # noqa: F401
from .tensor import Size, Tensor  # noqa: F401
from .version import __version__  # noqa: F401

for _module in _MODULES:
    _importlib.import_module(f"{__name__}.ops.{_module}")

for _module in ("random", "utils.dlpack", "amp"):
    _importlib.import_module(f"{__name__}.{_module}")
_sys.modules[f"{__name__}.ops"].__class__ = _OperatorTable
_log.start()

for _name, _function in _exports[""].items():
    setattr(_sys.modules[__name__], _name, _function)

# These use all the operators.
from . import (_C, amp, backends, cuda, func, linalg, multiprocessing, nn, optim, overrides, serialization,  # noqa: E402,F401
               sparse, special, types, utils, version)
from .amp.autocast_mode import (autocast, clear_autocast_cache, get_autocast_dtype, is_autocast_cache_enabled,  # noqa: E402,F401
                                is_autocast_enabled, set_autocast_cache_enabled, set_autocast_dtype,
                                set_autocast_enabled)
from .amp.grad_scaler import GradScaler  # noqa: E402,F401
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled  # noqa: E402,F401
from .determinism import (are_deterministic_algorithms_enabled, get_deterministic_debug_mode,  # noqa: E402,F401
                          get_float32_matmul_precision, get_num_interop_threads,
                          is_deterministic_algorithms_warn_only_enabled, set_deterministic_debug_mode,
                          set_float32_matmul_precision, set_flush_denormal, set_num_interop_threads,
                          use_deterministic_algorithms)
from .func import vmap  # noqa: E402,F401
from . import accelerator, sim  # noqa: E402,F401
from .memory.caching import OutOfMemoryError  # noqa: E402,F401
from .memory.streams import AcceleratorError, Event, Stream  # noqa: E402,F401
from .memory.storage import UntypedStorage  # noqa: E402,F401
from .memory.typed_storage import LEGACY as _LEGACY_STORAGES, TypedStorage  # noqa: E402,F401
from .serialization import load, save  # noqa: E402,F401

globals().update(_LEGACY_STORAGES)
cuda.amp = _sys.modules[f"{__name__}.cuda.amp"] = amp.cuda
autograd.profiler = _Later(f"{__name__}.autograd.profiler", f"{__name__}.profiler.legacy")
serialization.know_parameters(nn.Parameter, nn.Buffer)


# Modules that are imported when first asked for.
_LAZY = {"_subclasses", "cpu", "compiler", "distributed", "distributions", "futures", "fx", "jit", "library",
         "lightning", "masked", "profiler", "signal"}


def get_device_module(device=None):
    """The module of a device's functions, such as teachtorch.cuda: of `device`, or of the accelerator that is there."""
    kind = accelerator.current_accelerator().type if device is None else str(device).partition(":")[0]
    if kind not in ("cpu", "cuda", "sim"):
        raise RuntimeError(f"Invalid device string: '{kind}'" if isinstance(device, str) else
                           f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return _importlib.import_module(f"{__name__}.{kind}")


def compile(model=None, **options):
    """A function or module that runs as captured graphs of fused kernels; see teachtorch.compiler.compile."""
    return _importlib.import_module(f"{__name__}.compiler").compile(model, **options)


def _compile_module(self, *args, **kwargs):
    """Compile this module's forward in place; arguments as of torch.compile."""
    _importlib.import_module(f"{__name__}.compiler.compiled").compile_module(self, *args, **kwargs)


nn.Module.compile = _compile_module


def __getattr__(name):
    """A module of _LAZY, or a clear word for what PyTorch has and teachtorch has not."""
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "_tensor_str":
        return _importlib.import_module(f"{__name__}.printing")
    if name == "_dynamo":                                          # where PyTorch keeps reset() and explain()
        return _importlib.import_module(f"{__name__}.compiler")
    raise AttributeError(f"module 'teachtorch' has no attribute '{name}': if PyTorch has it, teachtorch does not yet")
