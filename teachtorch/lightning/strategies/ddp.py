"""Several processes, each with its part of the batches: DistributedDataParallel around the module."""

from contextlib import nullcontext

from ... import distributed as dist
from ...nn import Module
from ...nn.parallel import DistributedDataParallel
from ..errors import MisconfigurationException
from .single import SingleDevice

TOO_FEW = (
    "`devices={0}` but {1} process(es) were started. Start the script once for each device: "
    "python -m teachtorch.distributed.run --nproc-per-node {0} script.py"
)


class DDP(SingleDevice):
    """One process for each device, started by the launcher of teachtorch.distributed.

    `devices`: how many there must be, or "auto". Options go to DistributedDataParallel.
    MisconfigurationException if another number was started.
    """

    def __init__(self, device="cpu", devices="auto", **options):
        super().__init__(device)
        self.options, self.wrapped, self._made_group = options, None, False
        if not dist.is_initialized():
            dist.init_process_group()
            self._made_group = True
        self.world_size, self.global_rank = dist.get_world_size(), dist.get_rank()
        if devices not in ("auto", -1, self.world_size):
            self.close()
            raise MisconfigurationException(TOO_FEW.format(devices, self.world_size))

    def close(self):
        """End the process group, if this strategy has made it."""
        if self._made_group and dist.is_initialized():
            dist.destroy_process_group()
            self._made_group = False

    def set_up(self, module):
        super().set_up(module)
        self.wrapped = None

    def step(self, function, name, args):
        """training_step goes through DDP's forward, so that backward averages the gradients."""
        if name != "training_step":
            return function(name, args)
        if self.wrapped is None:
            self.wrapped = DistributedDataParallel(Redirected(self.module), **self.options)
        self.wrapped.module.target = function, name
        return self.wrapped(*args)

    def no_sync(self):
        return nullcontext() if self.wrapped is None else self.wrapped.no_sync()

    def reduce_logged(self, how, total, weight):
        """Sums add up over the processes; "min" and "max" are the smallest and the largest of all."""
        operations = {"min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX}
        total, weight = total.clone(), total.new_tensor(float(weight))
        dist.all_reduce(total, operations.get(how, dist.ReduceOp.SUM))
        dist.all_reduce(weight)
        return total, float(weight)

    def any(self, flag):
        """All processes stop together: if one wants to, all do."""
        found = [None] * self.world_size
        dist.all_gather_object(found, bool(flag))
        return any(found)

    def broadcast(self, value):
        values = [value]
        dist.broadcast_object_list(values)
        return values[0]

    def barrier(self):
        dist.barrier()

    def end(self):
        super().end()
        self.wrapped = None


class Redirected(Module):
    """The module as DDP holds it: its forward is training_step, which may call anything of the module."""

    def __init__(self, module):
        super().__init__()
        self.inner, self.target = module, None

    def forward(self, *args):
        function, name = self.target
        return function(name, args)
