"""``viz.sparse``: the entries of a sparse tensor, and the dense grid that they stand for."""

import sys

from viz.names import find_names
from viz.picks_blocks import COLOURS, Block, links
from viz.picture import Picture
from viz.tensors import element_count, human_bytes, number_text, require_tensor
from viz.trace import Trace
from viz.wrap import counted

MOST = 64

_LEGEND = {
    "colours": "an entry: its column of indices, its value, and its place; 4 colours take turns",
    "pale": "zero: no entry says anything of it, and no memory is spent on it",
    "shared": "a place that occurs as often as it says: coalesce() adds the values there",
}


def sparse(x):
    """The indices and values of a sparse tensor, the dense grid they stand for, and which entries coalescing will add.

    x: a tensor of teachtorch or PyTorch in layout torch.sparse_coo, hybrid ones too.
    Raises TypeError for other tensors. Source: https://pytorch.org/docs/stable/sparse.html
    """
    require_tensor(x, "viz.sparse")
    if not x.is_sparse:
        raise TypeError("viz.sparse takes a tensor in layout torch.sparse_coo; x.to_sparse() makes one of a strided x")
    names = find_names(None, sys._getframe(1)).of(x)
    name, x = names[0] if names else "x", x.detach()
    entries = _Entries(x)
    rows = [[entries.by, entries.values], [entries.dense]]
    trace = Trace("picks", f"{name}, {counted(entries.count, 'entry', 'entries')} in {_size(x)}")
    trace.options = {
        "rows": [[block.described() for block in row] for row in rows],
        **_LEGEND,
        "tie": True,
        "hint": "Point at an entry, or step with the arrow keys: one entry after the other takes its place.",
    }
    trace.nodes = entries.nodes()
    links(trace, entries.triples())
    trace.notes = _notes(name, x, entries)
    trace.steps = entries.steps()
    _tell(trace, entries)
    return Picture(trace)


def _size(x):
    return " x ".join(map(str, x.shape)) or "a 0-d tensor"


class _Entries:
    """The entries of a sparse tensor, and the three blocks that show them."""

    def __init__(self, x):
        self.indices, self._x = x._indices(), x
        self.sparse_dims, self.count = x.sparse_dim(), x._nnz()
        columns = self.indices.t().tolist() if self.count else []
        self.places = [tuple(column) for column in columns] if self.sparse_dims else [()] * self.count
        order = {place: number for number, place in enumerate(sorted(set(self.places)))}
        self.number = [order[place] for place in self.places]
        values, shape = x._values(), tuple(x.shape)
        self.by = Block("x", "indices", tuple(self.indices.shape), self.indices)
        self.values = Block("s", "values", tuple(values.shape), values, wanted=self._wanted(values))
        self.dense = Block("o", "the dense tensor", shape, None, wanted=[far for _, _, far in self.pairs()])
        self.sums = {}
        for k, place in enumerate(self.places):                  # of all entries, drawn or not
            self.sums.setdefault(place, []).append(k)

    def _wanted(self, values):
        return [(k, *[0] * (len(values.shape) - 1)) for k in range(self.count)]

    def pairs(self):
        """(entry, index in values, index in the dense tensor), for every value that is drawn."""
        for place in self.values.places:
            k = place[0]
            yield k, place, self.places[k] + place[1:]

    def nodes(self):
        found = [self._node(self.by, place, place[1]) for place in self.by.places]
        found += [self._node(self.values, place, place[0]) for place in self.values.places]
        return found + [self._element(place) for place in self.dense.places]

    def _element(self, place):
        """An element of the dense tensor: the sum of its entries, or zero."""
        entries = self.sums.get(place[: self.sparse_dims], [])
        node = self._node(self.dense, place, *(entries or [None]))
        values = [self._x._values()[(k, *place[self.sparse_dims :])].item() for k in entries]
        node["text"] = number_text(sum(values[1:], values[0]) if values else 0, 3)
        node["tip"] = f"element {list(place)} = {node['text']}"
        return node

    def _node(self, block, place, k, *more):
        return {
            "id": block.id(place),
            "kind": "cell",
            "block": block.key,
            "index": list(place),
            "text": block.value(place),
            "colour": None if k is None else self.number[k] % COLOURS,
            "shared": 1 + len(more) if more else 0,
            "links": [],
            "tip": f"{block.name}{list(place)}{block.equals(place)}",
        }

    def triples(self):
        """What lights up together: a value and its place, and the column of indices that says where."""
        for k, near, far in self.pairs():
            yield self.values, near, None, None, self.dense, far
            for dim in range(self.sparse_dims):
                yield self.by, (dim, k), self.values, near, self.dense, far

    def sentence(self, k, near, far):
        index = ", ".join(map(str, self.places[k]))
        times = self.places[: k + 1].count(self.places[k])
        again = f", entry number {times} there: the values are added" if times > 1 else ""
        return f"Entry {k} stands at [{index}]: element {list(far)} += {self.values.value(near)}{again}."

    def steps(self):
        """One entry after the other is added to the zeros."""
        pairs, sums, steps = list(self.pairs())[:MOST], {}, []
        for k, near, far in pairs:
            value = self._x._values()[near].item()
            sums[far] = sums[far] + value if far in sums else value
            ids = [self.by.id((dim, k)) for dim in range(self.sparse_dims)] + [self.values.id(near), self.dense.id(far)]
            change = {f"v{self.dense.id(far)}": {"text": number_text(sums[far], 3)}} if self.dense.id(far) else {}
            steps.append({"ids": [id for id in ids if id], "msg": self.sentence(k, near, far), "set": change})
        if steps:
            before = {f"v{self.dense.id(far)}": {"text": "0"} for _, _, far in pairs if self.dense.id(far)}
            steps[0]["set"] = {**before, **steps[0]["set"]}
        return steps


def _tell(trace, entries):
    """What a value, and the element it goes to, say under the pointer."""
    by_id = trace.by_id()
    for k, near, far in entries.pairs():
        for id in (entries.values.id(near), entries.dense.id(far)):
            if id:
                by_id[id]["tip"] = entries.sentence(k, near, far)


# Sentences


def _notes(name, x, entries):
    notes = [_flag(name, x, entries), _memory(x, entries)]
    if x.dense_dim():
        notes.insert(
            1,
            f"Hybrid: {counted(x.sparse_dim(), 'dimension has', 'dimensions have')} indices, and each value "
            f"has the shape {tuple(x.shape[x.sparse_dim() :])} of the others.",
        )
    drawn = len(entries.values.places)
    if drawn < element_count(x._values().shape):
        notes.append(f"Showing {drawn} of {counted(element_count(x._values().shape), 'value')}.")
    return notes


def _flag(name, x, entries):
    repeated = entries.count - len(set(entries.places))
    if x.is_coalesced():
        return f"{name} is coalesced: the places ascend, and none occurs twice."
    if repeated:
        return (f"{name} is not coalesced: {counted(repeated, 'entry repeats', 'entries repeat')} a place. coalesce() "
                f"will leave {counted(entries.count - repeated, 'entry', 'entries')}.")
    return f"{name} is not marked as coalesced, although no place occurs twice: coalesce() will sort the entries."


def _memory(x, entries):
    values, indices = x._values(), x._indices()
    own = sum(element_count(t.shape) * t.element_size() for t in (values, indices))
    dense = element_count(x.shape) * x.element_size()
    return (
        f"Memory: {human_bytes(own)}, of which {human_bytes(element_count(indices.shape) * 8)} are indices; strided it "
        f"would be {human_bytes(dense)}."
    )
