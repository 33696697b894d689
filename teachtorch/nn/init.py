"""Filling parameters with their first values (torch.nn.init). All functions change their tensor under no_grad."""
import math
import warnings

from ..autograd.grad_mode import no_grad
from ..ops.declare import exports

LINEAR_LIKE = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
               "sigmoid")
FAN_MODES = ["fan_in", "fan_out"]


# ---- how large values should be ---------------------------------------------------------------------------------

def calculate_gain(nonlinearity, param=None):
    """How much a nonlinearity shrinks the deviation of what passes through, as a factor to make up for it.

    `param`: leaky_relu's negative slope, 0.01 if left out. ValueError for an unknown nonlinearity.
    """
    if nonlinearity in LINEAR_LIKE:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + negative_slope(param) ** 2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def negative_slope(param):
    if param is None:
        return 0.01
    if isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return param


def _calculate_fan_in_and_fan_out(tensor):
    """(fan_in, fan_out) of a weight of shape (out, in, *kernel)."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive, tensor.size(0) * receptive


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in FAN_MODES:
        raise ValueError(f"Mode {mode} not supported, please use one of {FAN_MODES}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


# ---- simple fillings ----------------------------------------------------------------------------------------------

@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal with the given mean and standard deviation."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor, val):
    """Every element `val`."""
    return tensor.fill_(val)


def ones_(tensor):
    """Every element 1."""
    return constant_(tensor, 1.0)


@no_grad()
def zeros_(tensor):
    """Every element 0."""
    return tensor.zero_()


@no_grad()
def eye_(tensor):
    """The identity matrix. ValueError unless 2-D."""
    check_matrix(tensor)
    return tensor.copy_(exports[""]["eye"](*tensor.shape, dtype=tensor.dtype))


def check_matrix(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


@no_grad()
def dirac_(tensor, groups=1):
    """A convolution weight (out, in, *kernel) that passes as many channels on as it can, in each group."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups:
        raise ValueError("dim 0 must be divisible by groups")
    centre = tuple(size // 2 for size in kernel)
    per_group = out_channels // groups
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(per_group, in_channels)):
            tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


# ---- by the number of inputs and outputs ----------------------------------------------------------------------------

def xavier_uniform_(tensor, gain=1.0, generator=None):
    """U(-b, b) with b = gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """N(0, s²) with s = gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """U(-b, b) with b = gain * sqrt(3 / fan) (He et al. 2015). `a`: leaky_relu's negative slope."""
    if warned_of_empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """N(0, s²) with s = gain / sqrt(fan) (He et al. 2015). `a`: leaky_relu's negative slope."""
    if warned_of_empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def warned_of_empty(tensor):
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


# ---- others -------------------------------------------------------------------------------------------------------

@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    """Orthonormal rows or columns (whichever are fewer) times gain (Saxe et al. 2013); later dimensions as one."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = exports["linalg"]["qr"](flat.t() if rows < columns else flat)
    q = q * r.diagonal().sign()               # the sign makes the decomposition unique, and so q uniform
    tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """N(0, std²), with a share `sparsity` of each column set to zero (Martens 2010). ValueError unless 2-D."""
    check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[exports[""]["randperm"](rows)[:zeros], column] = 0
    return tensor


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal, with values outside [a, b] drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may "
                      "be incorrect.", stacklevel=2)
    if normal_cdf((b - mean) / std) - normal_cdf((a - mean) / std) > 0.3:
        return redrawn_normal(tensor, mean, std, a, b, generator)
    return rejected_uniform(tensor, mean, std, a, b, generator)


def normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def redrawn_normal(tensor, mean, std, a, b, generator):
    """Draw normal numbers; those outside are replaced by new ones until none are left."""
    low, high = (tensor.new_full((), limit).item() for limit in (a, b))        # in the tensor's precision
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            return tensor if result is tensor else tensor.copy_(result)
        result = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator).where(outside, result)


def rejected_uniform(tensor, mean, std, a, b, generator):
    """Far in the tail: draw uniform numbers, and keep each with the probability of its density over the largest."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    draws, chances = tensor.new_empty(tensor.shape), tensor.new_empty(tensor.shape)

    def rejected(values):
        log_density = values.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return chances.uniform_(generator=generator).log_().gt(log_density)

    pending = rejected(tensor.uniform_(a, b, generator=generator))
    while pending.any():
        draws.uniform_(a, b, generator=generator)
        tensor.copy_(draws.where(pending, tensor))
        pending = pending & rejected(draws)
    return tensor


# ---- PyTorch's old names --------------------------------------------------------------------------------------------

def deprecated(function):
    """The function under its old name, without the underscore."""
    old = function.__name__[:-1]

    def renamed(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{function.__name__}`.", FutureWarning,
                      stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"Deprecated name of `{function.__name__}`."
    return renamed


uniform, normal, constant, eye, dirac = (deprecated(f) for f in (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = deprecated(xavier_uniform_), deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = deprecated(kaiming_uniform_), deprecated(kaiming_normal_)
orthogonal, sparse = deprecated(orthogonal_), deprecated(sparse_)
