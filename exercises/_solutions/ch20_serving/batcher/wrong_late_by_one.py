"""Those that arrive when the batch starts come too late."""

import teachtorch as torch

FAILS = "test_timeout"
SAYS = "at the very moment of the start"


def plan(arrivals, max_batch, max_wait, duration):
    batches, waiting, free = [], 0, 0
    while waiting < len(arrivals):
        full = arrivals[waiting + max_batch - 1] if waiting + max_batch <= len(arrivals) else None
        late = arrivals[waiting] + max_wait
        start = max(late if full is None else min(full, late), free)
        there = range(waiting, len(arrivals))
        members = [i for i in there if arrivals[i] < start or i == waiting or arrivals[i] == full][:max_batch]
        batches.append((start, members))
        waiting += len(members)
        free = start + duration
    return batches


def waits(arrivals, batches, duration):
    return [start + duration - arrivals[i] for start, members in batches for i in members]


def answer(model, requests):
    longest = max(len(request) for request in requests)
    batch = torch.zeros(len(requests), longest, requests[0].shape[1])
    mask = torch.zeros(len(requests), longest, dtype=torch.bool)
    for i, request in enumerate(requests):
        batch[i, :len(request)] = request
        mask[i, :len(request)] = True
    found = model(batch, mask)
    return [found[i, :len(request)] for i, request in enumerate(requests)]
