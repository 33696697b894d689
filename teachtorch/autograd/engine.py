"""The backward engine: walks the graph from the outputs, each node once, when all its gradients have arrived.

    1  scan     count, for each node, how many edges lead to it from nodes that will run
    2  loop     take the ready node with the highest sequence number (accumulators first); run it; add each gradient
                into the input buffer of the next node, also when it is undefined; a node whose count is 0 is ready

torch/csrc/autograd/engine.cpp. Nothing here recurses over the graph: a chain of 100 000 nodes is one long loop.
"""
import itertools
from heapq import heappop, heappush

from ..core import observer
from ..dispatch.state import set_grad_mode, state
from .node import GraphRoot
from .reduce import is_expandable_to, sum_to


class GraphTask:
    """One backward pass.

    `targets`: edges (node, input_nr) whose gradient is wanted. None: every reachable leaf accumulates. `captures`
    receives the targets' gradients. `accumulate_targets`: targets that are leaves' accumulators, and run.
    """

    def __init__(self, root, targets=None, accumulate_targets=()):
        self.root = root
        self.targets = targets
        self.captures = {}
        self.dependencies = {}
        self.buffers = {}
        self.ready = []
        self.next_turn = itertools.count().__next__      # of equal sequence numbers, first come, first served
        parents = self.count_dependencies()
        self.needed = None if targets is None else self.nodes_towards(targets, parents)
        self.runnable_targets = {edge[0] for edge in accumulate_targets}
        self.captured_inputs = self.targets_by_node()

    # ---- the scan -----------------------------------------------------------------------------------------

    def count_dependencies(self):
        """Fill `dependencies`; return {node: nodes with an edge to it} where targets need it."""
        dependencies, parents = self.dependencies, {}
        seen, stack = {self.root}, [self.root]
        while stack:
            node = stack.pop()
            for edge in node.next_edges:
                if edge is None:
                    continue
                child = edge[0]
                dependencies[child] = dependencies.get(child, 0) + 1
                if self.targets is not None:
                    parents.setdefault(child, []).append(node)
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return parents

    def nodes_towards(self, targets, parents):
        """The nodes that must run to reach the targets: their ancestors (the targets themselves only if on the way)."""
        needed, stack = set(), [edge[0] for edge in targets]
        while stack:
            for parent in parents.get(stack.pop(), ()):
                if parent not in needed:
                    needed.add(parent)
                    stack.append(parent)
        return needed

    def targets_by_node(self):
        found = {}
        for node, input_nr in self.targets or ():
            found.setdefault(node, set()).add(input_nr)
        return found

    # ---- the loop -----------------------------------------------------------------------------------------

    def run(self, keep_graph):
        self.push(self.root)
        ready, buffers, captured, needed = self.ready, self.buffers, self.captured_inputs, self.needed
        while ready:
            node = heappop(ready)[2]
            grads = buffers.pop(node)
            if node.hooks is not None:
                run_tensor_hooks(node, grads)
            if node in captured:
                self.capture(node, grads)
            if needed is None or self.must_run(node):
                self.evaluate(node, grads, keep_graph)
            grads = None              # an accumulator may take a gradient over that nobody else holds
        return self.captures

    def push(self, node):
        heappush(self.ready, (-node.sequence_nr, self.next_turn(), node))

    def must_run(self, node):
        return node in self.needed or node in self.runnable_targets

    def capture(self, node, grads):
        for input_nr in self.captured_inputs[node]:
            self.captures[node, input_nr] = grads[input_nr]

    def evaluate(self, node, grads, keep_graph):
        """Run one node and deliver what it returns."""
        if observer.active:
            results = observed(node, grads)
        else:
            results = node.apply(grads) if node.hooks is None else call_with_hooks(node, grads)
        if not keep_graph:
            node.release()
        if results:
            grads = None
            self.deliver(node, results)

    def deliver(self, node, results):
        """Add the gradients into the next nodes' buffers; a node that waits for nothing more becomes ready."""
        dependencies, buffers = self.dependencies, self.buffers
        for i, edge in enumerate(node.sources):
            if edge is None:
                continue
            child, input_nr = edge
            buffer = buffers.get(child)
            if buffer is None:
                buffer = buffers[child] = [None] * len(child.input_metadata)
            if results[i] is not None:
                grad = fitted(results[i], child.input_metadata[input_nr], node, i)
                results[i] = None
                held = buffer[input_nr]
                buffer[input_nr] = grad if held is None else held + grad
                grad = held = None
            dependencies[child] -= 1
            if not dependencies[child] and (self.needed is None or self.is_wanted(child)):
                self.push(child)

    def is_wanted(self, node):
        return node in self.needed or node in self.captured_inputs or node in self.runnable_targets


def run_tensor_hooks(node, grads):
    """Hooks on the tensors whose gradients arrive here, then the gradients that non-leaves retain."""
    for input_nr, hooks in node.hooks.tensor_pre.items():
        for hook in tuple(hooks.values()):
            if grads[input_nr] is not None:
                grads[input_nr] = replaced(grads[input_nr], hook(grads[input_nr]), hook)
    for input_nr, retain in node.hooks.retain_grad.items():
        retain(grads[input_nr])


def replaced(grad, new, hook):
    """What a tensor hook returned instead of `grad`, if anything. RuntimeError if its size differs."""
    if new is None:
        return grad
    if new._shape != grad._shape:
        raise RuntimeError(f"hook '{getattr(hook, '__name__', hook)}' has changed the size of value")
    return new


def observed(node, grads):
    """Run a node and tell the observer before and after, also of its failure."""
    observer.report("backward", phase="node", node=node, grads=tuple(grads))
    try:
        results = node.apply(grads) if node.hooks is None else call_with_hooks(node, grads)
    except Exception as error:
        observer.report("backward", phase="failed", node=node, error=error)
        raise
    observer.report("backward", phase="done", node=node, results=tuple(results))
    return results


def call_with_hooks(node, grads):
    """Pre-hooks, the node itself, post-hooks."""
    hooks = node.hooks
    for hook in tuple(hooks.pre.values()):
        changed = hook(tuple(grads))
        grads = grads if changed is None else as_list(changed)
    results = node.apply(grads)
    for hook in tuple(hooks.post.values()):
        changed = hook(tuple(results), tuple(grads))
        results = results if changed is None else as_list(changed)
    return results


def as_list(grads):
    return list(grads) if isinstance(grads, (tuple, list)) else [grads]


def fitted(grad, expected, node, i):
    """A node's i-th gradient in the shape and dtype that the next node expects.

    This is where broadcasting is undone for all operators: a derivative may return the broadcast shape.
    """
    if grad._shape != expected.shape:
        grad = reduced(node, i, grad, expected.shape)
    return grad if grad._dtype is expected.dtype else grad.to(expected.dtype)


def reduced(node, i, grad, shape):
    if not is_expandable_to(shape, grad._shape):
        raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {i} - got "
                           f"{list(grad._shape)} but expected shape compatible with {list(shape)}")
    return sum_to(grad, shape)


def run_backward(edges, grads, keep_graph, create_graph, targets=None, accumulate_targets=()):
    """Run backward from `edges` with their starting gradients; returns {target: gradient} for the targets reached."""
    if len(edges) == 1:
        root, input_nr = edges[0]
    else:
        root, input_nr = GraphRoot(tuple(edges), list(grads)), None
    task = GraphTask(root, targets, accumulate_targets)
    buffer = task.buffers[root] = [None] * len(root.input_metadata)
    if input_nr is not None:
        buffer[input_nr] = grads[0]
    if observer.active:
        observer.report("backward", phase="start", node=root, roots=tuple(edges), dependencies=dict(task.dependencies))
    before = state.grad_enabled
    set_grad_mode(create_graph)
    grads = None
    try:
        captured = task.run(keep_graph)
    finally:
        set_grad_mode(before)
    if observer.active:
        observer.report("backward", phase="end", node=root, roots=tuple(edges))
    return captured
