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
    raise NotImplementedError


def backward(edge, grad):
    """Run the graph from an edge (node, input_nr), each node once, when all its edges have delivered.

    edge: where it begins. grad: a float. Returns nothing. Gradients for the same input are added; an input
    that got nothing, or only undefined gradients, stays None. An undefined gradient is delivered too: the
    node behind the edge waits for it, and a node runs even when all its inputs are undefined.
    """
    raise NotImplementedError
