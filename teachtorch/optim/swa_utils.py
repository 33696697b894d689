"""Averages of a model's weights over training: stochastic weight averaging, exponential moving averages.

    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    for x, y in loader:
        train(model, x, y)
        averaged.update_parameters(model)
    update_bn(loader, averaged)
    averaged(x)

https://pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
"""
import copy
import math
from itertools import chain

from ..autograd.grad_mode import no_grad
from ..core import dtype as dt
from ..nn.batchnorm import _BatchNorm
from ..nn.module import Module
from ..ops.declare import exports
from .implementations import by_dtype
from .lr_scheduler.base import LRScheduler, for_each_group

tensor = exports[""]["tensor"]
foreach_lerp = exports[""]["_foreach_lerp_"]


def check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay=0.999):
    """The exponential moving average, of lists: average = decay * average + (1 - decay) * value, in place."""
    check_decay(decay)

    @no_grad()
    def ema_update(averages, values, num_averaged):
        if averages[0].is_floating_point():
            foreach_lerp(averages, values, 1 - decay)
            return
        for average, value in zip(averages, values, strict=True):
            average.copy_(average * decay + value * (1 - decay))
    return ema_update


def get_swa_multi_avg_fn():
    """The equal average, of lists: average += (value - average) / (num_averaged + 1), in place."""
    @no_grad()
    def swa_update(averages, values, num_averaged):
        if averages[0].is_floating_point():
            foreach_lerp(averages, values, 1 / (num_averaged + 1))
            return
        for average, value in zip(averages, values, strict=True):
            average.add_((value - average) / (num_averaged + 1))
    return swa_update


def get_ema_avg_fn(decay=0.999):
    """The exponential moving average, of one tensor."""
    check_decay(decay)

    @no_grad()
    def ema_update(average, value, num_averaged):
        return decay * average + (1 - decay) * value
    return ema_update


def get_swa_avg_fn():
    """The equal average, of one tensor."""
    @no_grad()
    def swa_update(average, value, num_averaged):
        return average + (value - average) / (num_averaged + 1)
    return swa_update


class AveragedModel(Module):
    """A copy of a model that holds the average of its parameters; calling it calls the copy.

    Args:
        model: what to average; it stays as it is.
        device: where the copy lies.
        avg_fn: (average, value, num_averaged) to the new average, of one tensor.
        multi_avg_fn: the same for lists, in place. Without either the average is equal. Both: AssertionError.
        use_buffers: average the buffers as well; otherwise the model's are copied.

    `n_averaged`: how many times it was updated.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dt.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take the model's parameters into the average; the first time it becomes them."""
        averages = [t.detach() for t in self._tensors(self.module)]
        values = [t.detach().to(average.device) for t, average in zip(self._tensors(model), averages)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values):
                average.copy_(value)
        else:
            self._average(averages, values)
        if not self.use_buffers:
            for own, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                own.detach().copy_(buffer.detach().to(own.device))
        self.n_averaged += 1

    def _tensors(self, model):
        return chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()

    def _average(self, averages, values):
        if not averages:
            return
        if self.multi_avg_fn is not None:
            for positions in by_dtype(averages):
                self.multi_avg_fn([averages[i] for i in positions], [values[i] for i in positions],
                                  self.n_averaged)
            return
        one = self.avg_fn or get_swa_avg_fn()
        for average, value in zip(averages, values):
            average.copy_(one(average, value, self.n_averaged))


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the running statistics of the model's BatchNorm layers anew, by one pass over `loader`.

    `loader`: batches, or lists or tuples that start with one. `device`: where to move the batches.
    """
    layers = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not layers:
        return
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None                     # the average of all batches
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the current rates to `swa_lr` in `anneal_epochs` epochs, along half a cosine ("cos") or a line ("linear").

    `swa_lr`: a rate, or a list with one for each group. ValueError for options out of range.
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for rate, group in zip(for_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups,
                               strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, passed):
        """How far the rates have come, of how much of the time has passed; both from 0 to 1."""
        return passed if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * passed)) / 2

    def get_lr(self):
        self._warn_if_called_by_users()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        return [group["swa_lr"] * now + first_rate(group, before) * (1 - now)
                for group in self.optimizer.param_groups]

    def _share(self, step):
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))


def first_rate(group, share):
    """The rate from which the current one has gone `share` of the way to "swa_lr"."""
    return group["swa_lr"] if share == 1 else (group["lr"] - share * group["swa_lr"]) / (1 - share)
