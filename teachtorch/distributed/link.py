"""A simulated link between the ranks.

Ranks on one machine exchange through its memory: the copy is work of the CPU, and there is nothing to hide
behind computing. With a simulated link a collective's result counts as arrived only `latency + bytes /
bandwidth` after it was begun (the link carries one thing after the other), and who waits for it sleeps till
then, as he would for a network card.

    with simulated_link(latency=1e-3, bandwidth=1e9):         # seconds, bytes per second
        loss.backward()
"""

import time
from contextlib import contextmanager


class Link:
    """`latency` in seconds, `bandwidth` in bytes per second."""

    def __init__(self, latency, bandwidth):
        self.latency, self.bandwidth = latency, bandwidth
        self.free_at = 0.0

    def arrival(self, nbytes):
        """When something begun now has arrived."""
        self.free_at = max(self.free_at, time.perf_counter()) + self.latency + nbytes / self.bandwidth
        return self.free_at


current = None  # the link in use, if any


@contextmanager
def simulated_link(latency=0.0, bandwidth=float("inf")):
    """In the block, collectives of this rank take the time of such a link. Use the same in all ranks."""
    global current
    before, current = current, Link(latency, bandwidth)
    try:
        yield current
    finally:
        current = before


def arrival(nbytes):
    """When a collective of so many bytes, begun now, has arrived; 0.0 without a simulated link."""
    return current.arrival(nbytes) if current is not None else 0.0
