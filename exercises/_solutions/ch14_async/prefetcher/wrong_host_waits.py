"""The host waits for each copy."""

from teachtorch import sim

FAILS = "test_host_waits_for_nothing"
SAYS = "The host waits"


def prefetched(batches):
    """Yield the batches on the device, in order; the copy of each is launched before the one before it is yielded.

    batches: pinned tensors of the CPU. They are yielded for use in the stream that is current when the generator goes on.
    """
    copies, ahead = sim.Stream(), None
    for batch in batches:
        with sim.stream(copies):
            copied = batch.to("sim", non_blocking=True)
        following = copied, copies.record_event()
        if ahead is not None:
            yield handed_over(*ahead)
        ahead = following
    if ahead is not None:
        yield handed_over(*ahead)


def handed_over(batch, event):
    """A batch, for use in the current stream once its copy is done."""
    event.synchronize()
    batch.record_stream(sim.current_stream())
    return batch
