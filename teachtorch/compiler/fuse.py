"""Grouping: which values one kernel computes together.

A group walks one shape, the whole of it or row by row. In it a value is
    full      one element for each element of the shape
    row       one for each row: a reduction of the last dimensions, and what is computed from such
    terminal  a sum over everything or over the rows, complete only when the kernel ends
A value joins a group of one of its operands, or one that reads the same tensor, if no path leads from the
group out and
back in to the value: a group runs at one moment.
"""
from ..kernels.strided import broadcast_strides, collapse
from .ir import Call, Pointwise, Reduce, Value

FULL, ROW, TOTAL, COLUMNS = "full", "row", "total", "columns"
# how a row value is read whose reduced dimensions stay as ones
ROW_OF_ONES = "row of ones"
# of one group, so that a kernel compiles in a second or two
MOST_VALUES, MOST_TENSORS, MOST_FUNCTIONS = 120, 30, 16


class Group:
    """Values that one kernel computes. `shape`: what it walks; `inner`: how many last dimensions are a row,
    None while nothing asks for rows; `levels`: {value: FULL, ROW, TOTAL or COLUMNS}."""

    def __init__(self, shape):
        self.shape = tuple(shape)
        self.inner = None
        self.levels = {}
        self.name = None

    @property
    def values(self):
        return list(self.levels)

    # ---- may a value join ----------------------------------------------------------------------------------

    def level_for(self, value):
        """The level that the value would have here, None if it does not fit."""
        if self.is_full(value):
            return None
        return self.level_of_reduce(value) if isinstance(value, Reduce) else self.level_of_pointwise(value)

    def is_full(self, value):
        """Whether the group holds as much as one kernel should."""
        if len(self.levels) >= MOST_VALUES or len(self.reads()) >= MOST_TENSORS:
            return True
        functions = [v for v in (*self.levels, value) if isinstance(v, Pointwise) and not v.is_cheap]
        return len(functions) > MOST_FUNCTIONS

    def level_of_pointwise(self, value):
        own = [(o, self.member(o)) for o in value.operands if isinstance(o, Value)]
        levels = {self.levels[m] for _, m in own if m is not None}
        if levels & {TOTAL, COLUMNS}:
            return None
        if value.shape == self.shape:
            fits = all(m is None or self.levels[m] == FULL or o.shape == self.row_shape(True) for o, m in own)
            return FULL if fits and self.can_walk(value) else None
        if self.inner is None or FULL in levels or not levels:
            return None
        if value.shape not in (self.row_shape(True), self.row_shape(False)):
            return None
        return ROW if all(m is None or o.shape == value.shape for o, m in own) else None

    def level_of_reduce(self, value):
        x, ndim = value.operands[0], len(self.shape)
        if x.shape != self.shape or x in self.levels and self.levels[x] != FULL:
            return None
        if len(value.dims) == ndim:
            return TOTAL
        is_row = value.dims[-1] == ndim - 1
        inner = len(value.dims) if is_row else ndim - len(value.dims)
        if self.inner not in (None, inner) or not self.can_walk(value, inner):
            return None
        return ROW if is_row else COLUMNS

    def row_shape(self, keepdim):
        outer = self.shape[:len(self.shape) - (self.inner or 0)]
        return outer + (1,) * (self.inner or 0) if keepdim else outer

    def member(self, operand):
        """The value of this group that an operand is: itself, or what it is a reshaped row of."""
        operand = self.seen_through(operand)
        return operand if operand in self.levels else None

    def seen_through(self, operand):
        """A row value whose dimensions of size 1 came or went is the same number."""
        source = operand
        while isinstance(source, Call) and source.is_view and source.numel == source.args[0].numel:
            source = source.args[0]
            if source in self.levels and self.levels[source] == ROW and self.inner is not None \
                    and operand.shape in (self.row_shape(True), self.row_shape(False)):
                return source
        return operand

    def can_walk(self, value, inner=None):
        """Whether all tensors can be walked with a row as one loop."""
        inner = self.inner if inner is None else inner
        if inner is None:
            return True
        tensors = [(v, self.strides_of(v)) for v in self.full_tensors()]
        tensors += [(o, broadcast_strides(self.shape, o.shape, o.strides)) for o in value.operands
                    if isinstance(o, Value) and self.member(o) is None]
        strides = [s[len(self.shape) - inner:] for _,
                   s in tensors] + [value.strides[-inner:]] * (value.shape == self.shape)
        return not strides or len(collapse(self.shape[len(self.shape) - inner:], strides)[0]) == 1

    def full_tensors(self):
        """The tensors that a kernel would read or write at each element."""
        return [o for o, level in self.reads() if level == FULL] + [v for v, lv in self.levels.items()
                                                                    if lv == FULL]

    # ---- tensors -------------------------------------------------------------------------------------------

    def reads(self):
        """[(value from outside, level at which it is read)], each once."""
        found = {}
        for value in self.levels:
            for o in value.operands:
                if isinstance(o, Value) and self.member(o) is None:
                    found.setdefault((o, self.read_level(value)), None)
        return list(found)

    def read_level(self, value):
        """How a value of this group goes over tensors: at each element, or once a row, in which form of its shape."""
        return FULL if isinstance(value, Reduce) else self.write_level(value)

    def write_level(self, value):
        """How a value of this group is stored: at each element, or once a row, in which form of its shape."""
        if self.levels[value] != ROW:
            return FULL
        return ROW_OF_ONES if value.shape == self.row_shape(True) else ROW

    def strides_of(self, value, level=FULL):
        """Strides over the whole shape of a tensor that is read or written at this level."""
        if level == FULL:
            return broadcast_strides(self.shape, value.shape, value.strides)
        shape = self.row_shape(level == ROW_OF_ONES)
        outer = len(self.shape) - self.inner
        return broadcast_strides(shape, value.shape, value.strides)[:outer] + (0,) * self.inner

    def add(self, value, level):
        self.levels[value] = level
        if level in (ROW, COLUMNS) and isinstance(value, Reduce):
            ndim = len(self.shape)
            self.inner = len(value.dims) if level == ROW else ndim - len(value.dims)

    def writes(self, wanted):
        """The values that are wanted outside."""
        return [v for v in self.levels if v in wanted]


# ---- the order of things -----------------------------------------------------------------------------------

def needed(outputs, ordered=()):
    """The values that outputs depend on, operands before users."""
    return with_what_comes_before([*ordered, *outputs], dependencies)


def with_what_comes_before(wanted, before):
    """What is wanted and all that has to come `before` it, in an order in which it can; without recursion."""
    done, found, stack = set(), [], [(one, False) for one in reversed(wanted)]
    while stack:
        one, is_ready = stack.pop()
        if one in done:
            continue
        if is_ready:
            done.add(one)
            found.append(one)
            continue
        stack.append((one, True))
        stack += [(other, False) for other in reversed(before(one)) if other not in done]
    return found


def dependencies(value):
    return [o for o in value.operands if isinstance(o, Value)] + list(getattr(value, "after", ()))


class Grouping:
    """Puts values into groups. `units`: {value: its Group, or itself}."""

    def __init__(self, values):
        self.units = {}
        self.groups = []
        self.readers = {}                   # value -> groups that read it
        for value in values:
            self.place(value)
        self.merge_all(values)

    # ---- whole groups --------------------------------------------------------------------------------------

    def merge_all(self, values):
        """Put a group into the one that it reads from, where both walk the same shape; again until nothing changes."""
        pairs = self.neighbours()
        while pairs:
            before, after = pairs.pop()
            if self.merged(before, after, values):
                pairs = self.neighbours()

    def neighbours(self):
        """[(group, a group that reads from it)] of the same shape."""
        found = {(self.units[o], g): None for g in self.groups for o, _ in g.reads()
                 for o in views_back(o) if isinstance(self.units[o], Group)}
        return [(a, b) for a, b in found if a is not b and a.shape == b.shape]

    def merged(self, before, after, values):
        """Try to make one group of two; returns whether that was possible."""
        between = [u for u in self.units_before(after) if u is not before and u is not after]
        if any(self.depends(u, before) for u in between if u not in self.seen_views(before)):
            return False
        group = Group(before.shape)
        own = {**before.levels, **after.levels}
        for value in values:
            if value in own:
                level = group.level_for(value)
                if level is None:
                    return False
                group.add(value, level)
        if any(source in own for o, _ in group.reads() for source in views_back(o)):
            return False
        self.groups = [g for g in self.groups if g is not before and g is not after] + [group]
        self.units.update(dict.fromkeys(group.levels, group))
        return True

    def seen_views(self, group):
        """Views of the group's rows, which a merged group would see through."""
        return {u for u in self.units.values() if isinstance(u, Call) and u.is_view
                and u.args[0] in group.levels}

    # ---- single values -------------------------------------------------------------------------------------

    def place(self, value):
        if not isinstance(value, (Pointwise, Reduce)):
            self.units[value] = value
            return
        for group in self.candidates(value):
            level = group.level_for(value)
            if level is not None and not self.makes_a_cycle(group, value):
                return self.join(group, value, level)
        group = Group(value.operands[0].shape if isinstance(value, Reduce) else value.shape)
        self.groups.append(group)
        self.join(group, value, group.level_for(value))

    def join(self, group, value, level):
        assert level is not None, value
        group.add(value, level)
        self.units[value] = group
        for o in value.operands:
            if isinstance(o, Value) and self.units[o] is not group:
                self.readers.setdefault(o, {})[group] = None

    def candidates(self, value):
        """Groups of the operands, the latest first, then groups that read an operand."""
        found = {}
        for o in value.operands:
            for source in views_back(o):
                if isinstance(self.units.get(source), Group):
                    found[self.units[source]] = None
        near = sorted(found, key=self.groups.index, reverse=True)
        for o in value.operands:
            near += [g for g in self.readers.get(o, ()) if g not in found] if isinstance(o, Value) else []
        return near

    def makes_a_cycle(self, group, value):
        """Whether an operand from outside depends on the group."""
        outside = [self.units[o] for o in dependencies(value) if self.units[o] is not group
                   and group.member(o) is None]
        return any(self.depends(unit, group) for unit in outside)

    def depends(self, unit, group):
        seen, stack = set(), [unit]
        while stack:
            unit = stack.pop()
            if unit is group:
                return True
            if id(unit) not in seen:
                seen.add(id(unit))
                stack += self.units_before(unit)
        return False

    def units_before(self, unit):
        return [self.units[d] for d in self.takes(unit)]

    def takes(self, unit):
        """The values that a unit needs from outside."""
        if isinstance(unit, Group):
            return [o for o, _ in unit.reads()]
        return dependencies(unit)

    def in_order(self, outputs, ordered=()):
        """(the units that outputs need, in an order in which they can run; the values that pass between units)."""
        found = with_what_comes_before([self.units[v] for v in [*ordered, *outputs]], self.units_before)
        return found, set(outputs).union(*map(self.takes, found))


def views_back(value):
    """A value, and what it is a view of."""
    found = [value] if isinstance(value, Value) else []
    while found and isinstance(found[-1], Call) and found[-1].is_view:
        found.append(found[-1].args[0])
    return found
