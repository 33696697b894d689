"""DistributedDataParallel: the same module on every rank, each with its own part of the batch.

    construct     all ranks have the same parameters (replicas.py), and take rank 0's values
    forward       rebuild the buckets once, take rank 0's buffers, run the module
    backward      hooks put gradients into buckets, and their averages travel meanwhile (reducer.py,
    buckets.py)

The optimizer knows nothing of it: equal weights and equal gradients stay equal.
https://docs.pytorch.org/docs/stable/notes/ddp.html
"""

import sys
from contextlib import contextmanager

from ... import distributed as dist
from ...autograd.grad_mode import is_grad_enabled
from ...distributed.algorithms.join import Join, Joinable
from ...ops.declare import exports
from ..module import Module
from .buckets import BUCKET_CAP, FIRST_BUCKET, MIB, compute_bucket_assignment_by_size
from .ddp_join import DDPJoinHook
from .reducer import Reducer
from .replicas import broadcast_coalesced, verify_same
from .sink import above_a_sink
from .words import NOT_NEEDED

tensor = exports[""]["tensor"]


class DistributedDataParallel(Module, Joinable):
    """Wraps `module` so that backward leaves in `.grad` the average of all ranks' gradients.

    bucket_cap_mb: how large a bucket gets, in MiB (25, with a first one of 1); find_unused_parameters: look
    in each forward which parameters the loss will not reach (else that is an error); static_graph: it is the
    same graph in every iteration, as the first one shows; gradient_as_bucket_view: `.grad` are views of the
    buckets, which saves their memory; broadcast_buffers, now forward_sync_buffers: take rank 0's buffers
    before every forward; init_sync: its parameters at the start. The module is at `.module`, so keys of the
    state dict begin with "module.". RuntimeError for a module that has nothing to train, or is not the same
    on all ranks.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=None,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list=None,
        batched_grad_copy=False,
        forward_sync_buffers=None,
    ):
        super().__init__()
        Joinable.__init__(self)
        refuse_what_is_not_here(delay_all_reduce_named_params, mixed_precision, device_mesh, bucket_cap_mb_list)
        self.process_group = process_group if process_group is not None else dist.groups.default_group()
        named = trained_parameters(module)
        if not named:
            raise RuntimeError(NOT_NEEDED)
        self.module, self.device_ids, self.output_device, self.dim = module, None, None, dim
        self.device = next(iter(named.values())).device
        if device_ids and self.device.type == "cpu":
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/"
                f"multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
                f"{output_device}, and module parameters on the CPU."
            )
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        wanted = [given for given in (forward_sync_buffers, broadcast_buffers) if given is not None]
        self.forward_sync_buffers = self.broadcast_buffers = wanted[0] if wanted else True
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._divide_by_initial_world_size = True
        self._has_rebuilt_buckets = False
        self._set_limits(bucket_cap_mb)
        self._start(named, init_sync)

    def _set_limits(self, bucket_cap_mb):
        """The sizes of buckets in bytes: of the first one, and of the others."""
        self.bucket_bytes_cap_default = bucket_cap_mb is None
        self.bucket_bytes_cap = BUCKET_CAP if bucket_cap_mb is None else int(bucket_cap_mb * MIB)
        first = FIRST_BUCKET if self.bucket_bytes_cap_default else self.bucket_bytes_cap
        self._limits = [first, self.bucket_bytes_cap]

    def _start(self, named, init_sync):
        """Make all ranks equal, and the first buckets."""
        names, parameters = list(named), list(named.values())
        verify_same(parameters, names, self.process_group)
        if init_sync:
            broadcast_coalesced(self._states(), self.process_group, 0)
        # Without unused parameters the first pass shows the order of the gradients: one bucket until then.
        limits = self._limits if self.find_unused_parameters and not self.static_graph else [sys.maxsize]
        assignment = compute_bucket_assignment_by_size(parameters, limits)[::-1]
        self.reducer = Reducer(
            parameters,
            names,
            assignment,
            self._limits,
            self.process_group,
            self.find_unused_parameters,
            self.static_graph,
            self.gradient_as_bucket_view,
        )

    def _states(self):
        """What rank 0 gives to all: parameters, frozen ones too, and buffers."""
        ignored = ignored_names(self.module)
        named = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        return [state.detach() for name, state in named.items() if name not in ignored]

    def _buffers_to_sync(self):
        ignored = ignored_names(self.module)
        return [buffer for name, buffer in self.module.named_buffers() if name not in ignored]

    # ---- forward ----

    def forward(self, *inputs, **kwargs):
        """The module's output; the gradients that follow from it will be averaged."""
        self._before_forward()
        output = self.module(*inputs, **kwargs)
        if is_grad_enabled() and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            self.reducer.prepare_for_backward(output)
            if self.find_unused_parameters and not self.static_graph:
                output = above_a_sink(output, self.reducer)
        else:
            self.require_forward_param_sync = False
        return output

    def _before_forward(self):
        work = Join.notify_join_context(self)
        if work is not None:
            self.reducer.active_ranks = work
            self.reducer.divide_by_active = not self._divide_by_initial_world_size
        if is_grad_enabled() and self.reducer.rebuild_buckets():
            self._has_rebuilt_buckets = True
        if self.will_sync_module_buffers():
            self._sync_buffers(self._common_rank(True) if self._join_config.enable else 0)
        if self._join_config.enable:
            self._anyone_syncs_backward(is_joined_rank=False)

    def will_sync_module_buffers(self):
        """Whether this forward takes rank 0's buffers."""
        return self.require_forward_param_sync and self.forward_sync_buffers and bool(self._buffers_to_sync())

    def _sync_buffers(self, source):
        broadcast_coalesced(self._buffers_to_sync(), self.process_group, source)

    @contextmanager
    def no_sync(self):
        """In the block, gradients only add up locally; the next synchronised backward averages all of it.

        The forward must be in the block too.
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # ---- hooks, modes ----

    def register_comm_hook(self, state, hook):
        """Have hook(state, GradBucket) make the communication of a bucket; it returns a Future of the averaged buffer.

        Once only, before the first backward. TypeError if it cannot be called.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.comm_hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.comm_hook = (state if state is not None else self.process_group, hook)

    def _set_static_graph(self):
        """Say afterwards that the graph is the same in every iteration."""
        self.static_graph = self.reducer.static_graph = True

    def train(self, mode=True):
        super().train(mode)
        return self

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module, params_and_buffers_to_ignore):
        """Leave these, by name, alone: neither broadcast nor averaged."""
        module._ddp_params_and_buffers_to_ignore = list(params_and_buffers_to_ignore)

    # ---- Join ----

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """The older way to write `Join([ddp], ...)`."""
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs):
        return DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        return self.device

    @property
    def join_process_group(self):
        return self.process_group

    def _common_rank(self, is_candidate):
        """The highest rank that is a candidate, agreed among all; RuntimeError if none is."""
        rank = tensor([self.process_group.rank() if is_candidate else -1])
        dist.all_reduce(rank, dist.ReduceOp.MAX, self.process_group)
        if rank.item() == -1:
            raise ValueError(
                "BUG! Expected rank_cond to be true for at least one process. This indicates a bug in PyTorch, please "
                "report an issue."
            )
        return int(rank.item())

    def _anyone_syncs_backward(self, is_joined_rank):
        """Whether ranks at work will average this time: no_sync is the same on all of them."""
        asks = tensor([0.0 if is_joined_rank or not self.require_backward_grad_sync else 1.0])
        dist.all_reduce(asks, group=self.process_group)
        return bool(asks.item())

    def __getstate__(self):
        raise TypeError("DistributedDataParallel holds a process group and cannot be pickled: save `ddp.module`")


def ignored_names(module):
    return set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))


def trained_parameters(module):
    """{name: parameter} of those that require grad; a tied one once."""
    ignored = ignored_names(module)
    return {name: p for name, p in module.named_parameters() if p.requires_grad and name not in ignored}


def refuse_what_is_not_here(delay, mixed_precision, device_mesh, cap_list):
    names = ("delay_all_reduce_named_params", "mixed_precision", "device_mesh", "bucket_cap_mb_list")
    for name, value in zip(names, (delay, mixed_precision, device_mesh, cap_list)):
        if value is not None:
            raise NotImplementedError(f"DistributedDataParallel: {name} is not in teachtorch")
