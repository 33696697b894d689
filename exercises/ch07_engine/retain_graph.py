"""Why a second backward fails: saved values are freed, node by node.

Some operations save values for their backward (exp saves its result), others save nothing (x + 1). The
backward frees the saved values of each node as soon as that node has run. The nodes themselves stay as long
as somebody holds them. So:

- a second backward fails *only if* it comes to a node whose saved values are gone;
- (x + 1).sum() can run backward twice;
- retain_graph=True frees nothing.

A node has .saved (a list of your Saved objects), .apply(grad), which unpacks them and returns the next
gradient, and .next_node (None at the end). Here every node has one next node, so the graph is a chain.
"""


class Saved:
    """One value that a node saved for its backward."""

    def __init__(self, value):
        raise NotImplementedError

    def unpack(self):
        """Return the saved value.

        After `release`: raise RuntimeError with a text that contains "a second time".
        """
        raise NotImplementedError

    def release(self):
        """Let the value go, so that its memory can be freed. Doing it twice is no error."""
        raise NotImplementedError


def backward(root, grad, retain_graph=False):
    """Run the chain from `root` and return the gradient that comes out at its end.

    root: a node. grad: its gradient, a float. retain_graph: keep the saved values for another backward.
    Otherwise each node's saved values are released right after it has run, before the next node runs.
    """
    raise NotImplementedError
