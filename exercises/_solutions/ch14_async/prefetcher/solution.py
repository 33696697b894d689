"""A prefetcher: copy the next batch while the device works on this one.

    copies    | batch 0 | batch 1 | batch 2 |
    compute             |  work 0 |  work 1 |  work 2 |

The batches are in pinned memory, so that `.to("sim", non_blocking=True)` returns at once. Copies go into a stream of
their own. The stream that works on a batch has to wait for the copy of that batch, and of no later one; and the memory
of a batch must not be used again before the work on it is done (batches are allocated in the stream of the copies).
The host waits for nothing.
"""

from teachtorch import sim


def prefetched(batches):
    """Yield the batches on the device, in order; the copy of each is launched before the one before it is yielded.

    batches: pinned tensors of the CPU. They are yielded for use in the stream that is current when the generator goes on.
    """
    # solution
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
    sim.current_stream().wait_event(event)
    batch.record_stream(sim.current_stream())
    return batch
    # end of solution
