"""Gives each tensor a counter of its own."""

FAILS = "test_views"
SAYS = "who saved a must notice"


class Tensor:
    def __init__(self, values, requires_grad=False):
        self.values = values
        self.requires_grad = requires_grad
        self.counter = [0]

    @property
    def _version(self):
        return self.counter[0]

    def view(self):
        return _alias(self, [self.counter[0]], self.requires_grad)

    def detach(self):
        return _alias(self, [self.counter[0]], False)

    @property
    def data(self):
        return _alias(self, [0], False)

    def add(self, number):
        return Tensor([value + number for value in self.values], self.requires_grad)

    def add_(self, number, grad_mode=True):
        self.values[:] = [value + number for value in self.values]
        self.counter[0] += 1
        return self

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self


def _alias(tensor, counter, requires_grad):
    other = Tensor(tensor.values, requires_grad)
    other.counter = counter
    return other
