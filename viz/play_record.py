"""Running a real backward and writing down what each node received and sent.

PyTorch is watched through pre- and post-hooks on the nodes, teachtorch through its observer. Each ``.grad``
is put aside for the length of the run and put back after it.
"""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from viz.engines import gradient_node, library_of, observer_of
from viz.live import live_tensors, retaining
from viz.strips import fitted, head
from viz.walk import LeafRoot


@dataclass
class Turn:
    """One node's turn in the run.

    node: its index. arrived, sent: a ``Head`` or None per backward input and output.
    """

    node: int
    arrived: list
    sent: list = field(default_factory=list)


@dataclass
class Recording:
    """turns: in the order they ran. error: what backward raised at the last of them, or "".

    before, after: the ``Head`` of ``.grad`` by leaf index, None where it was None.
    """

    turns: list = field(default_factory=list)
    error: str = ""
    before: dict = field(default_factory=dict)
    after: dict = field(default_factory=dict)


def record(graph, roots, gradients):
    """Run backward from ``roots`` over ``graph`` (a ``walk.Walk`` of them) and return the ``Recording``.

    gradients: one starting gradient per root, or None for the implicit one. Errors raised before any node has
    run, such as a missing gradient, are the caller's and pass through.
    """
    _real_leaves(graph)
    library, kept = library_of(roots[0]), Recording()
    leaves = {k: node.variable for k, node in enumerate(graph.nodes) if graph.is_leaf(k)}
    retained = retaining(live_tensors(roots[0]), graph.nodes)
    with _grads_aside([*leaves.values(), *retained]), _watching(library, graph, kept):
        kept.before = {k: head(leaf.grad) for k, leaf in leaves.items()}
        _run(library, roots, gradients, kept)
        kept.after = {k: head(leaf.grad) for k, leaf in leaves.items()}
    return kept


def _real_leaves(graph):
    for index, node in enumerate(graph.nodes):
        if isinstance(node, LeafRoot):
            graph.nodes[index] = gradient_node(node.variable)


def _run(library, roots, gradients, kept):
    try:
        library.autograd.backward(roots, gradients, retain_graph=True)
    except Exception as error:
        if not kept.turns:
            raise
        kept.error = str(error)


@contextmanager
def _grads_aside(tensors):
    """The run works on copies: the user's .grad objects keep their values and versions."""
    before = [(tensor, tensor.grad) for tensor in tensors]
    for tensor, grad in before:
        tensor.grad = None if grad is None else grad.detach().clone()
    try:
        yield
    finally:
        for tensor, grad in before:
            tensor.grad = grad


@contextmanager
def _watching(library, graph, kept):
    notes = _Notes(graph, kept)
    observer = observer_of(library)
    with ExitStack() as stack:
        if observer:
            stack.enter_context(observer.watching(notes.observed, "backward"))
        else:
            for index, node in enumerate(graph.nodes):
                stack.callback(node.register_prehook(lambda grads, k=index: notes.begin(k, grads)).remove)
                stack.callback(node.register_hook(lambda sent, _, k=index: notes.end(k, sent)).remove)
        yield


class _Notes:
    """Turns as they happen."""

    def __init__(self, graph, kept):
        self._graph, self._kept = graph, kept
        self._index = {id(node): k for k, node in enumerate(graph.nodes)}

    def observed(self, topic, fields):
        """An event of teachtorch's observer. A backward inside the backward has nodes of its own."""
        index = self._index.get(id(fields["node"]))
        if index is not None and fields["phase"] == "node":
            self.begin(index, fields["grads"])
        elif index is not None and fields["phase"] == "done":
            self.end(index, fields["results"])

    def begin(self, index, grads):
        self._kept.turns.append(Turn(index, [head(grad) for grad in grads]))

    def end(self, index, results):
        turn = next(turn for turn in reversed(self._kept.turns) if turn.node == index)
        edges = self._graph.edges[index]
        turn.sent = [self._sent(grad, edge) for grad, edge in zip(results, edges, strict=False)]

    def _sent(self, grad, edge):
        if grad is None or edge is None:
            return None
        shape = _expected_shape(self._graph.nodes[edge[0]], edge[1])
        return head(grad if shape is None else fitted(grad, shape))


def _expected_shape(node, input_nr):
    metadata = getattr(node, "_input_metadata", None) or ()
    if hasattr(node, "variable"):
        return node.variable.shape
    return getattr(metadata[input_nr], "shape", None) if input_nr < len(metadata) else None
