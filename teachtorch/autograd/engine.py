"""The backward engine: walks the graph from the outputs, each node once, when all its gradients have arrived.

    1  scan     count, for each node, how many edges lead to it from nodes that will run
    2  loop     take the ready node with the highest sequence number (accumulators first); run it; add each gradient
                into the input buffer of the next node, also when it is undefined; a node whose count is 0 is ready

torch/csrc/autograd/engine.cpp. Nothing here recurses over the graph: a chain of 100 000 nodes is one long loop.
"""
import threading
from heapq import heappop, heappush
from sys import getrefcount

from ..core import observer
from ..core.dtype import scalar_type_name
from ..dispatch.keys import PYTHON
from ..dispatch.state import set_grad_mode, state
from ..memory.streams import side_streams
from ..tensor import Tensor, entries_of
from .accumulate import is_dense, is_sole_owner
from .node import GraphRoot
from .node_streams import enter_stream_of, hand_over, hand_over_all, in_stream_of, stream_of, wait_in_current_stream
from .reduce import is_expandable_to, sum_to


class GraphTask:
    """One backward pass from a root node: every reachable leaf accumulates its gradient."""

    def __init__(self, root):
        self.dependencies, self.parents = self.count_dependencies(root)
        self.root = root
        self.buffers = {}
        self.ready = []
        self.turn = 0             # of equal sequence numbers, first come, first served
        self.last_streams = set()

    def count_dependencies(self, root):
        """The scan: {node: how many edges lead to it}; and {node: its parents}, for tasks with targets."""
        dependencies, stack = {}, [root]
        while stack:
            for edge in stack.pop().next_edges:
                if edge is not None:
                    child = edge[0]
                    if child in dependencies:
                        dependencies[child] += 1
                    else:
                        dependencies[child] = 1
                        stack.append(child)
        return dependencies, None

    def will_run(self, node):
        """Whether this pass reaches the node."""
        return node in self.dependencies or node is self.root

    def go_to_stream_of(self, node):
        """Make the stream of the node's forward operator the current one."""
        if enter_stream_of(node) and self.ends_at(node):
            self.last_streams.add(node.input_metadata[0].place())

    def ends_at(self, node):
        """Whether the caller gets what the node makes: its streams wait for this one in the end."""
        return not node.sources

    def push(self, node):
        self.turn += 1
        heappush(self.ready, (-node.sequence_nr, self.turn, node))

    def run(self, root, keep_graph):
        """The loop: take the ready node of the highest sequence number, run it, deliver its gradients."""
        ready, buffers = self.ready, self.buffers
        ready.append((0, 0, root))
        while ready:
            node = heappop(ready)[2]
            grads = buffers.pop(node)
            if side_streams.are_used:
                self.go_to_stream_of(node)
            results = self.results_of(node, grads)
            grads = None              # an accumulator may take a gradient over that nobody else holds
            if results is None:
                continue
            if not keep_graph:
                node.release()
            if results:
                self.deliver(node, results)

    def results_of(self, node, grads):
        """What a node makes of the gradients that arrived; None if it is not to run."""
        if node.hooks is None and not observer.active:
            return node.apply(grads)
        return with_hooks(node, grads)

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
            grad = results[i]
            if grad is not None:
                results[i] = None
                expected = child.input_metadata[input_nr]
                if (grad._shape != expected.shape or grad._dtype is not expected.dtype
                        or grad._device is not expected.device):
                    grad = fitted(grad, expected, node, i)
                if side_streams.are_used:
                    receive_in_stream(buffer, input_nr, grad, node, expected)
                elif buffer[input_nr] is None:
                    buffer[input_nr] = grad
                else:
                    add_into(buffer, input_nr, grad)
                grad = None
            waits_for = dependencies[child] = dependencies[child] - 1
            if not waits_for:
                self.push(child)


class TargetedTask(GraphTask):
    """A backward pass for the gradients at given edges (node, input_nr): only what leads to them runs.

    `captures` receives the gradients. `accumulators`: edges of leaves whose accumulators run as well.
    """

    def __init__(self, root, targets, accumulators=()):
        super().__init__(root)
        self.captures = {}
        self.captured_inputs = {}
        for node, input_nr in targets:
            self.captured_inputs.setdefault(node, set()).add(input_nr)
        self.needed = self.ancestors_of(targets)
        self.runnable = self.needed | {edge[0] for edge in accumulators}

    def count_dependencies(self, root):
        dependencies, parents = {}, {}
        seen, stack = {root}, [root]
        while stack:
            node = stack.pop()
            for edge in node.next_edges:
                if edge is None:
                    continue
                child = edge[0]
                dependencies[child] = dependencies.get(child, 0) + 1
                parents.setdefault(child, []).append(node)
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return dependencies, parents

    def ancestors_of(self, targets):
        """The nodes that must run to reach the targets; a target itself only if it is on the way to another."""
        needed, stack = set(), [edge[0] for edge in targets]
        while stack:
            for parent in self.parents.get(stack.pop(), ()):
                if parent not in needed:
                    needed.add(parent)
                    stack.append(parent)
        return needed

    def ends_at(self, node):
        return not node.sources or node in self.captured_inputs

    def will_run(self, node):
        return node in self.runnable or node in self.captured_inputs

    def push(self, node):
        if node in self.runnable or node in self.captured_inputs:
            super().push(node)

    def results_of(self, node, grads):
        if node.hooks is not None:
            run_tensor_hooks(node, grads)
        for input_nr in self.captured_inputs.get(node, ()):
            self.captures[node, input_nr] = grads[input_nr]
        if node not in self.runnable:
            return None
        return observed(node, grads, self.partly(node)) if observer.active else applied(node, grads, self.partly(node))

    def partly(self, node):
        """The node's `apply`, without the edges that lead to no target."""
        return lambda grads: node.apply_towards(
            grads, lambda edge: edge[0] in self.runnable or edge[0] in self.captured_inputs)


def add_into(buffer, input_nr, grad):
    """Add a further gradient to an input buffer: in place, if nobody else can see the sum so far."""
    held = buffer[input_nr]
    # Three references: the buffer's, `held` and getrefcount's own argument.
    # Modes and classes that take operators over are not shown a change in place: who records would record it.
    in_place = not state.grad_enabled and not state.dispatch_modes and not (held._keys | grad._keys) & PYTHON
    if in_place and getrefcount(held) == 3 and is_sole_owner(held) and is_dense(held):
        held.add_(grad)
    elif entries_of(held) is not None:
        buffer[input_nr] = grad + held            # dense + sparse there is, sparse + dense there is not
    else:
        buffer[input_nr] = held + grad


def receive_in_stream(buffer, input_nr, grad, node, expected):
    """Add a gradient, where streams are used: in the next node's stream, which waits for the one that made it."""
    hand_over(grad, stream_of(node), expected)
    if buffer[input_nr] is None:
        buffer[input_nr] = grad
        return
    with in_stream_of(expected):
        buffer[input_nr] = buffer[input_nr] + grad


def run_tensor_hooks(node, grads):
    """Hooks on the tensors whose gradients arrive here, then the gradients that non-leaves retain."""
    for input_nr, hooks in node.hooks.tensor_pre.items():
        for hook in tuple(hooks.values()):
            grads[input_nr] = replaced(grads[input_nr], hook(grads[input_nr]), hook)
    for input_nr, retain in node.hooks.retain_grad.items():
        retain(grads[input_nr])


def replaced(grad, new, hook):
    """What a tensor hook returned instead of `grad`, if anything. RuntimeError if its size differs."""
    if new is None:
        return grad
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new._dtype is not grad._dtype:
        raise RuntimeError(f"hook '{name_of_hook(hook)}' has changed the type of value (was {tensor_type(grad)} got "
                           f"{tensor_type(new)})")
    if new._shape != grad._shape:
        raise RuntimeError(f"hook '{name_of_hook(hook)}' has changed the size of value")
    return new


def name_of_hook(hook):
    return getattr(hook, "__name__", "<unknown>")


def tensor_type(t):
    return f"torch.{scalar_type_name(t._dtype)}Tensor"


def replaced_all(grads, new, hook):
    """The gradients that a node's hook returned instead of `grads`, if it did. RuntimeError or TypeError if they do
    not fit, one by one."""
    if new is None:
        return grads
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
    if len(new) != len(grads):
        raise RuntimeError(f"hook '{name_of_hook(hook)}' has returned an incorrect number of values (got {len(new)}, "
                           f"but expected {len(grads)})")
    return [None if n is None else replaced(n if g is None else g, n, hook) for g, n in zip(grads, new)]


def with_hooks(node, grads):
    """Run a node that has hooks, or while somebody observes."""
    if node.hooks is not None:
        run_tensor_hooks(node, grads)
    return observed(node, grads, node.apply) if observer.active else applied(node, grads, node.apply)


def observed(node, grads, apply):
    """Run a node and tell the observer before and after, also of its failure."""
    observer.report("backward", phase="node", node=node, grads=tuple(grads))
    try:
        results = applied(node, grads, apply)
    except Exception as error:
        observer.report("backward", phase="failed", node=node, error=error)
        raise
    observer.report("backward", phase="done", node=node, results=tuple(results))
    return results


def applied(node, grads, apply):
    """Pre-hooks, the node itself (`apply`), post-hooks."""
    hooks = node.hooks
    if hooks is None:
        return apply(grads)
    for hook in tuple(hooks.pre.values()):
        grads = replaced_all(grads, hook(tuple(grads)), hook)
    results = validated(node, apply(grads))
    for hook in tuple(hooks.post.values()):
        results = replaced_all(results, hook(tuple(results), tuple(grads)), hook)
    return results


def validated(node, results):
    """A node's gradients as the next nodes expect them: what post-hooks see."""
    return [result if edge is None or result is None else fitted(result, edge[0].input_metadata[edge[1]], node, i)
            for i, (result, edge) in enumerate(zip(results, node.next_edges))]


def fitted(grad, expected, node, i):
    """A node's i-th gradient in the shape and dtype that the next node expects.

    This is where broadcasting is undone for all operators: a derivative may return the broadcast shape.
    """
    if grad._shape != expected.shape:
        grad = reduced(node, i, grad, expected.shape)
    if grad._device != expected.device:
        grad = moved(node, i, grad, expected.device)
    return grad if grad._dtype is expected.dtype else grad.to(expected.dtype)


def reduced(node, i, grad, shape):
    if not is_expandable_to(shape, grad._shape):
        raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {i} - got "
                           f"{list(grad._shape)} but expected shape compatible with {list(shape)}")
    return sum_to(grad, shape)


def moved(node, i, grad, device):
    """A 0-dim gradient goes to where its 0-dim input was, beside tensors of an accelerator; others stay put."""
    if grad._shape:
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {i} - expected device {device} "
            f"but got {grad._device}"
        )
    return grad.to(device)


class Current(threading.local):
    """The backward pass that runs in this thread, innermost; what is to be called after it, and after the outermost."""

    task = None
    callbacks = ()
    last_callbacks = ()


current = Current()


def queue_callback(callback):
    """Call `callback()` when the backward pass that runs in this thread, the innermost, has ended: still in its grad
    mode. RuntimeError if none runs."""
    require_a_pass()
    current.callbacks = (*current.callbacks, callback)


def queue_last_callback(callback):
    """Call `callback()` when the outermost backward pass of this thread has ended."""
    require_a_pass()
    current.last_callbacks = (*current.last_callbacks, callback)


def require_a_pass():
    if current.task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")


def run_callbacks(is_outermost):
    """Call what was queued, in this order, and what these calls queue."""
    while current.callbacks or (is_outermost and current.last_callbacks):
        kind = "callbacks" if current.callbacks else "last_callbacks"
        callback, *later = getattr(current, kind)
        setattr(current, kind, tuple(later))
        callback()


def run_backward(edges, grads, keep_graph, create_graph, targets=None, accumulate_targets=()):
    """Run backward from `edges` with their starting gradients; returns {target: gradient} for the targets reached."""
    if len(edges) == 1:
        root, input_nr = edges[0]
    else:
        root, input_nr = GraphRoot(tuple(edges), list(grads)), None
    task = GraphTask(root) if targets is None else TargetedTask(root, targets, accumulate_targets)
    buffer = task.buffers[root] = [None] * len(root.input_metadata)
    if input_nr is not None:
        buffer[input_nr] = grads[0]
    if side_streams.are_used:
        hand_over_all(buffer, root)
    grads = buffer = None
    before, outer_task, streams = state.grad_enabled, current.task, side_streams.current()
    if observer.active:
        observer.report("backward", phase="start", node=root, roots=tuple(edges), dependencies=dict(task.dependencies))
    set_grad_mode(create_graph)
    outer_callbacks, current.task, current.callbacks = current.callbacks, task, ()
    try:
        task.run(root, keep_graph)
        side_streams.restore(streams)
        for place in task.last_streams:
            wait_in_current_stream(place)
        run_callbacks(outer_task is None)
    finally:
        set_grad_mode(before)
        current.task, current.callbacks = outer_task, outer_callbacks
        if outer_task is None:
            current.last_callbacks = ()
        side_streams.restore(streams)
    if observer.active:
        observer.report("backward", phase="end", node=root, roots=tuple(edges))
    return None if targets is None else task.captures
