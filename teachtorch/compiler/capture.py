"""Capturing what a function does to its tensors: it runs once, on tensors without data, and every operator is noted.

    Traced      stands for a tensor: a wrapper of a meta tensor and of the fx node that made it. Autograd stands above
                it as above any tensor, so asking for gradients while capturing notes backward's operators too.
    capture()   forward alone:  (placeholders) → operators → outputs
    capture_with_backward()     forward and backward in one graph

What needs a value (`if x.sum() > 0`, `.item()`) cannot be captured: NotCapturable names the line.
"""
from ..dispatch import keys as K  # noqa: F401
from ..dispatch.overriding import disabled_torch_function
from ..fx import Graph
from ..fx.proxy import at_line
from ..tensor import Tensor
from ..utils._pytree import tree_flatten, tree_map_only, tree_unflatten


class NotCapturable(Exception):
    """The function asks for a value that is not there while it is captured, or does what a graph cannot hold."""


class Traced(Tensor):
    """A tensor that is being captured: `fake`, its shape and dtype as a meta tensor; `node`, what made it."""

    __torch_function__ = classmethod(disabled_torch_function)

    @staticmethod
    def __new__(cls, fake, node, capturing, device, requires_grad=False):
        return Tensor._make_wrapper_subclass(cls, fake.shape, strides=fake.stride(), dtype=fake.dtype, device=device,
                                             requires_grad=requires_grad)

    def __init__(self, fake, node, capturing, device, requires_grad=False):
        self.fake, self.node, self.capturing = fake, node, capturing

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        capturing = next(t for t in tree_flatten((args, kwargs or {}))[0] if isinstance(t, Traced)).capturing
        return capturing.note(func, args, kwargs or {})

    def _refuse(self, *args, **kwargs):
        raise NotCapturable(f"the function asks a tensor for its value{at_line()}")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = item = tolist = numpy = _refuse

    def __repr__(self):
        return f"Traced({self.node}, {tuple(self.shape)}, {self.dtype})"


class Capturing:
    """One capture: the graph that grows, and the real tensors that the function brought along."""

    def __init__(self):
        self.graph = Graph()
        self.constants = {}                 # id of a real tensor -> (the tensor, its Traced)

    def placeholder(self, t, name):
        """The Traced of an input."""
        node = self.graph.placeholder(name)
        return self.traced(t.detach().to("meta"), node, t.device, t.requires_grad)

    def traced(self, fake, node, device, requires_grad=False):
        node.meta["val"] = fake
        return Traced(fake, node, self, device, requires_grad)

    def constant(self, t):
        """The Traced of a real tensor that the function holds itself, such as a parameter: an input of the graph."""
        if id(t) not in self.constants:
            with self.graph.inserting_before():
                node = self.graph.placeholder(f"held_{len(self.constants)}")
            self.constants[id(t)] = t, self.traced(t.detach().to("meta"), node, t.device)
        return self.constants[id(t)][1]

    def note(self, func, args, kwargs):
        """A node for one operator, and the Traced of each of its results."""
        args, kwargs = tree_map_only(Tensor, lambda t: t if isinstance(t, Traced) else self.constant(t), (args, kwargs))
        device = next(t for t in tree_flatten((args, kwargs))[0] if isinstance(t, Traced)).device
        fakes = tree_map_only(Traced, lambda t: t.fake, (args, kwargs))
        found = func(*fakes[0], **fakes[1])
        nodes = tree_map_only(Traced, lambda t: t.node, (args, kwargs))
        node = self.graph.call_function(func, tuple(nodes[0]), dict(nodes[1]))
        return self.results(found, node, device)

    def results(self, found, node, device):
        if isinstance(found, Tensor):
            return self.traced(found, node, device)
        leaves, spec = tree_flatten(found)
        node.meta["val"] = found
        return tree_unflatten([self.result_at(leaf, node, i, device) for i, leaf in enumerate(leaves)], spec)

    def result_at(self, leaf, node, i, device):
        import operator

        if not isinstance(leaf, Tensor):
            return leaf
        return self.traced(leaf, self.graph.call_function(operator.getitem, (node, i)), device)
