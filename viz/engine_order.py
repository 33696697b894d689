"""The order in which the engine runs the nodes of a graph, and what each node waits for."""

import heapq
from dataclasses import dataclass


@dataclass
class Visit:
    """One node's turn.

    node: index of the node.
    sends: (output slot, target index, input_nr, gradients the target still waits for) per edge.
    ready: indices of the nodes in the ready queue afterwards, next one first.
    """

    node: int
    sends: list
    ready: list


def run_order(graph, queue_limit=6):
    """Visits in engine order: of the nodes whose gradients have all arrived, the one created last runs first.

    graph: a ``walk.Walk``. Equal sequence numbers (leaves) go first in, first out.
    """
    waits, queue, visits = graph.arrivals(), _Queue(graph), []
    for root in dict.fromkeys(place for place, _ in graph.roots):
        if waits[root] == 0:
            queue.push(root)
    while queue:
        node = queue.pop()
        sends = _send(graph, node, waits, queue)
        visits.append(Visit(node, sends, queue.peek(queue_limit)))
    return visits


def _send(graph, node, waits, queue):
    sends = []
    for slot, edge in enumerate(graph.edges[node]):
        if edge is None:
            continue
        target, input_nr = edge
        waits[target] -= 1
        if waits[target] == 0:
            queue.push(target)
        sends.append((slot, target, input_nr, waits[target]))
    return sends


class _Queue:
    """The ready queue: a heap by sequence number, highest first."""

    def __init__(self, graph):
        self._graph, self._heap, self._count = graph, [], 0

    def push(self, node):
        heapq.heappush(self._heap, (-self._graph.sequence(node), self._count, node))
        self._count += 1

    def pop(self):
        return heapq.heappop(self._heap)[2]

    def peek(self, limit):
        return [node for _, _, node in heapq.nsmallest(limit, self._heap)] if limit else []

    def __len__(self):
        return len(self._heap)
