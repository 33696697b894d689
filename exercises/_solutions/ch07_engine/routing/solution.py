"""Several outputs: output_nr in the forward is input_nr in the backward.

An operation may have several results, like e, v = eigh(x). Both have the same grad_fn; each knows by its
output_nr which result it is. An *edge* says where a gradient goes: (node, input_nr), the node and which of
its inputs. The rule:

    output k of the forward  <->  input k of the backward node

So for out = f(v), where v is output 1 of eigh, the edge from f's node is (eigh's node, 1). Nobody used e:
input 0 of eigh's node stays *undefined*, which is None here and not an array of zeros.

A tensor has .requires_grad, .grad_fn (None for a leaf), .output_nr and .accumulator (a leaf's
AccumulateGrad node). A node has .num_inputs, .next_edges (a list; None where no gradient is needed) and
.apply(grads), which takes a list of num_inputs gradients (None: undefined) and returns one gradient, or
None, for each next edge.
"""


def gradient_edge(tensor):
    """Return the edge (node, input_nr) where the gradient of `tensor` goes; None when it needs none.

    A leaf's gradient goes to input 0 of its accumulator.
    """
    # solution
    if not tensor.requires_grad:
        return None
    if tensor.grad_fn is None:
        return tensor.accumulator, 0
    return tensor.grad_fn, tensor.output_nr
    # end of solution


def backward(edge, grad):
    """Run the graph from an edge (node, input_nr), each node once, when all its edges have delivered.

    edge: where it begins. grad: a float. Returns nothing. Gradients for the same input are added; an input
    that got nothing, or only undefined gradients, stays None. An undefined gradient is delivered too: the
    node behind the edge waits for it, and a node runs even when all its inputs are undefined.
    """
    # solution
    root, input_nr = edge
    counts = _count_edges(root)
    buffers = {root: [None] * root.num_inputs}
    buffers[root][input_nr] = grad
    ready = [root]
    while ready:
        node = ready.pop()
        for following, part in zip(node.next_edges, node.apply(buffers.pop(node))):
            if following is not None and _deliver(buffers, counts, following, part):
                ready.append(following[0])
    # end of solution


# solution
def _count_edges(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for edge in filter(None, stack.pop().next_edges):
            if edge[0] not in counts:
                counts[edge[0]] = 0
                stack.append(edge[0])
            counts[edge[0]] += 1
    return counts


def _deliver(buffers, counts, edge, part):
    """Put a gradient into its slot; whether the node behind the edge is ready now."""
    node, input_nr = edge
    buffer = buffers.setdefault(node, [None] * node.num_inputs)
    if part is not None:
        buffer[input_nr] = part if buffer[input_nr] is None else buffer[input_nr] + part
    counts[node] -= 1
    return counts[node] == 0


# end of solution
