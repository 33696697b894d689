"""Each rank decides by what it has used itself."""

FAILS = "test_used_elsewhere"
SAYS = "used it on another rank"


def average_used(comm, grads, used):
    """Average the gradients of a pass in which some parameters may be unused.

    grads: `.grad` of each parameter, a number or None; used: for each parameter whether this rank's pass has
    used it. Return the new `.grad` list: where any rank has used the parameter, the average over all ranks,
    None counting as 0.0; where none has, what was there before, untouched.

    Make two all-reduces, on every rank: one of the gradients, one that tells who used what.
    """
    sums = comm.all_reduce([0.0 if grad is None else grad for grad in grads])
    users = comm.all_reduce([int(flag) for flag in used])
    return [total / comm.size if count else grad for grad, total, count in zip(grads, sums, used)]


def is_used(outputs):
    """The names of the parameters that backward from the outputs will reach.

    outputs: a list of nodes; a node is (name, [nodes that it was computed from]); a parameter is (name, []).
    Nodes may be reached in many ways: visit each once.
    """
    found, seen, stack = set(), set(), list(outputs)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            name, sources = node
            stack += sources
            if not sources:
                found.add(name)
    return found
