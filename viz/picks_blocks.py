"""The grids of a picture of picked elements: which of their elements are drawn, and how they are linked."""

from itertools import product
from math import prod

from viz.strides_cells import full_index
from viz.tensors import has_values, number_text

SMALL = 144
COLOURS = 4


class Block:
    """One tensor of the picture.

    key: the letter that its ids begin with. name: what it is called. tensor: where its values are, or None.
    wanted: indices that should be drawn if not all can be.
    """

    def __init__(self, key, name, shape, tensor, wanted=()):
        self.key, self.name, self.shape, self._tensor = key, name, shape, tensor
        self.panels = _panels(shape, wanted)
        self.places = [place for panel in self.panels if panel for place in _inside(shape, panel)]
        self._ids = {place: f"{key}{number}" for number, place in enumerate(self.places)}

    def id(self, place):
        """The id of the element, None if it is not drawn."""
        return self._ids.get(tuple(place))

    def value(self, place):
        """The element as text, empty on a device that holds shapes only."""
        if self._tensor is None or not has_values(self._tensor):
            return ""
        return number_text((self._tensor[place] if place else self._tensor).detach().item(), digits=3)

    def equals(self, place):
        """`` = 12``"""
        value = self.value(place)
        return f" = {value}" if value else ""

    def described(self):
        """For the renderers: the grids by ids, None is a gap."""
        panels = [panel and {**panel, "grid": self._grid(panel)} for panel in self.panels]
        return {"key": self.key, "name": self.name, "shape": list(self.shape), "panels": panels}

    def _grid(self, panel):
        def entry(row, column):
            if None in (row, column):
                return None
            return self.id(full_index(self.shape, panel["leading"], row, column))

        return [[entry(row, column) for column in panel["columns"]] for row in panel["rows"]]


def _panels(shape, wanted):
    """Panels of the last two dims: leading index, rows, columns, each list with None for a gap."""
    if not shape:
        return [{"leading": [], "rows": [0], "columns": [0]}]
    most, high, wide = (15, 16, 20) if prod(shape) <= SMALL else (4, 10, 12)
    columns = _positions(shape[-1], wide, [place[-1] for place in wanted])
    rows = _positions(shape[-2], high, [place[-2] for place in wanted]) if len(shape) > 1 else [0]
    leading = list(product(*map(range, shape[:-2]))) if prod(shape[:-2]) <= most else None
    chosen = leading if leading is not None else _some_leading(shape[:-2], most, wanted)
    rest = {"rows": rows, "columns": columns}
    return [index if index is None else {"leading": list(index), **rest} for index in chosen]


def _positions(size, limit, wanted):
    """Positions along a dim, the wanted ones before others, with None where some are left out."""
    if size <= limit:
        return list(range(size))
    return _with_gaps(sorted(_filled(sorted(set(wanted)), range(size), limit - 2) | {size - 1}))


def _filled(first, rest, count):
    """Of ``first``, then of ``rest``, as many as ``count``."""
    chosen = set(first[:count])
    for position in rest:
        if len(chosen) >= count:
            break
        chosen.add(position)
    return chosen


def _with_gaps(positions):
    found = []
    for position in positions:
        if found and position != found[-1] + 1:
            found.append(None)
        found.append(position)
    return found


def _some_leading(sizes, most, wanted):
    """Leading indices: the wanted ones, then the first ones; None at the end for those left out."""
    reached = sorted({place[: len(sizes)] for place in wanted})
    first = product(*map(range, sizes))
    return [*sorted(_filled(reached, first, most)), None]


def _inside(shape, panel):
    return [
        full_index(shape, panel["leading"], row, column)
        for row in panel["rows"]
        for column in panel["columns"]
        if None not in (row, column)
    ]


def unravel(place, shape):
    """The index of the element with this number in row-major order."""
    found = []
    for size in reversed(shape):
        found.append(place % size)
        place //= size
    return tuple(reversed(found))


# Nodes


def nodes(blocks, dim, pairs, driver, far):
    """The elements of all blocks; linked ones share the colour of their position along ``dim`` of ``far``.

    pairs: (index in the blocks of ``driver``, index in the block ``far``).
    """
    reached = dict(pairs)
    hits = {}
    for _, place in pairs:
        hits[place] = hits.get(place, 0) + 1
    found = []
    for block in blocks:
        for place in block.places:
            there = place if block is far else reached.get(place) if block in driver else None
            used = block is not far or place in hits
            colour, shared = _colour(there, dim) if used else None, hits.get(place, 0) if block is far else 0
            found.append(_node(block, place, colour, shared))
    return found


def _colour(place, dim):
    return None if place is None else (place[dim] if place else 0) % COLOURS


def _node(block, place, colour, hits):
    shared = hits if hits > 1 else 0
    return {
        "id": block.id(place),
        "kind": "cell",
        "block": block.key,
        "index": list(place),
        "text": block.value(place),
        "colour": colour,
        "shared": shared,
        "links": [],
        "tip": f"{block.name}{list(place)}{block.equals(place)}",
    }


def links(trace, triples):
    """Light up together what belongs together: (block, index) of the source, of the index, of the target."""
    by_id = trace.by_id()
    for a, place_a, b, place_b, c, place_c in triples:
        ids = [a.id(place_a), b.id(place_b) if b else None, c.id(place_c)]
        ids = list(dict.fromkeys(each for each in ids if each))
        for each in ids:
            others = by_id[each]["links"]
            others += [other for other in ids if other != each and other not in others]
