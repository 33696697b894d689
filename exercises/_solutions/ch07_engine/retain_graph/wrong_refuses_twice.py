"""Refuses every second backward."""

FAILS = "test_nothing_saved"
SAYS = "your code raised RuntimeError"


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
        if getattr(node, "was_run", False):
            raise RuntimeError("Trying to backward through the graph a second time")
        grad = node.apply(grad)
        if not retain_graph:
            node.was_run = True
            for saved in node.saved:
                saved.release()
        node = node.next_node
    return grad
