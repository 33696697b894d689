"""Adds up tensors, and takes the number at the end."""

import teachtorch as torch

FAILS = "test_no_leak"
SAYS = "every graph so far stays alive"


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
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total = total + loss
        count += 1
        del loss
    return total.item() / count


def keep_row(outputs):
    return outputs[0].detach().clone()
