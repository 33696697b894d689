"""Counts a node once for each edge."""

import teachtorch as torch

FAILS = "test_count_shared"
SAYS = "to which both edges lead"


def count_nodes(tensor):
    found = [tensor.grad_fn] if tensor.grad_fn is not None else []
    for node in found:
        for following, _ in node.next_functions:
            if following is not None:
                found.append(following)
    return len(found)


def average_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total += loss.item()
        count += 1
        del loss
    return total / count


def keep_row(outputs):
    return outputs[0].detach().clone()
