"""`PassBase`: a pass as a class, with checks before and after."""
from collections import namedtuple

PassResult = namedtuple("PassResult", ["graph_module", "modified"])
PassResult.__doc__ = ("What a pass returns: the GraphModule, the given one or another, and whether it "
                      "changed anything.")


class PassBase:
    """Override `call(graph_module)`, which returns a PassResult; `requires` and `ensures` may raise before
    and after."""

    def __call__(self, graph_module):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    def call(self, graph_module):
        """Do the work."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it does: override call()")

    def requires(self, graph_module):
        """Raise if the pass cannot work on this."""

    def ensures(self, graph_module):
        """Raise if the pass has left something wrong."""
