"""Print a backward graph, with the ports its edges lead to.

A node of PyTorch's graph has `.name()` and `.next_functions`: a tuple with one pair (node, input_nr) for each
differentiable input of the forward operation. The pair says which node that input's gradient goes to, and to
which of that node's inputs. An input that needs no gradient has (None, 0).

    x = a * b                0 AddBackward0
    y = x + a                  -> 1[0]
                               -> 2[0]
                             1 MulBackward0
                               -> 2[0]
                               -> 3[0]
                             2 AccumulateGrad
                             3 AccumulateGrad

Each node is printed once, however many edges lead to it. Nodes are numbered in the order in which they are
found: first the root, then all that its edges lead to, then all that theirs lead to, and so on.
"""


def print_graph(root):
    """Return the lines of the picture: for each node its line, and then one line for each of its edges.

    root: a node. A node's line is "0 AddBackward0", an edge's line is "  -> 1[0]", and for (None, 0) it is
    "  -> none". The graph may be a chain of many thousand nodes, so do not recurse.
    """
    raise NotImplementedError
