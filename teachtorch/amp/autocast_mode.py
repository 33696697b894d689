"""autocast: a dispatch key above Autograd whose kernels cast the arguments and call the operator again.

Since the casts happen above Autograd they are recorded, and gradients come back in the parameters' own dtype. PyTorch
keeps the casts of parameters in a cache until the outermost block ends; here each call casts again, with the same
results. Recurrent modules stay in float32. aten/src/ATen/autocast_mode.h holds PyTorch's lists.
"""
import functools
import threading
import warnings

from ..core import dtype as dt
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..dispatch.state import excluding, state
from ..ops.declare import exports, publish
from ..tensor import Tensor

IN_LOW_PRECISION = """
    convolution linear matmul mm bmm addmm addbmm baddbmm vecdot scaled_dot_product_attention
""".split()
IN_FLOAT32 = """
    avg_pool3d binary_cross_entropy grid_sampler prod quantile nanquantile cdist trace cholesky cholesky_inverse
    cholesky_solve inverse lu_solve ormqr pinverse max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d
    reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d mse_loss
    cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy_loss
    l1_loss huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss kl_div
    multilabel_margin_loss binary_cross_entropy_with_logits
""".split()
FUNCTIONS_IN_FLOAT32 = ("ctc_loss", "grid_sample")          # which look at dtypes before they call their operators
IN_THE_WIDEST = ("cat", "stack", "index_copy")
SHORT = (dt.bfloat16, dt.float16)


class Settings(threading.local):
    """The dtypes of the current thread, and whether casts may be kept (asked and told, nothing is kept)."""

    def __init__(self):
        self.dtypes = {"cpu": dt.bfloat16, "cuda": dt.float16, "meta": dt.bfloat16}
        self.cache_enabled = True


_settings = Settings()


# ---- the kernels --------------------------------------------------------------------------------------------------

def is_eligible(value):
    """What autocast casts: floats of the CPU, but not those whose user asked for float64."""
    return (isinstance(value, Tensor) and value._device.type == "cpu" and value._dtype.is_floating_point
            and value._dtype is not dt.float64)


def cast(value, dtype):
    """Every eligible tensor in `value`, a tensor or list of them, in `dtype`; anything else as it is."""
    if is_eligible(value):
        return value.to(dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [cast(v, dtype) for v in value]
    return value


def low_precision(args):
    return _settings.dtypes["cpu"]


def float32(args):
    return dt.float32


def widest(args):
    """float32 if any tensor has it, else the short dtype."""
    flat = [v for a in args for v in (a if isinstance(a, (list, tuple)) else (a,))]
    found = {v._dtype for v in flat if is_eligible(v)}
    return dt.float32 if dt.float32 in found or len(found) > 1 else next(iter(found), dt.float32)


def casting_kernel(op, choose):
    """The kernel of an operator under AutocastCPU: `choose(args)` says to which dtype."""
    def autocast_cpu(keys, *args):
        with excluding(K.AUTOCAST_CPU):
            dtype = choose(args)
            return op(*[cast(a, dtype) for a in args])
    return autocast_cpu


def casting_function(function, choose):
    """The same for a function made of operators, which calls them without going through the dispatcher itself."""
    @functools.wraps(function)
    def looking(*args, **kwargs):
        if not state.included & ~state.excluded & K.AUTOCAST_CPU:
            return function(*args, **kwargs)
        with excluding(K.AUTOCAST_CPU):
            dtype = choose(args)
            return function(*[cast(a, dtype) for a in args], **{name: cast(a, dtype) for name, a in kwargs.items()})
    return looking


def register_kernels():
    for names, choose in ((IN_LOW_PRECISION, low_precision), (IN_FLOAT32, float32), (IN_THE_WIDEST, widest)):
        for name in names:
            if name in registry and registry[name].info.kind != "composite":
                registry[name].register(K.AUTOCAST_CPU, casting_kernel(registry[name], choose))
            else:
                wrap_function(name, choose)
    for name in FUNCTIONS_IN_FLOAT32:
        wrap_function(name, float32)


def wrap_function(name, choose):
    for space, functions in exports.items():
        if name in functions:
            publish(name, casting_function(functions[name], choose), (space,))


register_kernels()


# ---- asking and setting -------------------------------------------------------------------------------------------

def is_autocast_available(device_type):
    """Whether autocast knows this device."""
    return device_type in _settings.dtypes


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is on for a device; only the CPU has it."""
    return device_type == "cpu" and bool(state.included & K.AUTOCAST_CPU)


def set_autocast_enabled(device_type="cuda", enabled=None):
    """Switch autocast on or off for a device; nothing but for the CPU.

    The older call with `enabled` alone means CUDA.
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if device_type == "cpu":
        state.included = state.included | K.AUTOCAST_CPU if enabled else state.included & ~K.AUTOCAST_CPU


def get_autocast_dtype(device_type):
    """The short dtype of a device. RuntimeError for a device that autocast does not know."""
    if device_type not in _settings.dtypes:
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return _settings.dtypes[device_type]


def set_autocast_dtype(device_type, dtype):
    """Choose the short dtype of a device."""
    _settings.dtypes[device_type] = dtype


def is_autocast_cache_enabled():
    """What set_autocast_cache_enabled was last told; no casts are kept either way."""
    return _settings.cache_enabled


def set_autocast_cache_enabled(enabled):
    """Remember whether casts may be kept; none are."""
    _settings.cache_enabled = enabled


def clear_autocast_cache():
    """Nothing to do: no casts are kept."""


class autocast:
    """In this block (or function) matrix products, convolutions and attention compute in a short dtype.

    Args:
        device_type: "cpu"; "cuda" is taken and does nothing, with a warning, as on PyTorch without a GPU.
        dtype: bfloat16 (the default on the CPU) or float16.
        enabled: False makes the block an ordinary one, also inside another.
        cache_enabled: taken and without effect, see the module's docstring.

    ValueError if device_type is no string, RuntimeError for an unknown one.
    https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_possible()

    def _is_possible(self):
        if self.device == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3)
            return False
        if self.fast_dtype not in SHORT:
            name = self.device.upper()
            warnings.warn(f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                          f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                          stacklevel=3)
            return False
        return True

    def __enter__(self):
        self._before = (is_autocast_enabled(self.device), get_autocast_dtype(self.device), _settings.cache_enabled)
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        return self

    def __exit__(self, *error):
        self._set(*self._before)
        return False

    def _set(self, enabled, dtype, cache_enabled):
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cache_enabled)

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return inside


# ---- for autograd.Function ----------------------------------------------------------------------------------------

def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates `forward` of an autograd.Function: remembers whether autocast was on, for custom_bwd.

    `cast_inputs`: with autocast on, cast floating inputs to this dtype and run the forward without it.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *[cast(a, cast_inputs) for a in args],
                       **{name: cast(a, cast_inputs) for name, a in kwargs.items()})
    return decorated


def custom_bwd(bwd=None, *, device_type):
    """Decorates `backward`: runs it with autocast as the forward had it."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args):
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args)
    return decorated
