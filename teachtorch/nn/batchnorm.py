"""Normalisation by channel and by group as modules: batch, instance, group and local response norm."""

import warnings

from ..core.dtype import int64
from ..ops.declare import exports
from . import functional as F
from .affine import register_affine, reset_affine
from .lazy import LazyModuleMixin
from .module import Module
from .parameter import UninitializedBuffer, UninitializedParameter

empty, zeros, ones, tensor = [exports[""][name] for name in ("empty", "zeros", "ones", "tensor")]


class _NormBase(Module):
    """Parameters and running statistics by channel.

    `affine`: whether there are weight (starts 1) and bias (0); `track_running_stats`: whether there are
    running_mean (starts 0), running_var (1) and num_batches_tracked; `momentum`: the share of a new batch in
    them.
    """

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        register_affine(self, num_features, affine, affine and bias, device, dtype)
        for name, value in self._new_statistics(device, dtype):
            self.register_buffer(name, value)
        self.reset_parameters()

    def _new_statistics(self, device, dtype):
        names = ("running_mean", "running_var", "num_batches_tracked")
        if not self.track_running_stats:
            return [(name, None) for name in names]
        values = (
            zeros(self.num_features, device=device, dtype=dtype),
            ones(self.num_features, device=device, dtype=dtype),
            tensor(0, dtype=int64, device=device),
        )
        return list(zip(names, values))

    def reset_running_stats(self):
        """Forget what was seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Weight 1, bias 0, nothing seen."""
        self.reset_running_stats()
        reset_affine(self)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Version 1 had no num_batches_tracked: it starts at the module's own, or at 0."""
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            own = self.num_batches_tracked
            is_real = own is not None and not own.is_meta
            state_dict[key] = own if is_real else tensor(0, dtype=int64)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    """Batch norm of inputs with as many dimensions as `dims` allows."""

    dims = ()

    def _share(self):
        """The new batch's share in the running statistics; counts the batch. None as momentum: a plain average."""
        if not (self.training and self.track_running_stats):
            return 0.0 if self.momentum is None else self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return self.momentum

    def _check_input_dim(self, input):
        if not self.dims:
            raise NotImplementedError
        check_dims(input, *self.dims)

    def forward(self, input):
        self._check_input_dim(input)
        share = self._share()
        has_statistics = self.running_mean is not None or self.running_var is not None
        by_batch = self.training or not has_statistics
        is_tracking = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if is_tracking else None,
            self.running_var if is_tracking else None,
            self.weight,
            self.bias,
            by_batch,
            share,
            self.eps,
        )


def check_dims(input, *allowed):
    if input.dim() not in allowed:
        expected = " or ".join(f"{n}D" for n in allowed)
        raise ValueError(f"expected {expected} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch norm of (N, C, H, W)."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch norm of (N, C, D, H, W)."""

    dims = (5,)


class _InstanceNorm(_NormBase):
    """Normalisation of each channel of each sample; by default without parameters or running statistics."""

    count = None

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Version 1 saved running statistics without being asked to: refuse them in words."""
        version = local_metadata.get("version", None)
        if version is None and not self.track_running_stats:
            found = [key for key in (prefix + "running_mean", prefix + "running_var") if key in state_dict]
            if found:
                error_msgs.append(unexpected_statistics(type(self).__name__, found))
                for key in found:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _apply_instance_norm(self, input):
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )

    def _check_input_dim(self, input):
        check_dims(input, self.count + 1, self.count + 2)

    def forward(self, input):
        self._check_input_dim(input)
        is_single = input.dim() == self.count + 1
        self._warn_of_channels(input, 0 if is_single else 1)
        if is_single:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _warn_of_channels(self, input, dim):
        if input.size(dim) == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                f"{input.size(dim)}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not "
            "passing in num_features, which is not used because affine=False",
            stacklevel=3,
        )


def unexpected_statistics(name, keys):
    listed = " and ".join(f'"{key}"' for key in keys)
    return (
        f"Unexpected running stats buffer(s) {listed} for {name} with track_running_stats=False. If state_dict is a "
        f"checkpoint saved before 0.4.0, this may be expected because {name} does not track running stats by default "
        "since 0.4.0. Please remove these keys from state_dict. If the running stats are actually needed, instead set "
        f"track_running_stats=True in {name} to enable them. See the documentation of {name} for details."
    )


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of (N, C, L) or (C, L)."""

    count = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of (N, C, H, W) or (C, H, W)."""

    count = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance norm of (N, C, D, H, W) or (C, D, H, W)."""

    count = 3


# ---- norms that find out their num_features ---


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """What lazy norms share; num_features is the size of dimension 1 of the first input."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__(0, eps, momentum, False, False, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    def reset_parameters(self):
        """Weight 1, bias 0, nothing seen, once they are there."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Give parameters and statistics their shape and first values."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        names = ["weight", "bias"] if self.affine else []
        names += ["running_mean", "running_var"] if self.track_running_stats else []
        for name in names:
            if getattr(self, name) is not None:
                getattr(self, name).materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d whose num_features are those of its first input; that call makes it a BatchNorm1d."""

    cls_to_become = BatchNorm1d
    dims = BatchNorm1d.dims


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d whose num_features are those of its first input; that call makes it a BatchNorm2d."""

    cls_to_become = BatchNorm2d
    dims = BatchNorm2d.dims


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d whose num_features are those of its first input; that call makes it a BatchNorm3d."""

    cls_to_become = BatchNorm3d
    dims = BatchNorm3d.dims


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm1d whose num_features are those of its first input; that call makes it an InstanceNorm1d."""

    cls_to_become = InstanceNorm1d
    count = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm2d whose num_features are those of its first input; that call makes it an InstanceNorm2d."""

    cls_to_become = InstanceNorm2d
    count = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm3d whose num_features are those of its first input; that call makes it an InstanceNorm3d."""

    cls_to_become = InstanceNorm3d
    count = 3


class GroupNorm(Module):
    """Normalisation of each of `num_groups` groups of channels of each sample of (N, C, ...) (Wu and He 2018)."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        register_affine(self, num_channels, affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        reset_affine(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _LocalResponse(Module):
    """Normalisation over `size` neighbouring channels; `alpha`, `beta`, `k`: of Krizhevsky et al. 2012."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_LocalResponse):
    """Divides by a power of the mean square over neighbouring channels (Krizhevsky et al. 2012)."""


class CrossMapLRN2d(_LocalResponse):
    """An older form of LocalResponseNorm, for (N, C, H, W), that takes `k` as 1 by default."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)
