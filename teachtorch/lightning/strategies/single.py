"""One process on one device."""

from contextlib import nullcontext

from ...core.device import as_device


class SingleDevice:
    """The strategy of one process; DDP replaces what several processes do otherwise."""

    world_size, global_rank = 1, 0

    def __init__(self, device="cpu"):
        self.device = as_device(device)
        self.module = None

    def begin(self):
        """Before anything else of a run."""

    def set_up(self, module):
        """Move the module to the device."""
        self.module = module
        if self.device.type != "cpu":
            module.to(self.device)

    def step(self, function, name, args):
        """Run training_step, validation_step or the like: function(name, args) does."""
        return function(name, args)

    def no_sync(self):
        """A context in which backward only adds up gradients of this process."""
        return nullcontext()

    def reduce_logged(self, how, total, weight):
        """(total, weight) of a logged value over all processes."""
        return total, weight

    def any(self, flag):
        """Whether the flag is set in any process."""
        return flag

    def broadcast(self, value):
        """The value of the first process."""
        return value

    def barrier(self):
        """Wait for all processes."""

    def end(self):
        """After a run."""
        self.module = None
