"""Lets the loop variable hold the last loss."""

import teachtorch as torch

FAILS = "test_none_left"
SAYS = "two graphs at once"


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
        total += loss.item()
        count += 1
    return total / count


def keep_row(outputs):
    return outputs[0].detach().clone()
