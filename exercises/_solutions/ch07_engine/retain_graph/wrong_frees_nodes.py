"""Takes the graph apart instead of freeing saved values."""

FAILS = "test_shared_nodes"
SAYS = "nodes stay"


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
    node = root
    while node is not None:
        grad = node.apply(grad)
        following = node.next_node
        if not retain_graph:
            for saved in node.saved:
                saved.release()
            node.next_node = None
        node = following
    return grad
