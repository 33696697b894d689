"""Copies a batch when it is asked for."""

from teachtorch import sim

FAILS = "test_next_copy_is_launched_first"
SAYS = "before"


def prefetched(batches):
    """Yield the batches on the device, in order; the copy of each is launched before the one before it is yielded.

    batches: pinned tensors of the CPU. They are yielded for use in the stream that is current when the generator goes on.
    """
    copies, ahead = sim.Stream(), None
    for batch in batches:
        with sim.stream(copies):
            copied = batch.to("sim", non_blocking=True)
        yield handed_over(copied, copies.record_event())


def handed_over(batch, event):
    """A batch, for use in the current stream once its copy is done."""
    sim.current_stream().wait_event(event)
    batch.record_stream(sim.current_stream())
    return batch
