"""Version counters: who shares one, and what counts.

A tensor has a version, `_version`: how often its memory was changed in place. The backward compares versions
to see whether a value that it needs is still the one that was saved. So all tensors that look at the same
memory must share one counter:

    a view            shares memory and counter
    a.detach()        shares memory and counter
    a.data            shares memory, but has a counter of its own, which begins at 0: changes go unseen
    a result          has its own memory and its own counter

Every change in place counts, also where grad mode is off. What changes no memory does not count. PyTorch
refuses some changes, as of a leaf with grad mode on. Nothing is refused here: only counting matters.
"""


class Tensor:
    """Numbers in a list, which may be shared, and a version counter, which may be shared too."""

    def __init__(self, values, requires_grad=False):
        """values: a list of numbers; the tensor looks into this very list. requires_grad: a bool."""
        self.values = values
        self.requires_grad = requires_grad
        raise NotImplementedError

    @property
    def _version(self):
        """How often the memory was changed in place, as an int."""
        raise NotImplementedError

    def view(self):
        """Return a tensor that looks into the same memory, with the same requires_grad."""
        raise NotImplementedError

    def detach(self):
        """Return a tensor that looks into the same memory, and does not require a gradient."""
        raise NotImplementedError

    @property
    def data(self):
        """The same memory, unwatched; it does not require a gradient."""
        raise NotImplementedError

    def add(self, number):
        """Return a new tensor, with memory of its own: each value plus the number."""
        raise NotImplementedError

    def add_(self, number, grad_mode=True):
        """Add the number to each value, in place, and return self. grad_mode: whether grad mode is on."""
        raise NotImplementedError

    def requires_grad_(self, requires_grad=True):
        """Set requires_grad, and return self."""
        raise NotImplementedError
