"""Collects the losses, and sums them at the end."""

import teachtorch as torch

FAILS = "test_no_leak"
SAYS = "must not be a tensor with a graph"


def count_nodes(tensor):
    found = [tensor.grad_fn] if tensor.grad_fn is not None else []
    seen = set(found)
    for node in found:
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                found.append(following)
    return len(found)


def average_loss(losses):
    kept = []
    for loss in losses:
        loss.backward()
        kept.append(loss)
        del loss
    return sum(each.item() for each in kept) / len(kept)


def keep_row(outputs):
    return outputs[0].detach().clone()
