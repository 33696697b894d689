"""The steps of a picture of picked elements: one element read or written after the other."""

import operator

from viz.tensors import number_text

MOST = 64
_JOIN = {"sum": operator.add, "prod": operator.mul, "mean": operator.add, "amax": max, "amin": min}


def reading_steps(trace, pairs, source, out, by, formula):
    """One step for each element of the result: it is read, and appears."""
    for near, far in pairs:
        _tell(trace, [out.id(near), by and by.id(near)], formula(near, far))
    steps = [
        {
            "ids": _ids(source.id(far), by and by.id(near), out.id(near)),
            "msg": formula(near, far) + ".",
            "set": {_words(out.id(near)): {"text": out.value(near)}},
        }
        for near, far in pairs[:MOST]
    ]
    _before(steps, {_words(out.id(near)): {"text": ""} for near, _ in pairs[:MOST]})
    return steps


def writing_steps(trace, pairs, blocks, start, how, formula):
    """One step for each write: the element of the result takes its value, or joins it.

    blocks: source (or None), index and result. start: the tensor before. how: src, reduce, include_self.
    """
    given, by, out = blocks
    told = _Writes(given, out, start, *how, len(pairs))
    steps = []
    for number, (near, far) in enumerate(pairs):
        _tell(trace, [by.id(near), given and given.id(near)], formula(near, far))
        if number < MOST:
            value, said = told.write(near, far)
            change = {_words(out.id(far)): {"text": value}} if out.id(far) and value else {}
            ids = _ids(given and given.id(near), by.id(near), out.id(far))
            steps.append({"ids": ids, "msg": formula(near, far) + said + ".", "set": change})
    old = {out.id(far): far for _, far in pairs[:MOST]}
    _before(steps, {_words(id): {"text": told.old(far)} for id, far in old.items() if id})
    return steps


class _Writes:
    """The value of each element of the result, write after write."""

    def __init__(self, given, out, start, src, reduce, include_self, count):
        self._given, self._out, self._start, self._src = given, out, start, src
        self._reduce, self._self = reduce, include_self
        self._now, self._times = {}, {}

    def old(self, far):
        """The element before the first write."""
        if self._start is None:
            return ""
        return number_text(self._item(self._start, far), 3)

    def write(self, near, far):
        """(value after this write, what to say of it)."""
        self._times[far] = self._times.get(far, 0) + 1
        again = f" (write number {self._times[far]} there)" if self._times[far] > 1 else ""
        if self._start is None or self._reduce == "mean":
            return "", again
        value = self._joined(far, self._item(self._src, near) if self._given else self._src)
        shown = number_text(value, 3)
        return shown, f": now {shown}{again}"

    def _joined(self, far, value):
        before = self._now.get(far, self._item(self._start, far) if self._self else None)
        joins = self._reduce is not None and before is not None
        self._now[far] = _JOIN[self._reduce](before, value) if joins else value
        return self._now[far]

    @staticmethod
    def _item(tensor, place):
        return (tensor[place] if place else tensor).detach().item()


def _words(id):
    """The text inside an element has an id of its own, so that a step can change it."""
    return f"v{id}"


def _ids(*found):
    return list(dict.fromkeys(each for each in found if each))


def _before(steps, changes):
    """What the first step shows of all that is still to come."""
    if steps:
        steps[0]["set"] = {**changes, **steps[0]["set"]}


def _tell(trace, ids, sentence):
    """The formula as what an element says under the pointer."""
    by_id = {node["id"]: node for node in trace.nodes if node["id"] in ids}
    for node in by_id.values():
        node["tip"] = sentence
