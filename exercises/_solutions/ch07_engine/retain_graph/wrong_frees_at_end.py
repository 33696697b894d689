"""Frees everything when the backward is over."""

FAILS = "test_frees_node_by_node"
SAYS = "before the next node"


class Saved:
    def __init__(self, value):
        self.value = value
        self.freed = False

    def unpack(self):
        if self.freed:
            raise RuntimeError("Trying to backward through the graph a second time")
        return self.value

    def release(self):
        self.value = None
        self.freed = True


def backward(root, grad, retain_graph=False):
    node, everything = root, []
    while node is not None:
        grad = node.apply(grad)
        everything += node.saved
        node = node.next_node
    if not retain_graph:
        for saved in everything:
            saved.release()
    return grad
