"""Walks down at once with each gradient: a node runs for each path that leads to it."""

FAILS = "test_runs_once"
SAYS = "once for each path"


def count_dependencies(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts


def backward(root, grad):
    for following, part in zip(root.next_nodes, root.apply(grad)):
        backward(following, part)
