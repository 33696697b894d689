"""Sends only what it has used."""

FAILS = "test_same_collectives"
SAYS = "different collectives"


def average_used(comm, grads, used):
    """Average the gradients of a pass in which some parameters may be unused.

    grads: `.grad` of each parameter, a number or None; used: for each parameter whether this rank's pass has
    used it. Return the new `.grad` list: where any rank has used the parameter, the average over all ranks,
    None counting as 0.0; where none has, what was there before, untouched.

    Make two all-reduces, on every rank: one of the gradients, one that tells who used what.
    """
    mine = [i for i, flag in enumerate(used) if flag]
    sums = [0.0] * len(grads)
    for i, total in zip(mine, comm.all_reduce([grads[i] for i in mine])):
        sums[i] = total
    users = comm.all_reduce([int(flag) for flag in used])
    return [total / comm.size if count else grad for grad, total, count in zip(grads, sums, users)]


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
