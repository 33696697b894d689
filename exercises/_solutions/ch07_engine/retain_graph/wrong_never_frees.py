"""Frees nothing."""

FAILS = "test_second_backward"
SAYS = "RuntimeError"


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
        node = node.next_node
    return grad
