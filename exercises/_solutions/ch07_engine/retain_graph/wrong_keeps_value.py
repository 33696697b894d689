"""Marks a value as freed, but keeps it."""

FAILS = "test_memory"
SAYS = "memory"


class Saved:
    def __init__(self, value):
        self.value = value
        self.freed = False

    def unpack(self):
        if self.freed:
            raise RuntimeError("Trying to backward through the graph a second time")
        return self.value

    def release(self):
        self.freed = True


def backward(root, grad, retain_graph=False):
    node = root
    while node is not None:
        grad = node.apply(grad)
        if not retain_graph:
            for saved in node.saved:
                saved.release()
        node = node.next_node
    return grad
