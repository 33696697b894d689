"""Who keeps a tensor's memory alive? A ledger of references.

Memory is freed the moment nothing refers to it any more (paper, section 5.5): no garbage collector has to
come by. What refers to what:

    Python (a variable, a list, a module)  ->  tensor  ->  memory
    a view                                 ->  the tensor that it is a view of
    a sparse tensor                        ->  its indices and its values
    a tensor                               ->  its .grad, and its grad_fn, a node
    a node                                 ->  the nodes before it, what it saved, the leaf that it ends at

    ledger = holders(x)
    print(ledger)                    who holds the memory of x
    ledger.freed_without(y)          bytes that would be freed if Python let go of y

Found by a look at all living objects, when asked: nobody pays for it otherwise. Nodes count as held by
tensors and other nodes only: a variable of yours that holds a `grad_fn` is not seen.
"""
import gc
from collections import Counter
from sys import getrefcount
from typing import Any, NamedTuple

from ..autograd.node import Node
from ..autograd.saved import PackedTensor, ResultInView, SavedTensor
from ..tensor import Tensor, entries_of, living_tensors, root_of, storage_of


class Holder(NamedTuple):
    """One entry of the ledger: something that holds `held`, a tensor or the storage.

    kind: "python", "view", "grad", "entries" (of a sparse tensor), "saved", "leaf" (AccumulateGrad, or the edge that
    stands for it), "array", "shared", "stream", or another of `more_holders`. what: the same in words. by: the tensor
    or node that holds; None for what lies outside the engine. count: how many references.
    """

    kind: str
    what: str
    held: Any
    by: Any = None
    count: int = 1


class Ledger:
    """Who holds the memory of one tensor. `tensors`: those that look at it; `holders`: a list of Holders."""

    def __init__(self, storage, tensors, holders, world):
        self.storage, self.tensors, self.holders, self._world = storage, tensors, holders, world

    @property
    def nbytes(self):
        """Of the storage."""
        return self.storage.nbytes()

    def of(self, held):
        """The Holders of one of the tensors, or of the storage."""
        return [holder for holder in self.holders if holder.held is held]

    def freed_without(self, *tensors):
        """How many bytes of memory would be freed if Python let go of these tensors."""
        return sum(self._world.freed_without(tensors).values())

    def is_freed_without(self, *tensors):
        """Whether this memory would be among them."""
        return memory_of(self.tensors[0])[0] in self._world.freed_without(tensors)

    def is_kept_by(self, tensor):
        """Whether this memory lives as long as `tensor` does, whatever else goes."""
        return memory_of(self.tensors[0])[0] in memories([tensor])

    def python_count(self, tensor):
        """How many references Python has to any tensor, over this memory or not."""
        return max(0, self._world.python[id(tensor)])

    def keepers(self):
        """The tensors that Python refers to and that keep this memory alive, until the last of them goes."""
        return [t for t in self._world.tensors if self.python_count(t) and self.is_kept_by(t)]

    def __str__(self):
        lines = [f"storage of {self.nbytes} bytes"]
        for tensor in self.tensors:
            lines.append(f"  {description(tensor)}")
            lines += [f"    {holder.what}" for holder in self.of(tensor)]
        return "\n".join(lines + [f"  {holder.what}" for holder in self.of(self.storage)])


def holders(tensor, own_references=1):
    """The Ledger of a tensor's memory.

    own_references: how many references to `tensor` are the asker's own and do not count; this call's argument
    is one. TypeError for what is no tensor of teachtorch.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"holders takes a tensor of teachtorch, not {type(tensor).__name__}")
    world = World(id(tensor), own_references)
    storage, memory = storage_of(tensor), memory_of(tensor)[0]
    over = [tensor] + [t for t in world.tensors if t is not tensor and memory_of(t)[0] == memory]
    found = [holder for t in over for holder in world.holders_of(t)]
    return Ledger(storage, over, found + outside(storage, over), world)


class World:
    """All living tensors and nodes. `python`: id of a tensor -> references from outside the engine."""

    def __init__(self, asked, own_references):
        self.tensors, self.nodes = living()
        self.python = python_references(self.tensors, self.nodes)
        self.python[asked] -= own_references

    def holders_of(self, tensor):
        """The Holders of one tensor."""
        count = self.python[id(tensor)]
        plural = "" if count == 1 else "s"
        mine = [Holder("python", f"{count} reference{plural} from Python", tensor, None, count)] if count > 0 else []
        return mine + [Holder(kind, what, tensor, thing) for thing in [*self.tensors, *self.nodes]
                       for kind, what, held in references_of(thing) if held is tensor]

    def freed_without(self, tensors):
        """{memory: bytes} that only these tensors' references from Python keep alive."""
        dropped = set(map(id, tensors))
        roots = [t for t in self.tensors if self.python[id(t)] > 0]
        before, after = memories(roots), memories([t for t in roots if id(t) not in dropped])
        return {memory: nbytes for memory, nbytes in before.items() if memory not in after}


# ---- references --------------------------------------------------------------------------------------------

def living():
    """(tensors, nodes) that the garbage collector knows of."""
    nodes = [thing for thing in gc.get_objects() if issubclass(type(thing), Node)]
    return living_tensors(), nodes


def references_of(thing):
    """(kind, in words, what it holds) for everything that a tensor or a node holds."""
    return references_of_tensor(thing) if isinstance(thing, Tensor) else references_of_node(thing)


def references_of_tensor(t):
    if entries := entries_of(t):
        yield "entries", f"{description(t)} has it as its indices", entries.indices
        yield "entries", f"{description(t)} has it as its values", entries.values
    if t._view is not None:
        yield "view", f"a view of it, {description(t)}", t._view.base
    if t._meta is not None and t._meta.grad is not None:
        yield "grad", f"it is the .grad of {description(t)}", t._meta.grad
    if t._meta is not None and t._meta.grad_fn is not None:
        yield "graph", f"{description(t)} has it as grad_fn", t._meta.grad_fn


def references_of_node(node):
    for name, tensor in saved_by(node):
        yield "saved", f"{short_name(node)} saved it as {name}", tensor
    if hasattr(type(node), "variable"):
        yield "leaf", "AccumulateGrad fills its .grad", node.variable
    for source in node.sources:
        if isinstance(source, Tensor):
            yield "leaf", f"{short_name(node)} ends at this leaf", source
        elif source is not None:
            yield "graph", f"{short_name(node)} leads to it", source[0]
    if getattr(node, "fn", None) is not None:
        yield "graph", f"{short_name(node)} runs it", node.fn


def saved_by(node):
    """(name, tensor) of all that a node keeps for its backward."""
    names = getattr(getattr(node, "plan", None), "names", None)
    for place, value in enumerate(getattr(node, "saved", None) or () if names else getattr(node, "_saved", ())):
        value = value[0] if isinstance(value, tuple) else value
        if isinstance(value, ResultInView):
            value = value.saved
        kept = value.tensor if isinstance(value, SavedTensor) else getattr(value, "packed", None)
        if isinstance(value, (SavedTensor, PackedTensor)) and isinstance(kept, Tensor):
            yield names[place] if names else f"tensor {place}", kept


def python_references(tensors, nodes):
    """By id of each tensor, the references that are not the engine's: variables, containers, modules."""
    inside = Counter(id(held) for thing in [*tensors, *nodes] for _, _, held in references_of(thing))
    # Three are this function's: the list, the name `t`, and getrefcount's argument.
    return Counter({id(t): getrefcount(t) - 3 - inside[id(t)] for t in tensors})


def outside(storage, tensors):
    """Holders of the memory itself: arrays, other processes, and what others know of."""
    found = [Holder("shared", f"shared with other processes ({storage.shared.strategy})", storage)
             ] if storage.is_shared() else []
    if count := arrays_over(storage, tensors):
        plural = "" if count == 1 else "s"
        found.append(Holder("array", f"{count} NumPy array{plural}", storage, None, count))
    return found + [holder for ask in more_holders for holder in ask(storage)]


def arrays_over(storage, tensors):
    """How many arrays, or other things, refer to the memory beside the tensors' own."""
    if storage.device.type != "cpu":
        return 0
    own = {id(a): a for t in tensors for a in (t._array, t._storage and t._storage.buffer) if a is not None}
    root = root_of(storage.buffer)
    lookers = sum(a is root or a.base is root for a in own.values())
    slots = sum(t._array is root for t in tensors) + len({id(t._storage) for t in tensors
                                                          if t._storage is not None and t._storage.buffer is root})
    is_own = id(root) in own                     # then `own` holds it too, and as a looker it is counted by its slots
    return getrefcount(root) - 2 - slots - (lookers - is_own) - is_own


def recorded_streams(storage):
    """The streams that record_stream named: the allocator hands the memory on when they are done with it."""
    uses = getattr(getattr(storage, "block", None), "stream_uses", None)
    return [Holder("stream", f"stream {number} may still use it (record_stream)", storage)
            for number in sorted(uses or ())]


more_holders = [recorded_streams]     # functions of a storage that return further Holders of it


# ---- memory ------------------------------------------------------------------------------------------------

def memory_of(t):
    """(key, bytes) of the memory under a tensor. Detached tensors and their originals have the same.

    A sparse tensor has none of its own: it holds two tensors that have.
    """
    storage = t._storage
    if entries_of(t):
        return id(storage), 0
    if storage is not None and storage.device.type != "cpu":
        return id(storage), 0 if storage.device.type == "meta" else storage.nbytes()
    root = root_of(storage.buffer if t._array is None else t._array)
    return id(root), root.nbytes


def memories(roots):
    """{memory: bytes} of everything that is alive as long as `roots` are."""
    found, seen, waiting = {}, set(), list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, Tensor):
            found.update([memory_of(thing)])
        waiting += [held for _, _, held in references_of(thing)]
    return found


# ---- words -------------------------------------------------------------------------------------------------

def description(t):
    """float32 [2, 3]"""
    return f"{t.dtype.name} {list(t.shape)}"


def short_name(node):
    """AccumulateGrad instead of torch::autograd::AccumulateGrad."""
    return node.name().rpartition("::")[2]
