"""Backward on an accelerator: each node in the stream of its forward operator, with the waits between them.

A gradient that one stream made and another uses: the second waits for the first, and the gradient's memory is
recorded as used there. In the end the caller's streams wait for those in which gradients came to leaves.
PyTorch's engine does the same (torch/csrc/autograd/input_buffer.cpp; notes/cuda, "Stream semantics of
backward passes").
"""

from contextlib import contextmanager

from ..memory.streams import ACCELERATORS, Stream, current_stream_id, set_current_stream_id
from ..tensor import storage_of


def stream_of(node):
    """(device type, stream) in which a node's forward operator ran; None for nodes of the CPU."""
    if not node.input_metadata or node.input_metadata[0].device.type not in ACCELERATORS:
        return None
    return node.input_metadata[0].place()


def enter_stream_of(node):
    """Make a node's stream the current one. False for nodes of the CPU, which have none."""
    place = stream_of(node)
    if place is not None:
        set_current_stream_id(*place)
    return place is not None


@contextmanager
def in_stream_of(expected):
    """A context in which the stream of an InputMetadata is the current one."""
    kind, stream_id = expected.place()
    before = current_stream_id(kind)
    if kind in ACCELERATORS:
        set_current_stream_id(kind, stream_id)
    try:
        yield
    finally:
        set_current_stream_id(kind, before)


def hand_over(grad, producer, expected):
    """Let the stream of `expected` use a gradient that `producer` (None: the current stream) has made."""
    if grad is None or grad._device.type not in ACCELERATORS:
        return
    kind, consumer_id = expected.place()
    producer_id = current_stream_id(kind) if producer is None else producer[1]
    if producer_id == consumer_id:
        return
    consumer = Stream(kind, stream_id=consumer_id)
    consumer.wait_stream(Stream(kind, stream_id=producer_id))
    storage_of(grad).record_stream(consumer)


def hand_over_all(grads, node):
    """Let a node's stream use the gradients that the current stream has made."""
    for grad, expected in zip(grads, node.input_metadata):
        hand_over(grad, None, expected)


def wait_in_current_stream(place):
    """Let the caller's current stream wait for a stream in which gradients came to leaves."""
    kind, stream_id = place
    if current_stream_id(kind) != stream_id:
        Stream(kind, stream_id=current_stream_id(kind)).wait_stream(Stream(kind, stream_id=stream_id))
