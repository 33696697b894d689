"""Serving: put requests that arrive one by one into batches.

A model answers 8 requests at once hardly slower than one. So a server waits a moment for others, but not too long: it starts
a batch as soon as `max_batch` requests wait, or when the first of those that wait has waited for `max_wait`. It runs one
batch at a time; while it is busy, requests wait.

Times are whole milliseconds. `arrivals` are the times of requests 0, 1, 2..., in order. A request that arrives at the very
moment when a batch starts is still part of it.
"""
import teachtorch as torch


def plan(arrivals, max_batch, max_wait, duration):
    """[(start, [requests])] of each batch. `duration`: how long any batch takes."""
    raise NotImplementedError


def waits(arrivals, batches, duration):
    """How long each request took from its arrival to its answer."""
    raise NotImplementedError


def answer(model, requests):
    """The model's answer to each request, from one call. `requests`: tensors (length, features) of several lengths.

    `model(batch, mask)` takes (count, longest, features), short requests padded with zeros, and mask (count, longest), True
    where a row is real. It returns (count, longest, anything). Each answer has its request's length again.
    """
    raise NotImplementedError
