"""Takes all that wait."""

FAILS = "test_full"
SAYS = "at most"
import teachtorch as torch


def plan(arrivals, max_batch, max_wait, duration):
    """[(start, [requests])] of each batch. `duration`: how long any batch takes."""
    batches, waiting, free = [], 0, 0
    while waiting < len(arrivals):
        full = arrivals[waiting + max_batch - 1] if waiting + max_batch <= len(arrivals) else None
        late = arrivals[waiting] + max_wait
        start = max(late if full is None else min(full, late), free)
        members = [i for i in range(waiting, len(arrivals)) if arrivals[i] <= start]
        batches.append((start, members))
        waiting += len(members)
        free = start + duration
    return batches


def waits(arrivals, batches, duration):
    """How long each request took from its arrival to its answer."""
    return [start + duration - arrivals[i] for start, members in batches for i in members]


def answer(model, requests):
    """The model's answer to each request, from one call. `requests`: tensors (length, features) of several lengths.

    `model(batch, mask)` takes (count, longest, features), short requests padded with zeros, and mask (count, longest), True
    where a row is real. It returns (count, longest, anything). Each answer has its request's length again.
    """
    longest = max(len(request) for request in requests)
    batch = torch.zeros(len(requests), longest, requests[0].shape[1])
    mask = torch.zeros(len(requests), longest, dtype=torch.bool)
    for i, request in enumerate(requests):
        batch[i, :len(request)] = request
        mask[i, :len(request)] = True
    found = model(batch, mask)
    return [found[i, :len(request)] for i, request in enumerate(requests)]
