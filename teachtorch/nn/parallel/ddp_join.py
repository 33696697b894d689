"""What a rank without inputs does for DistributedDataParallel: each collective of the others, in their order."""

from ...distributed.algorithms.join import JoinHook
from .replicas import broadcast_coalesced


class DDPJoinHook(JoinHook):
    """Shadows forward and backward of `ddp`; `divide_by_initial_world_size`: divide by all ranks, or by
    those at work.
    """

    def __init__(self, ddp, divide_by_initial_world_size):
        self.ddp = ddp
        ddp._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self):
        """One iteration: buckets rebuilt, buffers, whether to average, zeros for each bucket."""
        ddp = self.ddp
        ddp.reducer.rebuild_buckets()
        if ddp.will_sync_module_buffers():
            ddp._sync_buffers(ddp._common_rank(False))
        ddp.require_forward_param_sync = ddp._anyone_syncs_backward(is_joined_rank=True)
        if ddp.require_forward_param_sync:
            ddp.reducer.shadow_backward()

    def post_hook(self, is_last_joiner):
        """The weights of the last rank at work, the highest of them, become everyone's."""
        ddp = self.ddp
        broadcast_coalesced(ddp._states(), ddp.process_group, ddp._common_rank(is_last_joiner))
