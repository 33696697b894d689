"""Which living tensors share which storage, at which version, and what backward saved of it."""

import re
from dataclasses import dataclass, field
from typing import Any

from viz.live import live_tensors
from viz.saved import raw_saved, saved_names
from viz.strips import short
from viz.tensors import has_values, storage_key
from viz.versions_past import same_past
from viz.walk import walk

SLOTS = 24
_NODE_LIMIT = 5000
_STALE = re.compile(r"\[[\w.]+ \[([\d, ]*)\]\].* is at version (\d+); expected version (\d+)")


@dataclass
class Chip:
    """One saved tensor. node: the Node. name: as in ``_saved_<name>``. at: the version it was saved at.

    now: the version its storage has. storage: the key of its storage, or None if that cannot be found out.
    shape: known of a stale one.
    """

    node: Any
    name: str
    at: int
    now: int
    storage: Any = None
    shape: list | None = None

    @property
    def key(self):
        return id(self.node), self.name

    @property
    def stale(self):
        return self.at != self.now


@dataclass
class Family:
    """One storage at one moment: its living tensors, the ones asked about first, and the saved chips.

    versions: by id of the tensor. values: of the slots, as text; empty for a storage of many slots.
    """

    key: Any
    tensors: list
    versions: dict
    values: list
    chips: list = field(default_factory=list)


def version(tensor):
    """The tensor's version counter; None for an inference tensor, which has none."""
    try:
        return tensor._version
    except RuntimeError:
        return None


def families(tensors, names, known=()):
    """(a ``Family`` per storage of ``tensors``, every chip there is).

    known: chips seen before, which still tell the storage of what has become stale since.
    """
    keys = list(dict.fromkeys(map(storage_key, tensors)))
    alive = live_tensors(tensors[0])
    found = {key: _family(key, _members(key, alive, tensors, names)) for key in keys}
    owners = {key: [t for t in alive if t.requires_grad and _memory(t) == key] for key in keys}
    every = chips(alive, {chip.key: chip for chip in known})
    for chip in every:
        if chip.storage is None:
            chip.storage = _guess(chip, found, owners)
        if chip.storage in found:
            found[chip.storage].chips.append(chip)
    return list(found.values()), every


def _family(key, tensors):
    return Family(key, tensors, {id(t): version(t) for t in tensors}, _values(tensors[0]))


def slot_count(tensor):
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def _values(tensor):
    """The values in the storage, read through a tensor over all of it."""
    count = slot_count(tensor)
    if count > SLOTS or not has_values(tensor):
        return [""] * count if count <= SLOTS else []
    return [short(v) for v in tensor.detach().as_strided((count,), (1,), 0).tolist()]


def _members(key, alive, asked, names):
    """The user's tensors over one storage. Those nobody has a name for are PyTorch's or a picture's own."""
    members = {id(t): t for t in [*asked, *alive] if _memory(t) == key and (names.of(t) or any(t is a for a in asked))}
    asked_ids = {id(t) for t in asked}
    return sorted(members.values(), key=lambda t: (id(t) not in asked_ids, -t.numel(), t.storage_offset(), names.of(t)))


def _guess(chip, found, owners):
    """A stale tensor cannot be read: the one storage that fits it by version, shape and graph is its own."""
    matches = [key for key, family in found.items() if _fits(chip, family) and same_past(chip, owners[key])]
    return matches[0] if len(matches) == 1 else None


def _fits(chip, family):
    return any(family.versions[id(t)] == chip.now and list(t.shape) == chip.shape for t in family.tensors)


def chips(alive, known):
    """Every saved tensor of every graph that a living tensor holds."""
    graph, found = walk([t for t in alive if t.requires_grad and t.grad_fn is not None]), []
    counters = {}
    for tensor in alive:
        if not getattr(tensor, "is_inference", lambda: False)():
            counters.setdefault(_memory(tensor), set()).add(version(tensor))
    for index, node in enumerate(graph.nodes[:_NODE_LIMIT]):
        if not graph.is_leaf(index):
            found += [chip for name in saved_names(node) if (chip := _chip(node, name, known, counters))]
    return found


def _memory(tensor):
    try:
        return storage_key(tensor)
    except (RuntimeError, NotImplementedError):
        return None


def _chip(node, name, known, counters):
    """The chip of one saved tensor; None for one that is freed, packed or no tensor."""
    raw = raw_saved(node, name)
    try:
        value = getattr(node, f"_saved_{name}") if getattr(raw, "unpack_hook", None) is None else None
    except RuntimeError as error:
        return _stale_chip(node, name, str(error), getattr(raw, "data", None), known.get((id(node), name)), counters)
    if not hasattr(value, "untyped_storage"):
        return None
    return Chip(node, name, version(value), version(value), storage_key(value))


def _stale_chip(node, name, message, data, before, counters):
    """The engine's refusal says both versions. PyTorch's raw record knows the memory; else an earlier look.

    A library may refuse a whole node for one stale tensor: who has not moved since the earlier look is fresh.
    """
    match = _STALE.search(message)
    if not match:
        return None
    shape = [int(size) for size in match[1].split(",") if size.strip()]
    now, at = int(match[2]), int(match[3])
    if before is None:
        return Chip(node, name, at, now, None if data is None else storage_key(data), shape)
    still = now not in counters.get(before.storage, {now})
    return Chip(node, name, before.at, before.at if still else now, before.storage)
