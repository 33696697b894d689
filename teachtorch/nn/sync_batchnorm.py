"""SyncBatchNorm: batch norm whose batch is that of all ranks together.

Each rank sums up its own part, all gather the sums, and everybody normalises by the same mean and variance.
In backward the two sums of the formula are added up over the ranks, too.
"""

from ..autograd.function import Function, once_differentiable
from ..autograd.grad_mode import no_grad
from ..ops.declare import exports
from .batchnorm import _BatchNorm

cat, empty_like, full, stack, zeros = [
    exports[""][name] for name in ("cat", "empty_like", "full", "stack", "zeros")
]


class SyncBatchNorm(_BatchNorm):
    """Batch norm of (N, C, ...), N being the samples of all ranks of `process_group` (None: of all ranks).

    In evaluation, and for one rank, it is plain batch norm. Gradients of weight and bias are those of this
    rank's part: DistributedDataParallel averages them. PyTorch's works on GPUs only, this one everywhere.
    ValueError for less than 2 dimensions, or no channels.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input):
        group = self._group_to_sync()
        if group is None:
            return super().forward(input)
        self._check_input_dim(input)
        share = self._share()
        running = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
        return Synchronised.apply(input, self.weight, self.bias, *running, self.eps, share, group)

    def _group_to_sync(self):
        """The group, if there are several ranks to agree with; else None."""
        from .. import distributed as dist

        if not self.training or not dist.is_initialized():
            return None
        group = self.process_group or dist.group.WORLD
        return group if dist.get_world_size(group) > 1 else None

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every batch norm in it replaced by a SyncBatchNorm that has its parameters."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls.of(module, process_group)
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made

    @classmethod
    def of(cls, norm, process_group):
        """A SyncBatchNorm with the parameters and statistics of a batch norm."""
        made = SyncBatchNorm(
            norm.num_features,
            norm.eps,
            norm.momentum,
            norm.affine,
            norm.track_running_stats,
            process_group,
            bias=norm.bias is not None,
        )
        for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
            setattr(made, name, getattr(norm, name))
        made.training = norm.training
        return made


class Synchronised(Function):
    """(x - mean) / std * weight + bias, mean and std by channel over the samples of all ranks."""

    @staticmethod
    def forward(ctx, input, weight, bias, running_mean, running_var, eps, share, group):
        count, mean, squares = total(gathered(moments(input), group))
        inverse = (squares / count + eps).rsqrt()
        if running_mean is not None:
            running_mean.lerp_(mean.to(running_mean.dtype), share)
            running_var.lerp_((squares / (count - 1)).to(running_var.dtype), share)
        ctx.save_for_backward(input, weight, mean, inverse)
        ctx.count, ctx.group, ctx.has_bias = count, group, bias is not None
        out = (input - by_channel(mean, input)) * by_channel(inverse, input)
        out = out if weight is None else out * by_channel(weight, input)
        out = out if bias is None else out + by_channel(bias, input)
        return out.to(input.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        input, weight, mean, inverse = ctx.saved_tensors
        normed = (input - by_channel(mean, input)) * by_channel(inverse, input)
        of_bias, of_weight = over_samples(grad), over_samples(grad * normed)
        sums = all_reduced(cat([of_bias, of_weight]), ctx.group) / ctx.count
        mean_grad, mean_product = (by_channel(part, input) for part in sums.chunk(2))
        scale = inverse if weight is None else inverse * weight
        of_input = (grad - mean_grad - normed * mean_product) * by_channel(scale, input)
        return (
            of_input.to(input.dtype),
            None if weight is None else of_weight.to(weight.dtype),
            of_bias.to(grad.dtype) if ctx.has_bias else None,
            *[None] * 5,
        )


def by_channel(values, input):
    """C numbers in a shape that broadcasts along dimension 1 of the input."""
    return values.view(1, -1, *[1] * (input.dim() - 2))


def over_samples(input):
    """The sum for each channel."""
    return input.sum([0, *range(2, input.dim())])


@no_grad()
def moments(input):
    """2 C + 1 numbers: the means, the sums of squared distances from them, and how many samples there were.

    A rank without samples has zeros.
    """
    channels = input.shape[1]
    count = input.numel() // channels
    dims = [0, *range(2, input.dim())]
    values = input if input.dtype.itemsize >= 4 else input.float()
    if not count:
        return zeros(2 * channels + 1, dtype=values.dtype, device=input.device)
    mean = values.mean(dims)
    squares = (values - by_channel(mean, input)).square().sum(dims)
    return cat([mean, squares, full((1,), float(count), dtype=mean.dtype, device=mean.device)])


def total(parts):
    """(count, mean, sum of squared distances from it) of all ranks' samples together, from their moments.

    A rank's distances are from its own mean; from the common one they are longer by the way between the two
    (Chan, Golub and LeVeque, 1979).
    """
    means, squares, counts = parts[:, :-1].chunk(2, 1) + (parts[:, -1:],)
    count = counts.sum()
    mean = (means * counts).sum(0) / count
    return count, mean, (squares + counts * (means - mean).square()).sum(0)


def gathered(mine, group):
    """A row for each rank."""
    from .. import distributed as dist

    parts = [empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, mine, group)
    return stack(parts)


def all_reduced(tensor, group):
    from .. import distributed as dist

    dist.all_reduce(tensor, group=group)
    return tensor
