"""The steps of a recorded backward: one turn of the engine each, with the gradients that travelled.

Beside ``ids``, ``msg`` and ``set``, a step has ``fly`` ([edge, values] that slide along), ``land`` (what
changes once they have arrived), ``queue`` (ids of the ready cards, next first), ``frees`` (saved boxes that
empty unless the graph is retained), ``kept`` (the sentence in that case) and ``sums`` (lines of text for
buffers in which gradients met). ``values`` fill a strip of cells.
"""

from viz.graph_model import edge_id
from viz.graph_steps import listed, unique
from viz.saved import released
from viz.strips import added, strip, strip_text

_LETTERS = "abcdefgh"


def buffer_id(card, slot):
    return f"{card}.b{slot}"


class Replay:
    """What the engine holds while the recorded turns go by: dependencies, input buffers, the ready queue."""

    def __init__(self, model, grads):
        """grads: the Head of each leaf's ``.grad`` before this backward, by node; None where it is None."""
        self.model, self.grads = model, dict(grads)
        self.waits = model.graph.arrivals()
        self.ready, self.buffers = [], {}

    def start(self, seeds):
        """The first step. seeds: the Head of each root's starting gradient."""
        step = _blank([])
        for number, ((node, slot), seed) in enumerate(zip(self.model.graph.roots, seeds, strict=True)):
            self._arrive(step, node, slot, seed, f"s{number}")
            step["ids"].append(self.model.card[node])
            if self.waits[node] == 0 and node not in self.ready:
                self._make_ready(step, node)
        names = list(dict.fromkeys(self.model.label(node) for node, _ in self.model.graph.roots))
        step["ids"] = list(dict.fromkeys(step["ids"]))
        step["msg"] = (
            "backward() starts: the engine counts how many gradients each node waits for, and hands the first "
            f"gradient to {listed(names)}."
        )
        return self._closed(step)

    def turn(self, turn, again=False):
        """The step in which one node runs."""
        card = self.model.card[turn.node]
        step = _blank([card])
        if turn.node in self.ready:
            self.ready.remove(turn.node)
        step["set"] = {card: {"state": "done"}, f"{card}.waits": {"text": "done"}}
        if self.model.graph.is_leaf(turn.node):
            step["msg"] = self._accumulate(step, turn)
        else:
            self._operate(step, turn, again)
        return self._closed(step)

    def fold(self, turns):
        """One step for neighbours in engine order that share a card."""
        card = self.model.card[turns[0].node]
        step = _blank([card])
        step["set"] = {card: {"state": "done"}}
        for turn in turns:
            if turn.node in self.ready:
                self.ready.remove(turn.node)
            self._send(step, turn, inside=card)
        step["msg"] = (
            f"{len(turns)} folded nodes run, one after the other." if len(turns) > 1 else ("A folded node runs.")
        )
        return self._closed(step)

    # One turn

    def _operate(self, step, turn, again):
        name = self.model.label(turn.node)
        parts = unique(self._send(step, turn))
        self._retain(step, turn)
        verb = "runs again" if again else "runs"
        changed = self._changed_by_hook(turn)
        if parts:
            sentence = f"{name} {verb}{changed} and sends a gradient to {listed(parts)}"
        else:
            sentence = f"{name} {verb}{changed}, but no input of its operation needs a gradient"
        freed = self._freed(step, turn.node)
        if freed:
            step["kept"] = sentence + "."
        step["msg"] = sentence + freed + "."

    def _retain(self, step, turn):
        """retain_grad() keeps the whole incoming gradient before the node runs."""
        card = self.model.card[turn.node]
        for slot in self.model.inputs_used[turn.node]:
            if self.model.retains_grad(turn.node, slot):
                tensor = self.model.output_tensor(turn.node, slot)
                owner = self.model.root_card(tensor) or f"{card}.{slot}"
                name = "" if owner == self.model.root_card(tensor) else self.model.output_names(turn.node, slot)[0]
                step["set"][f"{owner}.grad"] = {"text": f"{name}.grad", "values": strip(turn.arrived[slot])}

    def _changed_by_hook(self, turn):
        """The engine's own input buffers say whether a hook changed what had arrived."""
        for slot, got in enumerate(turn.arrived):
            held = self.buffers.get((turn.node, slot), [None, None])[1]
            if None not in (got, held) and strip(got) != strip(held):
                return f" on the gradient that a hook made of it, {strip_text(got)},"
        return ""

    def _freed(self, step, node):
        kept = [item for item in self.model.saved.get(node, ()) if item["state"] in ("kept", "packed")]
        if not kept:
            return ""
        step["frees"] = [f"{self.model.card[node]}.saved"]
        return f", then lets go of {released(kept)}"

    def _send(self, step, turn, inside=None):
        """Deliver every gradient of a node; undefined ones count down the dependencies too."""
        parts = []
        for slot, edge in enumerate(self.model.graph.edges[turn.node]):
            if edge is None:
                continue
            target, input_nr = edge
            sent = turn.sent[slot] if slot < len(turn.sent) else None
            self.waits[target] -= 1
            if self.model.card[target] != inside:
                self._arrive(step, target, input_nr, sent, edge_id(self.model.edge_ends(turn.node, slot)))
            if self.waits[target] == 0:
                self._make_ready(step, target)
            elif not self.model.folded(target):
                step["land"][f"{self.model.card[target]}.waits"] = {"text": f"waits for {self.waits[target]}"}
            parts.append(self._sent(target, input_nr))
        return parts

    def _sent(self, target, input_nr):
        graph = self.model.graph
        port = "" if graph.is_leaf(target) or input_nr == 0 else f" (input {input_nr})"
        left = self.waits[target]
        return self.model.label(target) + port, " (now ready)" if left == 0 else f" (which waits for {left} more)"

    def _arrive(self, step, node, slot, sent, edge):
        """A gradient slides along its edge and is added to what the input buffer holds."""
        if edge not in step["ids"]:
            step["ids"].append(edge)
        step["fly"].append([edge, strip(sent)])
        if self.model.folded(node):
            return
        count, held = self.buffers.get((node, slot), [0, None])
        total = added(held, sent)
        self.buffers[node, slot] = [count + 1, total]
        step["land"][buffer_id(self.model.card[node], slot)] = {"text": _sum_text(count + 1), "values": strip(total)}
        if count:
            added_up = f"{strip_text(held)} + {strip_text(sent)} = {strip_text(total)}"
            step["sums"].append(f"Input {slot} of {self.model.label(node)} adds up: {added_up}")

    def _make_ready(self, step, node):
        self.ready.append(node)
        if not self.model.folded(node):
            step["land"][f"{self.model.card[node]}.waits"] = {"text": "ready"}
            step["land"][self.model.card[node]] = {"state": "ready"}

    def _closed(self, step):
        """Add the queue: highest sequence number first, equal ones as they became ready."""
        order = sorted(self.ready, key=lambda node: -self.model.graph.sequence(node))
        step["queue"] = list(dict.fromkeys(self.model.card[node] for node in order))
        return {key: value for key, value in step.items() if value or key in ("ids", "msg", "set", "queue")}

    # Leaves

    def _accumulate(self, step, turn):
        before, name = self.grads.get(turn.node), self.model.label(turn.node)
        came = turn.arrived[0] if turn.arrived else None
        after = added(before, came)
        self.grads[turn.node] = after
        step["set"][f"{self.model.card[turn.node]}.grad"] = {"text": ".grad", "values": strip(after)}
        if came is None:
            return f"AccumulateGrad of {name} runs with an undefined gradient: {name}.grad stays as it was."
        if before is None:
            gradient = strip_text(came)
            return f"AccumulateGrad of {name} runs: .grad was None, so the gradient {gradient} becomes it."
        return (
            f"AccumulateGrad of {name} adds: {name}.grad was {strip_text(before)}, the gradient is "
            f"{strip_text(came)}, so now it is {strip_text(after)}."
        )


def _blank(ids):
    return {"ids": ids, "msg": "", "set": {}, "land": {}, "fly": [], "sums": []}


def _sum_text(count):
    """``a``, ``a + b``, ``a + b + c``, ``sum of 5``."""
    return " + ".join(_LETTERS[:count]) if count <= 3 else f"sum of {count}"
