"""``viz.versions``: living tensors over one storage, their version, and what was saved at which version."""

import sys

from viz.graph_steps import listed
from viz.names import find_names
from viz.picture import Picture
from viz.tensors import describe, element_count, require_storage
from viz.trace import Trace
from viz.versions_facts import SLOTS, families, slot_count, version
from viz.versions_watch import Recorder
from viz.wrap import counted


def versions(*tensors, names=None):
    """Alias map: every living tensor over the storage of ``tensors``, its version, and what backward saved.

    A saved tensor whose storage has changed since is stale: backward() will refuse it, if it comes there.

    tensors: tensors of teachtorch or PyTorch. names: as for ``viz.graph``.
    Raises TypeError for something that is not a tensor, ValueError for none.
    """
    _check(tensors)
    known = find_names(names, sys._getframe(1))
    found, _ = families(tensors, known)
    return Picture(versions_trace(found, tensors, known, [], []))


def watch(*tensors, names=None):
    """``with viz.versions.watch(x) as seen: ...``, then ``seen.picture``: the in-place operations as steps.

    tensors, names: as for ``viz.versions``. Calls into the tensors' library are slower meanwhile.
    """
    _check(tensors)
    frame = sys._getframe(1)

    def known():
        return find_names(names, frame)

    return Recorder(tensors, known, lambda seen: _watched(seen, known()))


versions.watch = watch


def _check(tensors):
    if not tensors:
        raise ValueError("viz.versions needs at least one tensor")
    for tensor in tensors:
        require_storage(tensor, "viz.versions")


def _watched(seen, known):
    found, _ = families(seen.tensors, known, seen.chips)
    return Picture(versions_trace(found, seen.tensors, known, seen.changes, seen.start))


def versions_trace(found, asked, known, changes, start):
    """The trace of families. changes: ``Change`` list; start: the families before the first of them."""
    trace = Trace("versions", _title(asked, known))
    ids = _Ids(found, changes)
    for number, family in enumerate(found):
        trace.groups.append(_storage(family, f"s{number}"))
        trace.nodes += [_tensor(t, known, ids, f"s{number}") for t in family.tensors]
        trace.nodes += [_chip(chip, ids, f"s{number}") for chip in _all_chips(family, changes)]
    trace.notes = _notes(found)
    trace.options = {"hint": "Step through the in-place operations." if changes else ""}
    trace.steps = _steps(ids, known, changes, start)
    return trace


def _title(asked, known):
    names = [known.of(t)[0] for t in asked if known.of(t)]
    return "versions of " + (listed(names) if names else counted(len(asked), "tensor"))


class _Ids:
    """Ids for tensors and chips, numbered as they are drawn."""

    def __init__(self, found, changes):
        self.tensors = {id(t): f"t{k}" for k, t in enumerate(t for family in found for t in family.tensors)}
        every = [chip for family in found for chip in _all_chips(family, changes)]
        self.chips = {chip.key: f"k{k}" for k, chip in enumerate(every)}


def _all_chips(family, changes):
    """The chips of a storage, also those whose graph has gone since they were seen."""
    seen = {chip.key: chip for change in changes for f in change.families for chip in f.chips if f.key == family.key}
    return list({**seen, **{chip.key: chip for chip in family.chips}}.values())


# Storages, tensors, chips


def _storage(family, group):
    return {"id": group, "slots": slot_count(family.tensors[0]), "cells": family.values}


def _tensor(t, known, ids, group):
    names = known.of(t)
    return {
        "id": ids.tensors[id(t)],
        "kind": "tensor",
        "storage": group,
        "label": names[0] if names else "a tensor",
        "what": describe(t.shape, t.dtype),
        "version": version(t),
        "first": t.storage_offset(),
        "last": _last(t),
        "used": _used(t),
        "role": _role(t),
    }


def _last(t):
    """The highest storage slot of ``t``; below the offset for a tensor without elements."""
    if not element_count(t.shape):
        return t.storage_offset() - 1
    return t.storage_offset() + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))


def _used(t):
    """The slots of ``t`` where there are few enough to draw one by one."""
    if _last(t) >= SLOTS:
        return []
    slots = {t.storage_offset()} if element_count(t.shape) else set()
    for size, stride in zip(t.shape, t.stride(), strict=True):
        slots = {slot + k * stride for slot in slots for k in range(size)}
    return sorted(slots)


def _role(t):
    if getattr(t, "_base", None) is not None:
        return "view"
    return "leaf" if t.is_leaf and t.requires_grad else "result" if t.requires_grad else "plain"


def _chip(chip, ids, group):
    return {
        "id": ids.chips[chip.key],
        "kind": "chip",
        "storage": group,
        "label": f"{_node_name(chip)} saved {chip.name}",
        "at": chip.at,
        "now": chip.now,
        "state": "stale" if chip.stale else "fresh",
    }


# Notes and steps


def _notes(found):
    notes = []
    for family in found:
        if len(set(family.versions.values())) > 1:
            notes.append("Not all of these tensors count together: a tensor made by .data has a counter of its own.")
    stale = [chip for family in found for chip in family.chips if chip.stale]
    if stale:
        where = listed(list(dict.fromkeys(_node_name(chip) for chip in stale)))
        was = "is" if len(stale) == 1 else "are"
        notes.append(
            f"{counted(len(stale), 'saved tensor')} {was} stale: the storage has changed in place since. backward() "
            f"raises a RuntimeError at {where}."
        )
    elif any(family.chips for family in found):
        notes.append("Every saved tensor still has the version it was saved at: backward() will accept them.")
    return notes


def _node_name(chip):
    return chip.node.name().rsplit("::", 1)[-1]


def _steps(ids, known, changes, start):
    """One step per in-place operation: badges count up, and chips turn stale at that moment."""
    if not changes:
        return []
    steps, stale, before = [_start_step(ids, start)], _stale_keys(start), _versions(start)
    for change in changes:
        step = {"ids": [], "msg": "", "set": _state(ids, change.families, stale)}
        _tell(step, ids, known, change, stale, before)
        steps.append(step)
        stale, before = stale | _stale_keys(change.families), _versions(change.families)
    return steps


def _start_step(ids, start):
    return {"ids": [], "msg": "At the start.", "set": _state(ids, start, set())}


def _stale_keys(found):
    return {chip.key for family in found for chip in family.chips if chip.stale}


def _versions(found):
    return {key: number for family in found for key, number in family.versions.items()}


def _state(ids, found, stale):
    """Badges, chips and slots as they were when ``found`` was gathered."""
    alive = {chip.key: chip for family in found for chip in family.chips}
    changes = {}
    for key, name in ids.chips.items():
        chip = alive.get(key)
        is_stale = key in stale or (chip is not None and chip.stale)
        changes[name] = {"state": "stale" if is_stale else "later" if chip is None else "fresh"}
        if chip is not None and chip.stale:
            changes[f"{name}.old"] = {"text": f"stale: the storage is at v{chip.now}"}
    for key, number in _versions(found).items():
        if key in ids.tensors:
            changes[f"{ids.tensors[key]}.version"] = {"text": f"v{number}"}
    for group, family in enumerate(found):
        changes.update({f"s{group}.{slot}": {"text": word} for slot, word in enumerate(family.values)})
    return changes


def _tell(step, ids, known, change, stale, before):
    """The sentence of one in-place operation, and what it is about."""
    moved = [t for f in change.families for t in f.tensors if before.get(id(t)) not in (None, f.versions[id(t)])]
    now = [f.versions[id(t)] for f in change.families for t in moved[:1] if id(t) in f.versions]
    names = [known.of(t)[0] for t in moved if known.of(t)]
    step["ids"] = [ids.tensors[id(t)] for t in moved if id(t) in ids.tensors]
    what = f"{change.line}: {change.operation}" if change.line else change.operation
    step["msg"] = f"{what} counts {listed(names) or 'the storage'} up to version {now[0] if now else '?'}."
    fallen = [c for f in change.families for c in f.chips if c.stale and c.key not in stale]
    if fallen:
        step["ids"] += [ids.chips[chip.key] for chip in fallen]
        parts = listed([f"what {_node_name(chip)} saved as {chip.name} at version {chip.at}" for chip in fallen])
        step["msg"] += f" At this moment {parts} {'becomes' if len(fallen) == 1 else 'become'} stale."
